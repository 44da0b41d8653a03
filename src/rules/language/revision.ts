import type { Schedule } from '../../core/occurrences.js';
import type { DataType } from '../../core/data-types.js';
import type { EventKind } from '../../core/event-kinds.js';
import type { Reason } from '../../core/reason.js';
import type { NeededRight } from '../../core/rights.js';
import type { Problem } from '../../core/problem.js';
import type { Json, JsonObject } from '../../core/json.js';
import type { PolicyProgram, RuleProgram } from './compile/program.js';
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
  /** Why a shared file that is named cannot be had; its text is empty then. */
  refused?: string;
}

/** A parameter before anything runs: its value where that is the same each time, else the text that is certain to stand first. */
export type GivenParam = { readonly value: Json } | { readonly prefix: string };

/** Why parameters can never work together. */
export interface Unfit {
  readonly reason: Reason;
  readonly hint?: string;
  /** The one at fault; absent = all of them. */
  readonly param?: string;
  /** Its value is at fault, not that it is there. */
  readonly isValue?: true;
  readonly isWarning?: true;
}

/** What the compiler must know about an action; given by the action catalogue, so that `rules` imports no action. */
/** What a text parameter names: a number of the forge, or a branch or tag by its short name. */
export type ParamNames = 'number' | 'branch' | 'tag';

export interface ActionFacts {
  name: string;
  summary: string;
  /** Parameters by name. `secret` accepts only `secrets.X`; `sealed` values are kept encrypted. */
  params: Record<
    string,
    {
      type: 'string' | 'integer' | 'boolean' | 'time' | 'strings' | 'any';
      required: boolean;
      secret?: boolean;
      sealed?: boolean;
      /** The forge shows it as Markdown: what events and lookups tell is escaped in it. */
      markdown?: boolean;
      /** The forge shows it as one line: what events and lookups tell is made one, and bounded. */
      line?: boolean;
      summary: string;
      default?: Json;
      /** A value, where a number or a word alone would not say what is wanted. */
      example?: string;
      /** It names one of these: what is no number, or a full ref, is never meant. */
      names?: ParamNames;
    }
  >;
  /** Parameter that names the object. */
  naturalKey: string;
  /** Parameters that together are the item key of `for_each` when no `key` is given. Default: the natural key. */
  itemBy?: readonly string[];
  /** The natural key as the forge tells two objects apart. Default: the text as it is, without spaces around it. */
  keyOf?: (params: JsonObject) => string;
  /** Operations it may call. */
  operations: readonly string[];
  /** Needs this power of the operator config. */
  power?: string;
  /** What it acts on. */
  target: 'repository' | 'organization' | 'account';
  /** Check of constant values at load (colour, host allow list at run time is the action's own); message or null. */
  checkConstant?: (param: string, value: Json) => string | null;
  /** Check of the parameters together, as far as they are known at load. */
  unfit?: (
    given: Readonly<Record<string, GivenParam>>,
    operator: { readonly mirrorHosts?: readonly string[] },
  ) => Unfit | null;
  /** Operations without which it cannot work at all; absent = it has a way around each of them. */
  requires?: readonly string[];
  /** Kinds of event that its effect makes the forge tell. */
  raises?: readonly EventKind[];
  /** Of these, the ones of which the bot knows which rule's effect raised them. */
  echoes?: readonly EventKind[];
  /** What whoever asks for it by a command must be allowed to do; absent = nobody may ask for it so. */
  right?: NeededRight;
  /** Where an event wants it, the forge must confirm that the event happened. */
  asksAct?: true;
}

export interface LookupFacts {
  name: string;
  summary: string;
  params: Record<
    string,
    {
      type: 'string' | 'integer' | 'boolean' | 'strings' | 'any';
      required: boolean;
      summary: string;
      /** Why a constant can never be meant, or null. */
      check?: (value: string) => string | null;
      /** It names one of these: what is no number, or a full ref, is never meant. */
      names?: ParamNames;
    }
  >;
  /** Operations it calls; each must be offered. */
  operations: readonly string[];
  /** With one of these it does without the others. */
  instead?: readonly string[];
  /** What it answers; absent = not known before it runs. */
  answer?: DataType;
  /** What it reads about; absent = the repository of the event or tick. */
  target?: 'repository' | 'organization' | 'account';
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
  /** The files were active before: what only newer versions refuse is a warning. */
  wasActive?: boolean;
}

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

export interface Position {
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  /** 1-based. */
  readonly col: number;
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
  held?: 'all' | 'part';
  /** Of a policy with expectations. */
  found?: Found;
}

export const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** An expectation of a policy that does not hold. */
export interface Finding {
  readonly name: string;
  readonly severity: Severity;
  readonly message: string;
}

export interface Found {
  /** What does not hold. */
  readonly failing: readonly Finding[];
  /** Names of all that could be looked at. */
  readonly looked: readonly string[];
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
