import type { z } from 'zod';
import type { Operation, ParamSpec, ParamType, PathParams } from './define-operation.js';
import { actionsOperations } from './operations/actions.js';
import { branchProtectionOperations } from './operations/branch-protections.js';
import { branchOperations } from './operations/branches.js';
import { contentsOperations } from './operations/contents.js';
import { hookOperations } from './operations/hooks.js';
import { issueLabelOperations } from './operations/issue-labels.js';
import { issueOperations } from './operations/issues.js';
import { labelOperations } from './operations/labels.js';
import { milestoneOperations } from './operations/milestones.js';
import { organizationOperations } from './operations/organizations.js';
import { packageOperations } from './operations/packages.js';
import { pullOperations } from './operations/pulls.js';
import { pushMirrorOperations } from './operations/push-mirrors.js';
import { reactionOperations } from './operations/reactions.js';
import { releaseOperations } from './operations/releases.js';
import { repositoryOperations } from './operations/repositories.js';
import { serverOperations } from './operations/server.js';
import { statusOperations } from './operations/statuses.js';
import { tagOperations } from './operations/tags.js';
import { teamOperations } from './operations/teams.js';
import { userOperations } from './operations/users.js';
import { variableOperations } from './operations/variables.js';

/** The table: every call we know to make, from which client types, sandbox routes and the scope check derive. */
export const operations = {
  ...actionsOperations,
  ...branchOperations,
  ...branchProtectionOperations,
  ...contentsOperations,
  ...hookOperations,
  ...issueLabelOperations,
  ...issueOperations,
  ...labelOperations,
  ...milestoneOperations,
  ...organizationOperations,
  ...packageOperations,
  ...pullOperations,
  ...pushMirrorOperations,
  ...reactionOperations,
  ...releaseOperations,
  ...repositoryOperations,
  ...serverOperations,
  ...statusOperations,
  ...tagOperations,
  ...teamOperations,
  ...userOperations,
  ...variableOperations,
} as const;

export type Operations = typeof operations;
export type OperationName = keyof Operations;

export const operationNames = Object.keys(operations) as readonly OperationName[];

/** A row under its widest type, for code that works on any operation. */
export function operationOf(name: OperationName): Operation {
  return operations[name] as unknown as Operation;
}

export function isOperationName(word: string): word is OperationName {
  return Object.hasOwn(operations, word);
}

/** True when the call may change something at the forge (op 5 is a POST that does not). */
export function isWrite(name: OperationName): boolean {
  const operation = operationOf(name);
  return operation.method !== 'GET' && operation.readOnly !== true;
}

type ParamValue<Type extends ParamType> = Type extends 'integer'
  ? number
  : Type extends 'int64'
    ? string | number | bigint
    : Type extends 'boolean'
      ? boolean
      : Type extends 'strings'
        ? readonly string[]
        : string;

type PathOf<Row> = Row extends { readonly path: infer Path extends string } ? PathParams<Path> : never;
type QueryOf<Row> = Row extends Operation<string, infer Query, z.ZodType, z.ZodType> ? Query : Record<never, ParamSpec>;
type BodyOf<Row> = Row extends { readonly body?: infer Body } ? Exclude<Body, undefined> : never;

type QueryArgs<Query> = {
  [Key in keyof Query as Query[Key] extends { readonly required: true } ? Key : never]: ParamValue<
    Query[Key] extends ParamSpec ? Query[Key]['type'] : never
  >;
} & {
  [Key in keyof Query as Query[Key] extends { readonly required: true } ? never : Key]?:
    | ParamValue<Query[Key] extends ParamSpec ? Query[Key]['type'] : never>
    | undefined;
};

type BodyArgs<Body> = [Body] extends [z.ZodUndefined]
  ? unknown
  : [Body] extends [z.ZodType]
    ? { body: z.input<Body> }
    : unknown;

/** Arguments of a call: path and query parameters side by side, the body under `body`. Ids as decimal string, number or bigint. */
export type OperationArgs<Name extends OperationName> = {
  [Key in PathOf<Operations[Name]>]: string | number | bigint;
} & QueryArgs<QueryOf<Operations[Name]>> &
  BodyArgs<BodyOf<Operations[Name]>>;

export type OperationResult<Name extends OperationName> = z.output<Operations[Name]['result']>;

/** Names of the operations whose answer is a list by pages. */
export type PagedOperationName = {
  [Name in OperationName]: 'page' extends keyof QueryOf<Operations[Name]> ? Name : never;
}[OperationName];

/** One item of a paged operation's list. */
export type ListItem<Name extends PagedOperationName> =
  OperationResult<Name> extends readonly (infer Item)[]
    ? Item
    : OperationResult<Name> extends { jobs?: readonly (infer Job)[] | null | undefined }
      ? Job
      : OperationResult<Name> extends { workflow_runs?: readonly (infer Run)[] | null | undefined }
        ? Run
        : OperationResult<Name> extends { statuses?: readonly (infer Status)[] | null | undefined }
          ? Status
          : never;
