import { type Job, nightly, summaryOf } from './job.js';

/** Looks at the organization's number, at the rights of our account in it, and at what the rules name. */
export const auditRules: Job = {
  name: 'rules.audit',
  summary:
    'the rules: do the repositories, people, labels, … that they name exist, and may the account do what they want',
  per: 'organization',
  schedule: nightly(5),
  when: 'nightly',
  isAudit: true,
  async run({ org, tools }) {
    const { checks } = await tools.examine({ org, only: 'rules' });
    return summaryOf(checks.filter((one) => one.org === org));
  },
};
