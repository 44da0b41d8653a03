import type { Job } from './job.js';

/** Bodies of old arrivals go into the archive, or are given up where there is none; then the store gives back their room. */
export const archiveInbox: Job = {
  name: 'inbox.archive',
  summary: 'bodies of old arrivals (retention.inbox_days) into the archive; then compaction',
  per: 'bot',
  schedule: null,
  when: 'every ten minutes, compaction hourly',
  isAudit: false,
  async run({ isDryRun, tools }) {
    if (isDryRun) return { summary: tools.archive.describe() };
    const archived = await tools.archive.run();
    await tools.maintenance('vacuum');
    return {
      summary: tools.archive.describe(),
      changes: archived > 0 ? [`${archived} bodies given up`] : [],
    };
  },
};
