import pc from 'picocolors';
import type { Finding } from './compare.js';

const MAX_SHOWN = 40;

/** A table of what was expected by whom, then every single thing that is missing or too much. */
export function printFindings(findings: readonly Finding[], json: boolean): void {
  const wrong = findings.filter(({ verdict }) => verdict !== 'ok');
  if (json) {
    console.log(JSON.stringify({ equal: wrong.length === 0, expectations: summarize(findings), wrong }));
    return;
  }
  console.log(
    table([
      ['expected', 'by', 'ok', 'missing', 'extra'],
      ...summarize(findings).map(({ what, by, ok, missing, extra }) => [
        what,
        by,
        String(ok),
        mark(missing),
        mark(extra),
      ]),
    ]),
  );
  for (const { what, by, verdict, item } of wrong.slice(0, MAX_SHOWN))
    console.log(`${pc.red(verdict.padEnd(7))} ${what}${by === '-' ? '' : `, wanted by ${by}`}: ${item}`);
  if (wrong.length > MAX_SHOWN) console.log(`… and ${wrong.length - MAX_SHOWN} more`);
  const okCount = findings.length - wrong.length;
  console.log(
    wrong.length === 0
      ? pc.green(`equal: all ${okCount} expectations hold, and nothing else was done`)
      : pc.red(`not equal: ${wrong.length} of ${findings.length} do not hold`),
  );
}

interface Summary {
  what: string;
  by: string;
  ok: number;
  missing: number;
  extra: number;
}

function summarize(findings: readonly Finding[]): Summary[] {
  const rows = new Map<string, Summary>();
  for (const { what, by, verdict } of findings) {
    const isFile = what.startsWith('rule files');
    const key = `${what} ${isFile ? '' : by}`;
    const row = rows.get(key) ?? { what, by: isFile ? 'these acts' : by, ok: 0, missing: 0, extra: 0 };
    row[verdict] += 1;
    rows.set(key, row);
  }
  return [...rows.values()];
}

function mark(count: number): string {
  return count === 0 ? '' : pc.red(String(count));
}

function table([head = [], ...rows]: string[][]): string {
  const bare = (text: string): string => text.replace(/\u001b\[\d+m/g, '');
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => bare(row[column] ?? '').length)));
  const line = (row: string[]): string =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - bare(cell).length))
      .join('  ')
      .trimEnd();
  return [pc.bold(line(head)), ...rows.map(line)].join('\n');
}
