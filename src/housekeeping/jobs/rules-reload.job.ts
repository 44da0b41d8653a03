import { revisionId, shortRevision } from '../../core/ids.js';
import type { Job } from './job.js';

/** Reads the rule files again, in case the file watcher missed a change. */
export const reloadRules: Job = {
  name: 'rules.reload',
  summary: 'read the rule files again',
  per: 'organization',
  schedule: { cron: '*/30 * * * *', tz: 'UTC', jitterS: 600, catchUp: 'skip' },
  when: 'every half hour',
  isAudit: false,
  async run({ org, isDryRun, tools }) {
    const before = (await tools.revisions.active(org))?.revision.hash ?? null;
    if (isDryRun) return { summary: `revision ${short(org, before)} is active` };
    const { hash, problems } = await tools.reloadRules(org);
    const changes = hash === before ? [] : [`revision ${short(org, hash)} in place of ${short(org, before)}`];
    return { summary: `revision ${short(org, hash)} is active`, findings: problems, changes };
  },
};

function short(org: string, hash: string | null): string {
  return hash === null ? '(none)' : shortRevision(revisionId(org, hash));
}
