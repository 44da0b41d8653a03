import { nightly, type Job } from './job.js';

/** Deletes acts of people that are older than the operator wants to keep, which is never unless told. The audit chain says so. */
export const pruneActs: Job = {
  name: 'acts.prune',
  summary: 'acts of people that are older than retention.acts_days leave the store; without that setting, none',
  per: 'bot',
  schedule: nightly(5),
  when: 'nightly',
  isAudit: false,
  async run({ isDryRun, tools }) {
    const days = tools.actsDays;
    if (days === null) return { summary: 'acts of people stay: retention.acts_days is not set' };
    const summary = `acts of people that were sealed more than ${days} days ago are deleted`;
    if (isDryRun) return { summary };
    const deleted = await tools.sealer.deleteActs(days);
    return { summary, changes: deleted > 0 ? [`${deleted} acts deleted`] : [] };
  },
};
