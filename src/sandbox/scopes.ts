import { SCOPE_CATEGORIES } from './auth.js';

/**
 * Scopes as a server keeps them: `public-only` first, then by category, the higher level only; every category at `write` is `all`.
 * @throws Error naming the word that is no scope
 */
export function normalizeScopes(given: readonly string[]): string[] {
  for (const word of given) if (!isScope(word)) throw new Error(`invalid access token scope: ${word}`);
  const publicOnly = given.includes('public-only') ? ['public-only'] : [];
  if (given.includes('all')) return [...publicOnly, 'all'];
  const kept = SCOPE_CATEGORIES.flatMap((category) => {
    if (given.includes(`write:${category}`)) return [`write:${category}`];
    return given.includes(`read:${category}`) ? [`read:${category}`] : [];
  });
  const isAll = kept.length === SCOPE_CATEGORIES.length && kept.every((word) => word.startsWith('write:'));
  return [...publicOnly, ...(isAll ? ['all'] : kept)];
}

function isScope(word: string): boolean {
  if (word === 'all' || word === 'public-only') return true;
  const [level, category, ...rest] = word.split(':');
  return rest.length === 0 && (level === 'read' || level === 'write') && (SCOPE_CATEGORIES as readonly string[]).includes(category ?? '');
}
