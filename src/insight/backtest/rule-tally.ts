import type { ForgeEvent } from '../../core/event.js';
import { isHeld } from '../../core/run-reasons.js';
import type { RunState } from '../../core/run.js';
import type { BacktestRule, BacktestSample, WouldVerdict } from './backtest-report.js';
import { emptyTable } from '../../core/table.js';

const SAMPLES = 5;

export interface Would {
  readonly verdict: WouldVerdict;
  readonly reason: string;
  readonly effects: number;
  /** What it wants, comparable. */
  readonly text: string;
  readonly calls: readonly string[];
  /** The lookup without an answer. */
  readonly unknown: string | null;
}

export interface Did {
  readonly state: RunState;
  readonly reason: string;
  readonly code: string;
  readonly effects: number;
  readonly text: string;
}

type Kind = keyof BacktestRule['differences'];

/** Counts of one rule or policy. */
export class RuleTally {
  readonly #would = { fired: 0, 'not-fired': 0, error: 0, held: 0, unknown: 0 };
  readonly #did = { fired: 0, notFired: 0, error: 0 };
  readonly #effects = { would: 0, did: 0 };
  readonly #calls: Record<string, number> = emptyTable();
  readonly #unknownLookups: Record<string, number> = emptyTable();
  readonly #differences: Record<Kind, { count: number; samples: BacktestSample[] }> = {
    firesNow: none(),
    firesNoMore: none(),
    otherEffects: none(),
    failsNow: none(),
    unknown: none(),
  };
  readonly #agreement = { compared: 0, agreed: 0 };

  constructor(
    private readonly id: string,
    private readonly kind: 'rule' | 'policy',
    private readonly mode: string | null,
  ) {}

  add(event: ForgeEvent, would: Would, did: Did | null): void {
    if (would.verdict !== 'rejected') this.#would[would.verdict] += 1;
    this.#effects.would += would.effects;
    for (const operation of would.calls) this.#calls[operation] = (this.#calls[operation] ?? 0) + 1;
    if (would.unknown !== null) this.#unknownLookups[would.unknown] = (this.#unknownLookups[would.unknown] ?? 0) + 1;
    const was = did && verdictOf(did);
    if (did && was) {
      this.#did[was === 'not-fired' ? 'notFired' : was] += 1;
      this.#effects.did += did.effects;
      this.#compare(would, did, was);
    }
    const difference = differenceOf(would, did, was);
    if (difference) this.#note(difference, event, would, did);
  }

  report(): BacktestRule {
    return {
      rule: this.id,
      kind: this.kind,
      mode: this.mode,
      would: { ...this.#would },
      did: { ...this.#did },
      effects: { ...this.#effects },
      calls: sortedByName(this.#calls),
      unknownLookups: sortedByName(this.#unknownLookups),
      differences: { ...this.#differences },
      agreement: { ...this.#agreement },
    };
  }

  /** What was held then was not decided, and what is held or unknown now is not decided either. */
  #compare(would: Would, did: Did, was: 'fired' | 'not-fired' | 'error'): void {
    if (would.verdict === 'unknown' || would.verdict === 'held' || isHeld(did)) return;
    this.#agreement.compared += 1;
    const isSame = would.verdict === was && (was !== 'fired' || would.text === did.text);
    if (isSame) this.#agreement.agreed += 1;
  }

  #note(
    kind: Kind,
    { id, kind: eventKind, repo, storedAt }: ForgeEvent,
    { verdict, reason }: Would,
    did: Did | null,
  ): void {
    const difference = this.#differences[kind];
    difference.count += 1;
    if (difference.samples.length >= SAMPLES) return;
    const why = kind === 'firesNow' && did ? `${reason}; then: ${did.reason}` : reason;
    difference.samples.push({
      eventId: id,
      kind: eventKind,
      repo: repo?.full_name ?? null,
      storedAt,
      would: verdict,
      did: did?.state ?? null,
      why,
    });
  }
}

function none(): { count: number; samples: BacktestSample[] } {
  return { count: 0, samples: [] };
}

function verdictOf({ state }: Did): 'fired' | 'not-fired' | 'error' {
  return state === 'not-fired' || state === 'error' ? state : 'fired';
}

function differenceOf(would: Would, did: Did | null, was: 'fired' | 'not-fired' | 'error' | null): Kind | null {
  if (would.verdict === 'unknown') return 'unknown';
  if (would.verdict === 'fired') return was !== 'fired' ? 'firesNow' : would.text === did?.text ? null : 'otherEffects';
  if (would.verdict === 'error' && was !== 'error') return 'failsNow';
  return was === 'fired' ? 'firesNoMore' : null;
}

function sortedByName(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)));
}
