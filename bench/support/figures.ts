/** A figure with its aim. */
export interface Goal {
  readonly name: string;
  /** What it must reach (`atLeast`) or may not exceed (`atMost`). */
  readonly wanted: { readonly atLeast: number } | { readonly atMost: number };
  /** Null when one side did not run. */
  readonly measured: number | null;
}

/** `goal NAME: wanted X, measured Y, met|missed`; an aim that bounds from above says so in its name. Y has a digit more than X, to tell them apart. */
export function goalLine({ name, wanted, measured }: Goal): string {
  const isUpper = 'atMost' in wanted;
  const aim = isUpper ? wanted.atMost : wanted.atLeast;
  const digits = Math.min(2, String(aim).split('.')[1]?.length ?? 0);
  const wants = aim.toFixed(Math.max(1, digits));
  if (measured === null || Number.isNaN(measured)) return `goal ${name}: wanted ${wants}, not measured`;
  const isMet = isUpper ? measured <= aim : measured >= aim;
  return `goal ${name}: wanted ${wants}, measured ${measured.toFixed(Math.max(2, digits + 1))}, ${isMet ? 'met' : 'missed'}`;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low, high] = [sorted[middle - 1], sorted[middle]];
  if (high === undefined) return NaN;
  return sorted.length % 2 === 1 || low === undefined ? high : (low + high) / 2;
}

/** Three digits that count, whatever the size. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return '-';
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
