import type { Operation, ScopeCategory } from '../forge/define-operation.js';
import { type OperationName, operationOf } from '../forge/operations.js';
import type { Handler } from './handler.js';
import { offers, type Profile } from './profiles.js';

interface Route {
  name: OperationName;
  method: Operation['method'];
  scope: ScopeCategory;
  segments: readonly Segment[];
  /** The last parameter takes all that is left. */
  tail: boolean;
  handler: Handler;
}

/** A parameter may have a fixed end (`{index}.diff`). */
type Segment = { fixed: string } | { param: string; end: string };

type Found =
  | { kind: 'found'; route: Pick<Route, 'name' | 'scope' | 'handler'>; params: Record<string, string> }
  | { kind: 'method not allowed' }
  | { kind: 'no such route' };

/** Repeated and trailing slashes do not count. */
function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

function parseTemplate(path: string): Segment[] {
  return segmentsOf(path).map((segment) => {
    const [, param, end = ''] = /^\{(.+)\}([^{}]*)$/.exec(segment) ?? [];
    return param === undefined ? { fixed: segment } : { param, end };
  });
}

/** Fixed segments win over parameters, from the left. */
function bySpecificity(a: Route, b: Route): number {
  for (let i = 0; i < Math.max(a.segments.length, b.segments.length); i += 1) {
    const difference = rankOf(a.segments[i]) - rankOf(b.segments[i]);
    if (difference !== 0) return difference;
  }
  return Number(a.tail) - Number(b.tail);
}

function rankOf(segment: Segment | undefined): number {
  if (segment === undefined) return 3;
  return 'fixed' in segment ? 0 : segment.end === '' ? 2 : 1;
}

/** Undefined when an escape is broken. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function match(route: Route, path: readonly string[]): Record<string, string> | undefined {
  const { segments, tail } = route;
  if (tail ? path.length < segments.length : path.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [i, segment] of segments.entries()) {
    const isLast = i === segments.length - 1;
    const raw = tail && isLast ? path.slice(i).join('/') : (path[i] ?? '');
    const value = decode(raw);
    if (value === undefined) return undefined;
    if ('fixed' in segment) {
      if (segment.fixed !== value) return undefined;
    } else {
      if (!value.endsWith(segment.end)) return undefined;
      params[segment.param] = value.slice(0, value.length - segment.end.length);
    }
  }
  return params;
}

/** Routes of the operations table that this profile offers and somebody handles. */
export class Router {
  readonly #routes: Route[] = [];

  constructor(handlers: ReadonlyMap<OperationName, Handler>, profile: Profile) {
    for (const [name, handler] of handlers) {
      const operation = operationOf(name);
      if (!offers(profile, name, operation.n)) continue;
      this.#routes.push({
        name,
        method: operation.method,
        scope: operation.scope,
        segments: parseTemplate(operation.path),
        tail: operation.tail === true && !profile.singleSegment.has(name),
        handler,
      });
    }
    this.#routes.sort(bySpecificity);
  }

  /** @param path escaped, below `/api/v1` */
  find(method: string, path: string): Found {
    const segments = segmentsOf(path);
    let isKnown = false;
    for (const route of this.#routes) {
      const params = match(route, segments);
      if (!params) continue;
      if (route.method === method) return { kind: 'found', route, params };
      isKnown = true;
    }
    return isKnown ? { kind: 'method not allowed' } : { kind: 'no such route' };
  }

  get operationNames(): OperationName[] {
    return this.#routes.map((route) => route.name);
  }
}
