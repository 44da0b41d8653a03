import { nightly, type Job, summaryOf } from './job.js';

/** Looks at what the forge is, at the proxy before it, and again at the operations that rules need: a forge may have been renewed. */
export const auditForge: Job = {
  name: 'forge.audit',
  summary: 'the forge: version, clock, the proxy before it, and the operations that the rules need',
  per: 'forge',
  schedule: nightly(2),
  when: 'nightly',
  isAudit: true,
  async run({ forge, tools }) {
    const { checks } = await tools.examine({ forge, only: 'server' });
    return summaryOf(checks.filter((one) => one.forge === forge));
  },
};
