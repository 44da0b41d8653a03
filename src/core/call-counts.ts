import { isJsonObject, type Json } from './json.js';
import { emptyTable } from './table.js';

/** API calls by operation. */
export type CallCounts = Readonly<Record<string, number>>;

export function sumOf(counts: CallCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** Calls made for intents, by operation, counted from the results of the intents. */
export function callsMade(results: readonly Json[]): CallCounts {
  const made: Record<string, number> = emptyTable();
  for (const result of results) {
    const calls = isJsonObject(result) ? result['calls'] : undefined;
    if (calls === undefined || !isJsonObject(calls)) continue;
    for (const [name, count] of Object.entries(calls)) made[name] = (made[name] ?? 0) + Number(count);
  }
  return made;
}

/** `create a label: 12, create a milestone: 2`, the commonest first. */
export function countsInWords(counts: CallCounts, wordsOf: (operation: string) => string): string {
  return Object.entries(counts)
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .map(([name, count]) => `${wordsOf(name)}: ${count}`)
    .join(', ');
}
