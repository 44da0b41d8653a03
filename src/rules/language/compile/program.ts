import type { Json, JsonObject } from '../../../core/json.js';
import type { DataType } from '../../../core/data-types.js';
import type { Claim, CompiledExpression, TypeCheck } from '../expression-engine.js';
import type { WhereFilter } from '../match/where-filter.js';
import type { Severity } from '../../../core/finding.js';
import type { ActionFacts, LookupFacts } from '../catalogue.js';
import type { Position } from '../../../core/problem.js';

/** An expression and where each of its characters stands in the file. */
export interface Expression {
  readonly compiled: CompiledExpression;
  /** Names under `lookups.` it reads. */
  readonly lookups: ReadonlySet<string>;
  positionOf(offset: number): Position;
  /** Of its first character that is no space. */
  readonly start: Position;
  /** What it gives, where types were checked. */
  readonly type?: DataType | undefined;
  /** What it says of single fields. */
  readonly claims?: readonly Claim[] | undefined;
  /** For which kinds of event it may be true, and for which false. */
  readonly kinds?: TypeCheck['kinds'] | undefined;
}

/** A value as written: constant, `${{ }}` that keeps its type, text around `${{ }}`, a secret, or lists and maps of these. */
export type Template =
  | { readonly kind: 'constant'; readonly value: Json }
  | { readonly kind: 'expression'; readonly expression: Expression }
  | { readonly kind: 'text'; readonly parts: ReadonlyArray<string | Expression> }
  | { readonly kind: 'secret'; readonly name: string }
  | { readonly kind: 'list'; readonly items: readonly Template[] }
  | { readonly kind: 'map'; readonly entries: ReadonlyArray<readonly [string, Template]> };

export type ParamType = ActionFacts['params'][string]['type'] | LookupFacts['params'][string]['type'];

export interface ParamProgram {
  readonly name: string;
  readonly type: ParamType;
  readonly required: boolean;
  readonly template: Template;
  readonly position: Position;
  /** What events and lookups tell is escaped in it. */
  readonly markdown?: boolean;
  /** What events and lookups tell becomes one line in it. */
  readonly line?: boolean;
  /** The same, and it mentions nobody and refers to nothing. */
  readonly title?: boolean;
  /** What events and lookups tell mentions nobody in it, and leads nowhere. */
  readonly chat?: boolean;
}

/** Whether a parameter is there, and may be something else than false. */
export function isGiven(params: readonly Pick<ParamProgram, 'name' | 'template'>[], name: string): boolean {
  const template = params.find((param) => param.name === name)?.template;
  return template !== undefined && !(template.kind === 'constant' && template.value === false);
}

export interface ConditionProgram {
  readonly name: string;
  readonly expression: Expression;
  readonly position: Position;
}

export interface LookupProgram {
  /** Name under `lookups.` */
  readonly as: string;
  readonly use: string;
  readonly params: readonly ParamProgram[];
  readonly onMissing: 'none' | 'fail';
  /** The list whose items are read one by one, bound as `item`. */
  readonly forEach: Expression | null;
  /** Reads of a `for_each`, or elements of an answer that is a list; null = no cap of its own. */
  readonly max: number | null;
  /** So many elements of a list are read, and the rest is left; null = all of them. */
  readonly first: number | null;
  /** How old an answer may be that is given again; null = each run reads anew. */
  readonly cacheS: number | null;
  /** Other lookups its parameters and its list read; never in a circle. */
  readonly lookups: ReadonlySet<string>;
  readonly position: Position;
}

export interface StepProgram {
  readonly id: string;
  readonly no: number;
  readonly action: ActionFacts;
  readonly params: readonly ParamProgram[];
  readonly when: Expression | null;
  readonly unless: Expression | null;
  readonly forEach: Expression | null;
  /** So many of the items that its conditions leave are taken, the rest by later runs; null = all of them. */
  readonly first: number | null;
  readonly key: Template | null;
  /** A person must agree before anything of it is done; `two-people`: one who neither caused it nor wrote the rule. */
  readonly approval: boolean | 'two-people';
  readonly position: Position;
}

/** Runs of one key within a window become one. */
export interface CoalesceProgram {
  readonly key: Template;
  readonly windowMs: number;
  readonly position: Position;
}

export interface RuleProgram {
  readonly where: WhereFilter;
  readonly vars: JsonObject;
  readonly lookups: readonly LookupProgram[];
  readonly conditions: readonly ConditionProgram[];
  readonly steps: readonly StepProgram[];
  readonly coalesce: CoalesceProgram | null;
  /** `author`: whoever wrote the issue or pull request may give the command, whatever rights they have. */
  readonly rights: 'author' | null;
}

export interface SectionLookup {
  readonly use: string;
  readonly params: JsonObject;
  /** It reads one object: asked once for each item, this parameter of it is the item's natural key. */
  readonly each?: string;
}

/** A branch protection as it should be that is looked at alone: a difference is a finding. */
export interface ProtectionProgram {
  readonly params: readonly ParamProgram[];
  readonly severity: Severity;
  readonly position: Position;
}

export interface ExpectationProgram extends ConditionProgram {
  readonly severity: Severity;
  readonly message: string | null;
}

export interface FixProgram {
  /** Expectations after whose failure it is wanted; null = always. */
  readonly for: readonly string[] | null;
  readonly step: StepProgram;
}

/** One kind of thing a policy wants in each repository. */
export interface PolicyPart {
  readonly section:
    | 'labels'
    | 'removed_labels'
    | 'milestones'
    | 'removed_milestones'
    | 'push_mirrors'
    | 'branches'
    | 'enforced_protections'
    | 'settings'
    | 'topics'
    | 'variables';
  readonly action: ActionFacts;
  /** The read that tells what is there; null = the action compares by itself. */
  readonly lookup: SectionLookup | null;
  readonly items: readonly PolicyItem[];
}

export interface PolicyItem {
  readonly params: readonly ParamProgram[];
  readonly position: Position;
  /** For mirrors: private repositories too. */
  readonly allowPrivate: boolean;
}

export interface PolicyProgram {
  readonly subjects: WhereFilter;
  readonly vars: JsonObject;
  readonly parts: readonly PolicyPart[];
  /** Where the forge cannot list what is there, the journal alone is the memory. */
  readonly assumeAbsent: boolean;
  /** What a person undid stays so; absent = it is repaired. */
  readonly respectsUndo?: boolean;
  /** `organization`: it is about the organization itself, once. */
  readonly scope: 'repository' | 'organization';
  readonly protections: readonly ProtectionProgram[];
  readonly lookups: readonly LookupProgram[];
  readonly expectations: readonly ExpectationProgram[];
  readonly fixes: readonly FixProgram[];
}
