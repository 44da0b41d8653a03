import type { EventRepository, ForgeEvent } from '../core/event.js';
import type { Reason } from '../core/reason.js';
import type { Window } from '../rules/language/propose/coalesce-key.js';
import type { Evaluation, LookupAnswers, Revision } from '../rules/language/revision.js';

/** The bot's own account on a forge; id null where the forge does not tell it. */
export interface BotSelf {
  readonly id: string | null;
  readonly login: string;
  /** Accounts of other organizations of the config on this forge: what they do is the bot's own doing as well. */
  readonly others?: readonly BotAccount[];
}

export interface BotAccount {
  readonly id: string | null;
  readonly login: string;
}

/** A rule or policy that is to be evaluated about one cause. */
export interface Candidate {
  readonly id: string;
  readonly kind: 'rule' | 'policy';
  readonly mode: 'live' | 'dry-run' | 'shadow';
  /** Percent of repositories in which it writes at first; absent or null = no canary. */
  readonly canary?: number | null;
  /** Of its text, where it is tried before it writes everywhere. */
  readonly ruleHash?: string;
  /** Runs that want something, in any hour; null or absent = no limit. */
  readonly runsPerHour?: number | null;
  /** Its runs gather (`coalesce`). */
  readonly gathers?: boolean;
}

/** All that a decision may see beside the answers of lookups; recorded, so that it can be made again. */
export interface DecisionFacts {
  readonly org: string;
  readonly event: ForgeEvent | null;
  /** The repository it is about; null = the organization. */
  readonly repo: EventRepository | null;
  readonly bot: BotSelf | null;
  readonly now: Date;
  /** What the event does not know may become known: see `EvaluationInput.awaits`. */
  readonly awaits?: true | undefined;
  /** Leave the trace out: only what comes of the decision is wanted. */
  readonly untraced?: true;
}

/** The deciding side as the flow needs it; `rules/` has the pure functions behind it. */
export abstract class RuleEngine {
  /**
   * Rules whose `on` and `where` let the event through (events of the bot itself only where they ask for them), and, for a repository
   * that appeared, the policies about it.
   */
  abstract candidates(revision: Revision, event: ForgeEvent, bot: BotSelf | null): Candidate[];
  /** The rule or policy of this id, when it exists in this revision. */
  abstract find(revision: Revision, id: string): Candidate | null;
  /** What a scheduled rule or policy is about, out of the known repositories; null in the list = the organization itself. */
  abstract subjects(
    revision: Revision,
    candidate: Candidate,
    repositories: readonly EventRepository[],
  ): Array<EventRepository | null>;
  abstract evaluate(
    revision: Revision,
    candidate: Candidate,
    facts: DecisionFacts,
    answers: LookupAnswers,
  ): Evaluation | Promise<Evaluation>;
  /** Rules and policies that the effects of one may start, directly or through others. */
  abstract ledToBy(revision: Revision, id: string): ReadonlySet<string>;
  /** Whether the time that its evaluation takes is bounded by its size. */
  abstract isCheap(revision: Revision, candidate: Candidate): boolean;
  /** Of a candidate that gathers: the key and length of its window, or why the key cannot be told. */
  abstract windowOf(revision: Revision, candidate: Candidate, facts: DecisionFacts): Window | null;
}

/** What is known of an event before rules see it. */
export interface EchoVerdict {
  /** Effects of ours that led to it, one after another; 0 = none. */
  readonly depth: number;
  /** Why no rule may answer it; null = they may. */
  readonly holdReason: Reason | null;
  /** The rule or policy whose effect the event tells of; absent = none, or not known. */
  readonly rule?: string;
  /** Of a held event: the rules and policies whose effects led to it, the first first. Absent = not known. */
  readonly chain?: readonly string[];
}

/** Looks at each event before rules do: echoes of our own effects, what a person undid, what an unknown outcome waits for. */
export interface EchoDetector {
  /** Safe to call any number of times. */
  look(event: ForgeEvent): Promise<EchoVerdict>;
  /** An event that is held would have gone on round a loop: stop these, and those of the loop behind it, until a person lets them go on. */
  openBreaker(event: ForgeEvent, rules: readonly string[], chain?: readonly string[]): Promise<void>;
  /** Keys of effects that the event may show or undo: where none of them was ever sent, a look finds nothing. Null = it must be looked at. */
  effectsToldBy(event: ForgeEvent): readonly string[] | null;
}

/** Who the bot is on a forge, read at start. */
export abstract class Accounts {
  /** The account that works for this organization; null = the forge's own. */
  abstract self(forge: string, org: string | null): BotSelf | null;
}
