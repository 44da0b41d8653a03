import type { DataType } from '../../core/data-types.js';
import type { EventRepository } from '../../core/event.js';
import { isRealDay, isRealTime } from '../../core/real-time.js';
import type { Json } from '../../core/json.js';
import type { ForgeClient } from '../../forge/forge-client.js';
import type { OperationName } from '../../forge/operations.js';
import type { LookupFacts, ParamNames } from '../../rules/language/catalogue.js';

type ParamType = LookupFacts['params'][string]['type'];

export interface LookupParam<Type extends ParamType = ParamType, Required extends boolean = boolean> {
  readonly type: Type;
  readonly required: Required;
  readonly summary: string;
  /** Why a constant can never be meant, or null. */
  readonly check?: (value: string) => string | null;
  /** What it names; see `LookupFacts`. */
  readonly names?: ParamNames;
  /** Servers drop a value of it that they do not know and answer as if it were not there: one that only a run tells is checked, too. */
  readonly isFilter?: true;
}

type Check = (value: string) => string | null;

/** One of a few words. */
export const oneOfWords =
  (...words: readonly string[]): Check =>
  (value) =>
    words.includes(value) ? null : `must be ${words.join(', ').replace(/, ([^,]*)$/, ' or $1')}`;

/** States of a workflow job. */
export const JOB_STATES = ['pending', 'queued', 'in_progress', 'failure', 'success', 'skipped'] as const;

/** A time of the forge's API. */
export const isTime: Check = (value) =>
  isRealTime(value) ? null : 'must be a time such as 2027-01-31T12:00:00Z, or "${{ now - duration(\'720h\') }}"';

/** A day of the forge's API. */
export const isDay: Check = (value) =>
  isRealDay(value) ? null : 'must be a day such as 2027-01-31, or "${{ date(now) }}"';

type ValueOf<Type extends ParamType> = Type extends 'string'
  ? string
  : Type extends 'integer'
    ? number
    : Type extends 'boolean'
      ? boolean
      : Type extends 'strings'
        ? readonly string[]
        : Json;

/** Parameters as they reach `read`; those that are not required may be absent. */
type LookupParams<Specs extends Readonly<Record<string, LookupParam>>> = {
  readonly [Name in keyof Specs]: Specs[Name] extends LookupParam<infer Type, infer Required>
    ? Required extends true
      ? ValueOf<Type>
      : ValueOf<Type> | undefined
    : never;
};

export interface LookupContext<Must extends OperationName, May extends OperationName> {
  readonly org: string;
  /** The repository of the event or tick; always there for lookups about a repository. */
  readonly repo: EventRepository;
  readonly forge: Pick<ForgeClient, Must> & Partial<Pick<ForgeClient, May>>;
  /** Elements after which the rule wants no more of a list: a read of pages ends there. Absent = all of them. */
  readonly first?: number;
}

/** One named read that rules may ask for. It answers plain data; 404 means "missing", and secrets are taken out after it. */
interface LookupDefinition<
  Name extends string = string,
  Specs extends Readonly<Record<string, LookupParam>> = Readonly<Record<string, LookupParam>>,
  Must extends OperationName = OperationName,
  May extends OperationName = OperationName,
> {
  readonly name: Name;
  readonly summary: string;
  readonly target: 'repository' | 'organization' | 'account';
  readonly params: Specs;
  readonly operations: readonly [Must, ...Must[]];
  readonly whereOffered: readonly May[];
  /** What rules see of its answer. */
  readonly answer: DataType;
  /**
   * Who may see what it answers, where that is not everybody who sees the run. `owners`: the forge answers it to owners and administrators alone.
   * `any-repository`: it may hold text of any repository, also of a private one.
   */
  readonly privacy?: 'owners' | 'any-repository';
  /** Its answer is about credentials: fields that hold a part of one are left out. */
  readonly isAboutCredentials?: true;
  read(context: LookupContext<Must, May>, params: LookupParams<Specs>): Promise<unknown>;
}

export function defineLookup<
  const Name extends string,
  const Specs extends Readonly<Record<string, LookupParam>>,
  const Must extends OperationName,
  const May extends OperationName = never,
>(lookup: LookupDefinition<Name, Specs, Must, May>): LookupDefinition<Name, Specs, Must, May> {
  return lookup;
}

/** A lookup under its widest type. */
export interface AnyLookup extends Omit<LookupDefinition, 'read'> {
  read(context: LookupContext<never, never>, params: never): Promise<unknown>;
}

export function needed<Type extends ParamType>(type: Type, summary: string, check?: Check): LookupParam<Type, true> {
  return { type, required: true, summary, ...(check ? { check } : {}) };
}

export function maybe<Type extends ParamType>(type: Type, summary: string, check?: Check): LookupParam<Type, false> {
  return { type, required: false, summary, ...(check ? { check } : {}) };
}

/** The same parameter, which names a number of the forge, or a branch or tag by its short name. */
export function naming<Param extends LookupParam>(names: ParamNames, param: Param): Param {
  return { ...param, names };
}

/** A filter that servers apply: see `isFilter`. */
export function filter(summary: string, check: Check): LookupParam<'string', false> {
  return { ...maybe('string', summary, check), isFilter: true };
}
