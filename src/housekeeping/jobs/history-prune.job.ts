import { nightly, type Job } from './job.js';

const DAY_MS = 86_400_000;
/** Rows of a kind in one statement: an embedded store does nothing else meanwhile. */
const BATCH = 1_000;

/** Deletes what ended long ago. What the bot must remember stays, and the audit chain says what was deleted. */
export const pruneHistory: Job = {
  name: 'history.prune',
  summary:
    'events with all that came of them, findings, plans, stages, gaps and outages that ended long ago (retention.history_days) leave the store, and texts older than retention.repeat_days are forgotten',
  per: 'bot',
  schedule: nightly(5),
  when: 'nightly',
  isAudit: false,
  async run({ isDryRun, tools }) {
    const daysAgo = (days: number): Date => new Date(tools.clock.now().getTime() - days * DAY_MS);
    const before = daysAgo(tools.historyDays);
    const summary = `events, findings, plans, stages, gaps and outages that ended before ${before.toISOString().slice(0, 10)} are deleted`;
    if (isDryRun) return { summary };
    const pruned = new Map<string, number>();
    for (let isFull = true; isFull;) {
      const batch = await tools.ended.prune(before, BATCH);
      for (const [kind, count] of batch) pruned.set(kind, count + (pruned.get(kind) ?? 0));
      isFull = [...batch.values()].includes(BATCH);
    }
    for (const [kind, count] of await tools.pruner.run(tools.historyDays)) pruned.set(kind, count);
    const changes = [...pruned].map(([kind, count]) => `${count} ${kind} deleted`);
    const repeats = tools.repeatDays === null ? 0 : await tools.retention.forgetRepeats(daysAgo(tools.repeatDays));
    return { summary, changes: repeats === 0 ? changes : [...changes, `${repeats} texts of deliveries forgotten`] };
  },
};
