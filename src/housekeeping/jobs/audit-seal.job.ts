import type { Job } from './job.js';

/** Runs and acts of an organization in one transaction. */
const BATCH = 500;
/** In one turn; what is left comes with the next. */
const MOST_BATCHES = 40;
/** Statements of calls under way have come to an end by then. */
const YOUNG_MS = 60_000;

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
    const added = new Map<string, { count: number; head: string }>();
    for (let batch = 0; batch < MOST_BATCHES; batch += 1) {
      const chains = await tools.sealAudit(BATCH, YOUNG_MS);
      for (const { org, added: count, head } of chains)
        added.set(org, { count: (added.get(org)?.count ?? 0) + count, head: `${head.n}:${head.link}` });
      if (chains.every((chain) => chain.added < BATCH)) break;
    }
    const changes = [...added].map(
      ([org, { count, head }]) => `${org || 'no organization'}: ${count} runs and acts sealed, head ${head}`,
    );
    return {
      summary: `${[...added.values()].reduce((sum, { count }) => sum + count, 0)} runs and acts sealed`,
      changes,
    };
  },
};
