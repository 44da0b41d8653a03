export interface Percentiles {
  readonly n: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** The value that so great a share of them does not exceed (nearest rank); NaN of none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(Math.ceil(share * sorted.length) - 1, 0))] ?? NaN;
}

/** Rounded; zeros of none. */
export function percentiles(values: readonly number[]): Percentiles {
  const at = (share: number): number => Math.round(percentile(values, share) || 0);
  return { n: values.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}
