import { operationOf, type OperationName } from './operations.js';

/** A token scope of Gitea and Forgejo: `read:issue`, `write:repository`, `all`, `public-only`, … */
export type Scope = string;

/**
 * The least scopes with which a token may make these calls; `write:` contains `read:`.
 * The level follows the HTTP method, so op 5 needs write although it only reads.
 */
export function neededScopes(names: Iterable<OperationName>): Scope[] {
  const levels = new Map<string, 'read' | 'write'>();
  for (const name of names) {
    const { scope, method } = operationOf(name);
    if (scope === 'none' || scope === 'misc') continue;
    if (method !== 'GET') levels.set(scope, 'write');
    else if (!levels.has(scope)) levels.set(scope, 'read');
  }
  return [...levels].map(([scope, level]) => `${level}:${scope}`).sort();
}

/** What every bot does or may be told to: know itself, install its webhook, and what the starter sets of rules do. */
const OF_EVERY_BOT: readonly OperationName[] = ['getSelf', 'createOrgHook', 'addIssueLabels', 'createPushMirror'];

/**
 * The scopes that `init` asks for and `doctor` has nothing against.
 * @param names calls that the rules make
 */
export function wantedScopes(names: Iterable<OperationName>): Scope[] {
  return neededScopes([...OF_EVERY_BOT, ...names]);
}

/** Which of the needed scopes a token lacks. */
export function missingScopes(needed: readonly Scope[], owned: readonly Scope[]): Scope[] {
  const has = new Set(owned);
  if (has.has('all')) return [];
  return needed.filter(
    (scope) => !has.has(scope) && !(scope.startsWith('read:') && has.has(scope.replace('read:', 'write:'))),
  );
}

/** What a token may do beyond the needed scopes: whole categories, and writing where reading is enough. */
export function extraScopes(needed: readonly Scope[], owned: readonly Scope[]): Scope[] {
  const wanted = new Set(needed);
  if (owned.includes('all')) return ['all'];
  return owned.filter(
    (scope) =>
      scope !== 'public-only' &&
      !wanted.has(scope) &&
      !(scope.startsWith('read:') && wanted.has(scope.replace('read:', 'write:'))),
  );
}
