import { POINTS } from './points.js';
import type { SeedResult } from './simulate.js';

/** What a tally holds, as one process tells it another. */
export interface Counts {
  readonly broken: readonly number[];
  readonly passed: ReadonlyArray<readonly [string, number]>;
  readonly killedAt: ReadonlyArray<readonly [string, number]>;
  readonly faults: ReadonlyArray<readonly [string, number]>;
  readonly effects: number;
  readonly steps: number;
}

const MOST_NAMED = 20;

/** What many runs hit, counted. */
export class Tally {
  readonly broken: number[] = [];
  private readonly passed = new Map<string, number>();
  private readonly killedAt = new Map<string, number>();
  private readonly faults = new Map<string, number>();
  private effects = 0;
  private steps = 0;

  add({ seed, violations, passed, killedAt, faults, effects, steps }: SeedResult): void {
    if (violations.length > 0) this.broken.push(seed);
    merge(this.passed, passed);
    merge(this.killedAt, killedAt);
    merge(this.faults, faults);
    this.effects += effects;
    this.steps += steps;
  }

  counts(): Counts {
    const { broken, passed, killedAt, faults, effects, steps } = this;
    return { broken, passed: [...passed], killedAt: [...killedAt], faults: [...faults], effects, steps };
  }

  /** What another process counted. */
  addCounts({ broken, passed, killedAt, faults, effects, steps }: Counts): void {
    this.broken.push(...broken);
    this.broken.sort((a, b) => a - b);
    merge(this.passed, passed);
    merge(this.killedAt, killedAt);
    merge(this.faults, faults);
    this.effects += effects;
    this.steps += steps;
  }

  /** Points that were passed, or ought to have been, and at which no process was killed. */
  missing(): string[] {
    return [...new Set([...POINTS, ...this.passed.keys()])].filter((point) => !this.killedAt.has(point)).sort();
  }

  /** Points that were passed and are not on the list. */
  unlisted(): string[] {
    return [...this.passed.keys()].filter((point) => !POINTS.includes(point)).sort();
  }

  faultsHit(): readonly string[] {
    return [...this.faults.keys()].sort();
  }

  report(isWhole: boolean): string[] {
    const kills = [...this.killedAt.values()].reduce((sum, n) => sum + n, 0);
    const points = new Set([...POINTS, ...this.passed.keys()]).size;
    const missing = this.missing();
    // Few seeds pass few of them, and nobody reads a hundred names.
    const never =
      missing.slice(0, MOST_NAMED).join(', ') +
      (missing.length > MOST_NAMED ? `, and ${missing.length - MOST_NAMED} more` : '');
    return [
      `${this.effects} effects, ${this.steps} steps, ${kills} kills at ${points - missing.length} of ${points} points${missing.length > 0 ? `; never at ${never}` : ''}`,
      `faults hit: ${this.faultsHit()
        .map((fault) => `${fault} ${this.faults.get(fault) ?? 0}`)
        .join(', ')}`,
      `${this.broken.length} seeds broke an invariant${this.broken.length > 0 ? `: ${this.broken.slice(0, 20).join(' ')}` : ''}`,
      ...(isWhole && missing.length > 0 ? ['a point at which no process was killed: the run is wrong'] : []),
    ];
  }
}

function merge(into: Map<string, number>, from: Iterable<readonly [string, number]>): void {
  for (const [key, n] of from) into.set(key, (into.get(key) ?? 0) + n);
}
