import { type Job, summaryOf } from './job.js';

/** Whether a webhook of ours is there, active, alone, and asks for what the rules wait for (op 3); `forgehand doctor` says what to click. */
export const auditHooks: Job = {
  name: 'hooks.audit',
  summary: 'our webhook: there, active, and asking for what the rules wait for',
  per: 'organization',
  schedule: { cron: '15 * * * *', tz: 'UTC', jitterS: 1_800 },
  when: 'hourly',
  isAudit: true,
  async run({ org, tools }) {
    const { checks } = await tools.examine({ org, only: 'hook' });
    return summaryOf(checks.filter((one) => one.org === org && /^(hook|look)\./.test(one.check)));
  },
};
