import { nightly, type Job, summaryOf } from './job.js';

/** Compares what the token and account may do with what the rules need, and lists other tokens (op 16). */
export const auditToken: Job = {
  name: 'token.audit',
  summary: 'the token: does it hold what the rules need, does it hold more, and which others has the account',
  per: 'forge',
  schedule: nightly(4),
  when: 'nightly',
  isAudit: true,
  async run({ forge, tools }) {
    const { checks } = await tools.examine({ forge, only: 'token' });
    return summaryOf(checks.filter((one) => one.forge === forge && /^(token|account|look)\./.test(one.check)));
  },
};
