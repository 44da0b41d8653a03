/**
 * Our mark in a description. Only a call that is made again after an unknown outcome carries it: when both calls come through in the end,
 * it tells which of the two objects is the extra one, so that nearly every description stays as the rule wrote it.
 */
const MARK = /(?:^| )\[fh:[0-9a-f]{8}\]$/;

/** Eight digits of the intent key: enough to tell two intents of one name apart, and short enough to be borne. */
export function markOf(intentKey: string): string {
  return `[fh:${intentKey
    .replace(/[^0-9a-f]/g, '')
    .slice(0, 8)
    .padEnd(8, '0')}]`;
}

/** @param mark null = as it is */
export function withMark(description: string | undefined, mark: string | null): string | undefined {
  if (mark === null) return description;
  return description === undefined || description === '' ? mark : `${description} ${mark}`;
}

/** A description as the rule wrote it. */
export function withoutMark(description: string | null | undefined): string {
  return (description ?? '').replace(MARK, '');
}
