import type { IntentState } from '../../core/states.js';
import type { Job } from './job.js';

/** How long work may stay in a state before the job reports it. A forge that is away for an hour is normal. */
const LONG_MS: Partial<Record<IntentState, number>> = {
  planned: 3_600_000,
  claimed: 600_000,
  sent: 600_000,
  unknown: 3_600_000,
  waiting: 24 * 3_600_000,
};
const SHOWN = 200;

/** Finds work that should have moved: takes it back from lost workers, and reports it. */
export const freeStuckWork: Job = {
  name: 'work.stuck',
  summary: 'resume work that has not moved for long, and report it',
  per: 'bot',
  schedule: { cron: '*/15 * * * *', tz: 'UTC', jitterS: 0, catchUp: 'skip' },
  when: 'every quarter of an hour',
  isAudit: false,
  async run({ isDryRun, tools }) {
    const now = tools.clock.now().getTime();
    const findings: string[] = [];
    for (const [state, longMs] of Object.entries(LONG_MS) as Array<[IntentState, number]>)
      for (const { id, org, rule, action, itemKey, updatedAt } of await tools.journal.intentsInState(state, SHOWN)) {
        const hours = (now - updatedAt.getTime()) / 3_600_000;
        if (hours * 3_600_000 >= longMs)
          findings.push(`intent ${id} (${rule} in ${org}: ${action} ${itemKey}) is ${state} for ${hours.toFixed(1)} h`);
      }
    const summary =
      findings.length === 0
        ? 'all work moves'
        : `${findings.length} ${findings.length === 1 ? 'effect has' : 'effects have'} not moved for long`;
    if (isDryRun) return { summary, findings };
    const reclaimed = await tools.journal.reclaimExpired();
    return {
      summary,
      findings,
      changes: reclaimed > 0 ? [`${reclaimed} taken back from workers that were lost`] : [],
    };
  },
};
