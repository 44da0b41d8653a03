import { missingScopes, neededScopes } from '../../forge/scopes.js';
import { ALWAYS } from '../offer-check.js';
import type { SeenTokens } from '../server-footing.js';
import { forgeOf } from './forge-of.js';
import { nightly, NOTHING, type Job } from './job.js';

const DAY_MS = 86_400_000;
/** A token that nobody used for so long is one to revoke. */
const UNUSED_DAYS = 180;

/** What our token may do against what the rules need, and which other tokens the account has (op 16). */
export const auditToken: Job = {
  name: 'token.audit',
  summary: 'the token: does it hold what the rules need, does it hold more, and which others has the account',
  per: 'organization',
  schedule: nightly(4),
  when: 'nightly',
  isAudit: true,
  async run(turn) {
    const { client, capabilities } = forgeOf(turn);
    if (!capabilities) return { summary: 'the forge was not reached yet', findings: NOTHING, changes: NOTHING };
    const { scopes } = await turn.tools.footings.learn(turn.forge, client, capabilities);
    const tokens = await turn.tools.footings.tokens(turn.forge, client, capabilities);
    const active = await turn.tools.revisions.active(turn.org);
    const needed = neededScopes(active ? turn.tools.offers.needed(active.revision) : ALWAYS);
    const findings = [...scopeFaults(scopes, needed), ...(tokens ? otherTokens(tokens, turn.tools.clock.now()) : [])];
    const told = scopes === null ? 'the forge does not tell what it may do' : `it holds ${scopes.join(', ')}`;
    return { summary: `needed: ${needed.join(', ')}; ${told}`, findings, changes: NOTHING };
  },
};

/** Pure. @param scopes null = the forge does not tell them */
export function scopeFaults(scopes: readonly string[] | null, needed: readonly string[]): string[] {
  if (scopes === null) return [];
  const missing = missingScopes(needed, scopes);
  const spare = scopes.includes('all')
    ? ['all']
    : scopes.filter((scope) => scope.startsWith('write:') && !needed.some((one) => one.endsWith(scope.slice('write:'.length))));
  return [
    ...(missing.length > 0 ? [`the token lacks ${missing.join(', ')}`] : []),
    ...(spare.length > 0 ? [`the token holds ${spare.join(', ')} and needs ${needed.join(', ')} alone`] : []),
  ];
}

/** Pure. */
export function otherTokens({ others }: SeenTokens, now: Date): string[] {
  return others.flatMap(({ name, scopes, last_used_at: lastUsed, created_at: created }) => {
    const used = Date.parse(lastUsed ?? created ?? '');
    const days = Number.isNaN(used) ? 0 : Math.floor((now.getTime() - used) / DAY_MS);
    const told = [...(scopes?.includes('all') ? ['holds all'] : []), ...(days >= UNUSED_DAYS ? [`was not used for ${days} days`] : [])];
    return told.length > 0 ? [`the account's token ${name ?? '?'} ${told.join(' and ')}`] : [];
  });
}
