import type { z } from 'zod';
import { nothing } from '../core/objects/base.js';
import { tableOf } from '../core/table.js';

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
  /** Its answer is plain text, null where that is not UTF-8; absent = JSON. */
  readonly text?: boolean;
  /** Answer size cap in bytes; default 10 MB. */
  readonly maxBytes?: number;
  readonly summary: string;
}

type Row<
  Query extends Record<string, ParamSpec>,
  Body extends z.ZodType,
  Result extends z.ZodType,
  Usual extends 'retry' | 'result',
> = Omit<
  Operation<string, Query, Body, Result>,
  'method' | 'path' | 'pathTypes' | 'paged' | 'scope' | 'success' | Usual
> &
  Partial<Pick<Operation<string, Query, Body, Result>, 'scope' | 'success' | Usual>>;

/** Path parameters that are no plain strings, the same in all paths. */
const PATH_TYPES = tableOf<ParamType>({ id: 'int64', index: 'int64', run: 'int64', job: 'int64', attempt: 'integer' });

/** Rows of one method. A row says what is otherwise than usual, and keeps the literal types of path and query and the schemas of body and result. */
function rowsOf<Usual extends 'retry' | 'result' = never>(
  method: Operation['method'],
  usual: Pick<Operation, 'scope' | 'success' | Usual>,
) {
  return <
    const Path extends string,
    const Query extends Record<string, ParamSpec> = Record<never, ParamSpec>,
    Body extends z.ZodType = z.ZodUndefined,
    Result extends z.ZodType = typeof nothing,
  >(
    path: Path,
    row: Row<Query, Body, Result, Usual>,
  ): Operation<Path, Query, Body, Result> => {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
    const pathTypes = Object.fromEntries(names.flatMap((name) => (PATH_TYPES[name] ? [[name, PATH_TYPES[name]]] : [])));
    const { query = {} } = row as { query?: object };
    const paged = Object.hasOwn(query, 'page');
    return { method, path, pathTypes, paged, ...usual, ...row } as unknown as Operation<Path, Query, Body, Result>;
  };
}

/** Rows of operations, most of which need this scope. */
export function operationsOf(scope: ScopeCategory) {
  const absolute = { scope, retry: 'absolute' } as const;
  return {
    get: rowsOf<'retry'>('GET', { scope, success: [200], retry: 'read' }),
    post: rowsOf<never>('POST', { scope, success: [201] }),
    put: rowsOf<'retry' | 'result'>('PUT', { ...absolute, success: [204], result: nothing }),
    patch: rowsOf<'retry'>('PATCH', { ...absolute, success: [200] }),
    del: rowsOf<'retry' | 'result'>('DELETE', { ...absolute, success: [204], result: nothing }),
  };
}

/** Names of the `{parameters}` in a path template. */
export type PathParams<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathParams<Rest>
  : never;
