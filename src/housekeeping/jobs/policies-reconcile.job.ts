import type { Job } from './job.js';

/** All policies of an organization at once, by hand; each is reconciled on its own schedule besides. */
export const reconcilePolicies: Job = {
  name: 'policies.reconcile',
  summary: 'plan what the policies want, and apply it where no approval is asked',
  per: 'organization',
  schedule: null,
  when: 'each policy on its own schedule',
  isAudit: false,
  async run({ org, isDryRun, tools }) {
    const plan = await (isDryRun ? tools.planned(org) : tools.plan(org));
    const lines = plan.lines
      .filter(({ does }) => does === 'write')
      .map(({ policy, repo, action, key }) => `${repo?.name ?? org}: ${action} ${key} (${policy})`);
    const cannot = plan.lines.flatMap(({ does, repo, action, key, reason }) =>
      does === 'cannot' ? [`${repo?.name ?? org}: ${action} ${key}: ${reason ?? ''}`] : [],
    );
    const violations = plan.findings.map(({ repo, name, message }) => `${repo?.name ?? org}: ${name}: ${message}`);
    const undecided = [
      ...plan.notes.map(({ policy, repo, reason }) => `${repo ?? org}: ${policy} was not decided: ${reason}`),
      ...plan.heldBack.map(({ policy, reason }) => `${policy} is held back: ${reason}`),
    ];
    const summary = `plan ${plan.hash.slice(0, 12)}: ${lines.length} to write in ${plan.subjects} subjects${undecided.length > 0 ? `, ${undecided.length} not decided` : ''}`;
    const findings = [...cannot, ...violations];
    if (isDryRun || lines.length === 0)
      return { summary, findings, changes: lines, missed: [...undecided, ...plan.overCaps] };
    const report = await tools.applyPlan(plan.hash);
    return {
      summary: `${summary}; ${report.outcome}`,
      findings,
      changes: report.outcome === 'refused' ? [] : lines,
      missed: [...undecided, ...report.reasons],
    };
  },
};
