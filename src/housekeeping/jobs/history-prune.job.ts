import { ageBefore } from '../retention-store.port.js';
import { nightly, type Job } from './job.js';

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
    const before = ageBefore({ now: tools.clock.now(), days: tools.historyDays });
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
    const repeats = tools.repeatDays === null ? 0 : await tools.pruner.forgetRepeats(tools.repeatDays);
    return { summary, changes: repeats === 0 ? changes : [...changes, `${repeats} texts of deliveries forgotten`] };
  },
};
