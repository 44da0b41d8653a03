import type { ForgeEvent } from '../core/event.js';
import type { Run } from '../core/run.js';
import type { CompiledPolicy } from '../rules/language/revision.js';
import type { RuleLine } from './explanation.js';

/** What a policy wants depends on what the forge held; only its run knows. */
export function verdictOfPolicy(
  policy: CompiledPolicy,
  event: ForgeEvent,
  candidates: ReadonlySet<string>,
  runs: ReadonlyMap<string, Run>,
): Pick<RuleLine, 'verdict' | 'reason' | 'place'> {
  const run = runs.get(policy.id);
  const place = policy.position;
  if (run)
    return {
      verdict: run.state === 'not-fired' || run.state === 'error' ? run.state : 'fired',
      reason: run.reason,
      place,
    };
  if (candidates.has(policy.id))
    return { verdict: 'unknown', reason: 'it compares with what the forge held, and no run of it is stored', place };
  return {
    verdict: 'rejected',
    reason: `${event.kind}${event.repo ? ` of ${event.repo.full_name}` : ''} is no cause for this policy`,
    place,
  };
}
