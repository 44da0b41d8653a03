import { extraScopes, missingScopes, type Scope } from '../../forge/scopes.js';
import type { SeenToken, SeenTokens } from '../../forge/server-access.js';
import { note, ok, problem, warning, type CheckResult } from './check.js';
import { saw } from './looks.js';

export interface TokenFacts {
  readonly signsInBy: 'token' | 'password';
  /** Null where it cannot be told. */
  readonly scopes: readonly Scope[] | null;
  readonly needed: readonly Scope[];
  /** The needed scopes, and those that every bot may have (`wantedScopes`). */
  readonly useful: readonly Scope[];
  readonly tokens: SeenTokens | null;
  readonly login: string | null;
  readonly isSiteAdmin: boolean | null;
  /** The rules make repositories for users, which administrators of the site alone may. */
  readonly needsSiteAdmin: boolean;
}

const DAY_MS = 86_400_000;
const OLD_DAYS = 365;
const UNUSED_DAYS = 90;

/** @param page where the account's tokens are made and deleted */
export function examineToken(facts: TokenFacts, now: Date, page: string): CheckResult[] {
  const who = facts.login ?? 'the bot';
  const renew = [
    `sign in as ${who}, open ${page}, Generate New Token with ${facts.needed.join(', ')}`,
    'put it where the config takes it from, and start the bot again',
  ];
  const admin = siteAdmin(facts, who);
  if (facts.signsInBy === 'password')
    return [warning(saw('token.kind.password'), ...renew, 'change auth in the config to { type: token, … }'), ...admin];
  return [
    ...scopes(facts, renew),
    ...age(facts.tokens, now, renew, page),
    ...others(facts.tokens, now, who, page),
    ...admin,
  ];
}

/**
 * @param reached organizations of the config that one credential reaches
 * @param own the organization whose own credential it is; null = that of the forge
 */
export function examineReach(reached: readonly string[], own: string | null): CheckResult[] {
  if (reached.length < 2) return reached.length === 0 ? [] : [ok(saw('token.reach.one', { org: reached[0] ?? '' }))];
  const fix =
    own === null
      ? [
          'make an account and a token for each organization, and put each account into its own organization alone',
          'say orgs[].auth: { type: token, token: { env: … } } for each of them (docs/connecting.md)',
        ]
      : [`take the account of orgs[].auth of ${own} out of ${reached.filter((name) => name !== own).join(', ')}`];
  return [warning(saw('token.shared.many', { orgs: reached }), ...fix)];
}

function scopes({ scopes: owned, needed, useful }: TokenFacts, renew: readonly string[]): CheckResult[] {
  if (!owned) return [note(saw('token.scopes.hidden', { needed }))];
  const lacks = missingScopes(needed, owned);
  const wider = extraScopes(useful, owned);
  return [
    lacks.length === 0
      ? ok(saw('token.scopes.enough', { needed }))
      : problem(saw('token.scopes.missing', { scopes: lacks }), ...renew),
    ...(wider.length === 0 ? [] : [warning(saw('token.wide.more', { scopes: wider }), ...renew)]),
  ];
}

function age(tokens: SeenTokens | null, now: Date, renew: readonly string[], page: string): CheckResult[] {
  const own = tokens?.own;
  if (!own) return [];
  const days = daysSince(own.created_at, now);
  if (days === null) return [note(saw('token.age.hidden'))];
  return [
    days <= OLD_DAYS
      ? ok(saw('token.age.young', { token: nameOf(own), days }))
      : warning(
          saw('token.age.old', { token: nameOf(own), days }),
          ...renew,
          `then delete ${nameOf(own)}: open ${page}`,
        ),
  ];
}

function others(tokens: SeenTokens | null, now: Date, who: string, page: string): CheckResult[] {
  if (!tokens?.own || tokens.others.length === 0) return [];
  const unused = tokens.others.flatMap((token) => {
    const days = daysSince(token.last_used_at ?? token.created_at, now);
    return days !== null && days > UNUSED_DAYS
      ? [`${nameOf(token)} (${token.last_used_at ? `last used ${days} days ago` : `never used, ${days} days old`})`]
      : [];
  });
  return unused.length === 0
    ? [ok(saw('token.others.used', { login: who, count: tokens.others.length }))]
    : [
        warning(
          saw('token.others.unused', { login: who, tokens: unused }),
          `sign in as ${who}, open ${page}, and delete them`,
        ),
      ];
}

function siteAdmin({ isSiteAdmin, needsSiteAdmin }: TokenFacts, who: string): CheckResult[] {
  if (isSiteAdmin !== true || needsSiteAdmin) return [];
  const fix = `sign in as another administrator, Site Administration → Identity & Access → User Accounts → ${who} → Edit, untick Is Administrator`;
  return [warning(saw('account.admin.needless', { login: who }), fix)];
}

function nameOf({ name, id }: SeenToken): string {
  return name ?? id ?? '';
}

function daysSince(time: string | null | undefined, now: Date): number | null {
  return time ? Math.floor((now.getTime() - Date.parse(time)) / DAY_MS) : null;
}
