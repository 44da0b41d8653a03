import { MOST_MADE_UP } from '../catch-up.js';
import { nightly, type Job } from './job.js';

const DAY_MS = 86_400_000;
/** Rows in one statement: an embedded store does nothing else meanwhile. */
const BATCH = 1_000;

/**
 * Deletes rows of occurrences that were decided long ago. Of each schedule, as many rows stay as a scheduler can make up for: from them, a scheduler
 * that stood still knows what the others fired.
 */
export const pruneTicks: Job = {
  name: 'ticks.prune',
  summary: 'occurrences that were decided long ago (retention.tick_days) leave the store',
  per: 'bot',
  schedule: nightly(5),
  when: 'nightly',
  isAudit: false,
  async run({ isDryRun, tools }) {
    const before = new Date(tools.clock.now().getTime() - tools.tickDays * DAY_MS);
    const summary = `occurrences of before ${before.toISOString().slice(0, 10)} are given up, but the newest ${MOST_MADE_UP} of each schedule`;
    if (isDryRun) return { summary };
    let pruned = 0;
    for (let batch = BATCH; batch === BATCH; pruned += batch)
      batch = await tools.ticks.prune(before, MOST_MADE_UP, BATCH);
    return { summary, changes: pruned > 0 ? [`${pruned} given up`] : [] };
  },
};
