import type { CompareContext } from './compare.js';
import type { Path } from './leaves.js';

/** Arrays that a server gives in no order, as the recordings' README lists them. */
export function isUnordered(path: Path, context: CompareContext): boolean {
  const key = path.at(-1);
  if (key === 'requested_reviewers') return true;
  if (key === 'events') return /\/hooks(\/|\?|$)/.test(context.path);
  if (key === 'files') return context.server.startsWith('forgejo') && context.path.includes('/compare/');
  return path.length === 0 && isTokenList(context.path);
}

/** Newest first, by whole seconds: tokens of one second come in any order. */
export function isTokenList(path: string): boolean {
  return /^\/users\/[^/]+\/tokens\/?(\?|$)/.test(path);
}
