import type { ForgeError } from '../core/errors.js';
import type { RecordedRun } from './journal-store.port.js';
import type { Candidate } from './rule-engine.port.js';
import type { ActiveRevision } from '../rules/revisions/active-revisions.port.js';

/** One policy, decided for its subjects and not written down yet. */
export interface PolicyPass {
  readonly forge: string;
  readonly org: string;
  readonly active: ActiveRevision;
  readonly candidate: Candidate;
  readonly runs: readonly RecordedRun[];
  /** All of its subjects; null = this is about the one that appeared. */
  readonly subjects: number | null;
  /** Time of the decisions. */
  readonly now: Date;
}

export interface ReviewedPass {
  /** As they may be written: what is held back is in them without its intents, and says so. */
  readonly runs: readonly RecordedRun[];
  /** The forge could not tell about some subjects, which are not in `runs`: they are decided again later. Null = about all. */
  readonly failure: ForgeError | null;
}

/** Stands between what policies want and the journal: caps, approvals, freeze windows. */
export abstract class PolicyGate {
  abstract review(pass: PolicyPass): Promise<ReviewedPass>;
}

/** Keeps what the expectations of a policy found in one subject. */
export abstract class FindingSink {
  abstract keep(decided: Pick<RecordedRun, 'run' | 'findings'>): Promise<void>;
}
