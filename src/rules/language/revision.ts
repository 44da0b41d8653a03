import type { Schedule } from '../../core/occurrences.js';
import type { EventKind } from '../../core/event-kinds.js';
import type { PolicyFindings } from '../../core/finding.js';
import type { Reason } from '../../core/reason.js';
import type { Position, Problem } from '../../core/problem.js';
import type { Json, JsonObject } from '../../core/json.js';
import type { ActionFacts, LookupFacts } from './catalogue.js';
import type { PolicyProgram, RuleProgram } from './compile/program.js';
import type { InUse } from '../../core/in-use.js';
import type { ExpressionEngine } from './expression-engine.js';

/** One file of an organization's rules, as text; reading and watching files is config/rule-sources. */
export interface RuleFile {
  /** Path as printed in messages. */
  path: string;
  /** Path below the rule folder: the file's name in hashes, the same wherever the process runs; `path` when absent. */
  name?: string;
  text: string;
  /** Set on a shared file: the name under which others extend it. It is not loaded by itself. */
  shared?: string;
  /** Set on a shared file that everybody may read anyway, as a built-in set: whoever proposes rules may be told what is in it. */
  isPublic?: boolean;
  /** Why a shared file that is named cannot be had; its text is empty then. */
  refused?: string;
}

export interface LoadEnvironment {
  org: string;
  actions: ReadonlyMap<string, ActionFacts>;
  lookups: ReadonlyMap<string, LookupFacts>;
  /** Powers the operator granted this organization. */
  powers: ReadonlySet<string>;
  /** Names of secrets the operator defined for this organization. */
  secrets: ReadonlySet<string>;
  engine: ExpressionEngine;
  /** Operations this forge offers; absent = not known yet, nothing is refused for it. */
  offered?: ReadonlySet<string>;
  /** Hold every expression against what events, lookups and parameters are; a stored revision that was active once is not asked again. */
  checkTypes?: boolean;
  /** People who may approve, for `approval: two-people`; absent = not known, or not asked again. */
  approvers?: number;
  /** Hosts that repositories may be mirrored to; absent = not known, nothing is refused for it. */
  mirrorHosts?: readonly string[];
  /** Hosts that may be notified; absent = not known, nothing is refused for it. */
  notifyHosts?: readonly string[];
  /** What is compiled already, for all loads with the same actions, lookups and engine; absent = each load compiles everything. */
  compiled?: CompiledOnce;
  /** The files were active before: what only newer versions refuse is a warning. */
  wasActive?: boolean;
}

/** Rules and policies that revisions in use consist of; see `load/compiled-once.ts`. */
export type CompiledOnce = InUse<CompiledRule | CompiledPolicy>;

/** Warnings hold nothing back. */
export type LoadResult =
  | { ok: true; revision: Revision; warnings?: readonly Problem[] }
  | {
      ok: false;
      problems: Problem[];
      warnings?: readonly Problem[];
      /** It was ended by its deadline: on a less busy machine the same files may be good. */
      wasLate?: true;
    };

/** One loaded state of an organization's files, compiled; immutable. */
export interface Revision {
  readonly org: string;
  /** SHA-256 over paths and texts. */
  readonly hash: string;
  readonly rules: readonly CompiledRule[];
  readonly policies: readonly CompiledPolicy[];
}

export interface ScheduleSpec extends Schedule {
  /** Default `one`. */
  catchUp?: CatchUp;
}

/** What becomes of occurrences that nobody was there to fire: none, the newest one, or so many of the newest. */
export type CatchUp = 'skip' | 'one' | number;

/** `shadow` never writes, whatever else is set. */
export type RuleMode = 'live' | 'dry-run' | 'shadow';

export interface Limits {
  /** More effects than this in one run and nothing is proposed at all. */
  readonly effectsPerRun: number;
  readonly runsPerHour: number | null;
  /** Of a policy: more effects than this in one pass over all subjects, or in one plan, and none of them is done. */
  readonly effectsPerPlan?: number | null;
  /** Of a policy: a pass or plan that touches a larger share of the subjects is given up whole. */
  readonly percentOfSubjects?: number | null;
}

export interface CompiledRule {
  readonly id: string;
  /** Why nothing starts it; null = it is not switched off. */
  readonly disabled: string | null;
  readonly mode: RuleMode;
  /** Percent of the repositories in which it writes until it is promoted; null = all of them. */
  readonly canary: number | null;
  /** Of what the rule says: what was found out about one text says nothing about another. */
  readonly textHash: string;
  readonly on: readonly EventKind[];
  readonly schedule: ScheduleSpec | null;
  /** What one run of a tick is about: each repository that `where` matches, or the organization once (no `where.repo`). */
  readonly tickScope: 'repository' | 'organization';
  readonly limits: Limits | null;
  readonly position: Position;
  /** Operations its lookups and actions may call. */
  readonly operations: readonly string[];
  /** Opaque outside `rules/`: compiled filters, conditions, templates. */
  readonly program: RuleProgram;
}

export interface CompiledPolicy {
  readonly id: string;
  readonly mode: RuleMode;
  /** Never null: a policy without a schedule of its own has the daily one. */
  readonly schedule: ScheduleSpec;
  readonly limits: Limits | null;
  /** Whether a person must approve its plan before anything of it is written; `two-people`: one who neither asked for the plan nor wrote the policy. */
  readonly approval: boolean | 'two-people';
  /** Of what the policy says: an edit elsewhere leaves it as it is. */
  readonly textHash: string;
  readonly position: Position;
  readonly operations: readonly string[];
  /** Opaque outside `rules/` and `policies/`. */
  readonly program: PolicyProgram;
}

/** A read that a decision needs; the caller makes it (or finds it in history) and evaluates again with the answer. */
export interface LookupRequest {
  /** Name under `lookups.` */
  as: string;
  use: string;
  params: JsonObject;
  onMissing: 'none' | 'fail';
  /** A lookup with `for_each`: the parameters of each read, in order (`params` is empty then). Its answer is one list, `combineAnswers`. */
  each?: readonly JsonObject[];
  /** `cache`: an answer to the same request that is at most so old may be given again. */
  maxAgeS?: number;
  /** So many elements of a list are read, and no more. */
  first?: number;
}

/** Answer per lookup name; `missing` = the forge says it does not exist. */
export type LookupAnswers = Readonly<Record<string, { value: Json } | { missing: true } | { failed: string }>>;

export interface ProposedItem {
  itemKey: string;
  params: JsonObject;
}

export interface ProposedStep {
  stepId: string;
  /** Steps of one number do not wait for each other (the parts of a policy). */
  stepNo: number;
  action: string;
  items: ProposedItem[];
  /** A person must agree before anything of it is done. */
  approval?: true | 'two-people';
  /** Of a policy: what a person undid stays so. */
  respectsUndo?: true;
}

export interface Report {
  /** Rule or policy id. */
  rule: string;
  /** fired = all conditions held; not-fired = one was false; error = one could not be evaluated or a lookup failed. */
  verdict: 'fired' | 'not-fired' | 'error';
  /** The trace has it in detail. */
  reason: Reason;
  trace: Json;
  /** Of an error: fields of the event that it needs and that are not known, `event.files.added`. Absent = it is another error. */
  unknown?: readonly string[];
  /** Of a policy that held something of what it wants: all of it, or a part. */
  heldBack?: 'all' | 'part';
  /** Of a policy with expectations. */
  findings?: PolicyFindings;
}

/**
 * What of a delivery's claims a decision rests on. `actor`: who did it; `act`: that it happened, whoever did it. `reads`: everything
 * that the rule reads of the event, as paths below `event` (empty = all of it).
 */
export type Rests = { readonly on: 'actor' | 'act'; readonly reads: readonly string[] };

export type Evaluation =
  /** `rests`: what is to be confirmed before anything is asked with what the delivery says. */
  | { kind: 'needs-lookup'; request: LookupRequest; rests?: Rests }
  | { kind: 'decided'; report: Report; steps: ProposedStep[]; rests?: Rests };
