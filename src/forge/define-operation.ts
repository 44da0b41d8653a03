import type { z } from 'zod';

/** Token scope category; the level follows the method (GET needs read, others write). */
export type ScopeCategory = 'admin' | 'issue' | 'misc' | 'none' | 'organization' | 'package' | 'repository' | 'user';

/**
 * How a call may be repeated after an unknown outcome:
 * `read` always; `absolute` same values again are harmless; `keyed` the forge refuses a second object of the same key;
 * `keyless` nothing tells a second object from the first: never again without a read.
 */
type RetryClass = 'read' | 'absolute' | 'keyed' | 'keyless';

export type ParamType = 'string' | 'integer' | 'int64' | 'boolean' | 'date' | 'strings';

export interface ParamSpec {
  readonly type: ParamType;
  readonly required?: boolean;
  readonly summary: string;
}

export interface Operation<
  Path extends string = string,
  Query extends Record<string, ParamSpec> = Record<string, ParamSpec>,
  Body extends z.ZodType = z.ZodType,
  Result extends z.ZodType = z.ZodType,
> {
  /** 1 to 20 of the API document; absent = extended. */
  readonly n?: number;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below `{base_url}`, with `{parameter}` segments. */
  readonly path: Path;
  /** Path parameters that are not plain strings (`{id}` int64, `{attempt}` integer). */
  readonly pathTypes?: Readonly<Record<string, ParamType>>;
  /** The last path parameter may hold raw slashes on a server; our client always escapes them. */
  readonly tail?: boolean;
  readonly query?: Query;
  readonly body?: Body;
  readonly result: Result;
  /** Statuses that mean success; the first is the one of the newest recorded Gitea. */
  readonly success: readonly number[];
  readonly scope: ScopeCategory;
  readonly retry: RetryClass;
  /** Answers a list by `page` and `limit`. */
  readonly paged?: boolean;
  /** Key of the list inside the answer, where the answer is an object; absent = the answer is the list. */
  readonly list?: string;
  /** X-Total-Count tells the length of the page, not of the list. */
  readonly totalIsOfPage?: boolean;
  /** Gitea answers this only to the Basic scheme; a token is then sent as the password of `{username}`. */
  readonly basicOnly?: boolean;
  /** Changes nothing although its method is a write (op 5). */
  readonly readOnly?: boolean;
  /** Answer size cap in bytes; default 10 MB. */
  readonly maxBytes?: number;
  readonly summary: string;
}

/** One row of the table; keeps the literal types of path and query and the schemas of body and result. */
export function defineOperation<
  const Path extends string,
  const Query extends Record<string, ParamSpec> = Record<never, ParamSpec>,
  Body extends z.ZodType = z.ZodUndefined,
  Result extends z.ZodType = z.ZodType,
>(operation: Operation<Path, Query, Body, Result>): Operation<Path, Query, Body, Result> {
  return operation;
}

/** Names of the `{parameters}` in a path template. */
export type PathParams<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathParams<Rest>
  : never;
