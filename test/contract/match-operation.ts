import { operationNames, operationOf, type OperationName } from '../../src/forge/operations.js';

interface Route {
  readonly name: OperationName;
  readonly method: string;
  readonly pattern: RegExp;
  /** Fixed characters of the template: the route with most of them is meant where several match. */
  readonly weight: number;
}

const routes: readonly Route[] = operationNames
  .map((name) => {
    const { method, path, tail } = operationOf(name);
    const parts = path.split(/(\{[^}]+\})/);
    const last = parts.findLastIndex((part) => part.startsWith('{'));
    const source = parts
      .map((part, at) => (part.startsWith('{') ? (tail === true && at === last ? '(.+)' : '([^/]+)') : escape(part)))
      .join('');
    return { name, method, pattern: new RegExp(`^${source}/?$`), weight: path.replace(/\{[^}]+\}/g, '').length };
  })
  .sort((a, b) => b.weight - a.weight);

/**
 * The operation that a request means, by method and path below the base address (raw slashes in tails allowed).
 * @returns undefined when the table has none
 */
export function matchOperation(method: string, path: string): OperationName | undefined {
  const plain = (path.split('?')[0] ?? '').replace(/\/{2,}/g, '/');
  return routes.find((route) => route.method === method && route.pattern.test(plain))?.name;
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
