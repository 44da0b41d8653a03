/** What came of a rule and an event: `held` = its limit of runs per hour; `unknown` = history does not hold what it asks for. */
export type WouldVerdict = 'fired' | 'not-fired' | 'error' | 'held' | 'unknown' | 'rejected';

export interface BacktestSample {
  readonly eventId: string;
  readonly kind: string;
  readonly repo: string | null;
  readonly storedAt: Date;
  readonly would: WouldVerdict;
  /** State of its run; null = no run was made. */
  readonly did: string | null;
  readonly why: string;
}

export interface Difference {
  readonly count: number;
  /** The first of them. */
  readonly samples: readonly BacktestSample[];
}

export interface BacktestRule {
  readonly rule: string;
  readonly kind: 'rule' | 'policy';
  /** Null = it is not in these rules, and fired in the period. */
  readonly mode: string | null;
  readonly would: Readonly<Record<Exclude<WouldVerdict, 'rejected'>, number>>;
  readonly did: { readonly fired: number; readonly notFired: number; readonly error: number };
  /** Effects it would want, and those that were wanted. */
  readonly effects: { readonly would: number; readonly did: number };
  /** API calls by operation, at most: one of each that its lookups and effects may make. */
  readonly calls: Readonly<Record<string, number>>;
  /** How often an answer was missing, by the name of the lookup. */
  readonly unknownLookups: Readonly<Record<string, number>>;
  readonly differences: {
    /** Would fire, and did not. */
    readonly firesNow: Difference;
    /** Fired, and would not. */
    readonly firesNoMore: Difference;
    /** Both fired, and want different things. */
    readonly otherEffects: Difference;
    /** Would end as an error, and did not. */
    readonly failsNow: Difference;
    readonly unknown: Difference;
  };
  /** Decisions that were recorded and could be made again, and how many of them ended the same. */
  readonly agreement: { readonly compared: number; readonly agreed: number };
}

export interface BacktestReport {
  readonly org: string;
  /** Hash of the rules that were tried. */
  readonly revision: string;
  readonly since: Date;
  readonly until: Date;
  readonly events: number;
  /** Times a rule was evaluated. */
  readonly decisions: number;
  readonly rules: readonly BacktestRule[];
  readonly calls: Readonly<Record<string, number>>;
  /** SHA-256 over each decision with what it wants: equal rules and equal history give an equal hash. */
  readonly hash: string;
  readonly notes: readonly string[];
}
