import type { Job } from './job.js';

/** Records of finished runs and of acts of people are chained, so that one that is changed or taken away afterwards is found (`forgehand audit`). */
export const sealAudit: Job = {
  name: 'audit.seal',
  summary: 'finished runs and acts of people join the chain of their organization, which forgehand audit checks',
  per: 'bot',
  schedule: { cron: '*/10 * * * *', tz: 'UTC', jitterS: 0, catchUp: 'skip' },
  when: 'every ten minutes',
  isAudit: false,
  async run({ isDryRun, tools }) {
    if (isDryRun) return { summary: 'finished runs and acts would be sealed' };
    const chains = await tools.sealer.run();
    return {
      summary: `${chains.reduce((sum, { added }) => sum + added, 0)} runs and acts sealed`,
      changes: chains.map(
        ({ org, added, head }) =>
          `${org || 'no organization'}: ${added} runs and acts sealed, head ${head.n}:${head.link}`,
      ),
    };
  },
};
