import { listAll } from '../../forge/forge-client.js';
import type { Branch } from '../../core/objects/git.js';
import { eachRepository, lookedOutcome } from './each-repository.js';
import { forgeOf, type Job } from './job.js';

const DAY_MS = 86_400_000;

/** Branches without a commit for long. Told, never deleted: that is a rule's decision. */
export const staleBranches: Job = {
  name: 'branches.stale',
  summary: 'branches without a commit for long (housekeeping.stale_branch_days)',
  per: 'organization',
  schedule: { cron: '0 5 * * 1', tz: 'UTC', jitterS: 3_600 },
  when: 'on Mondays',
  isAudit: true,
  async run(turn) {
    const { client, offers } = forgeOf(turn);
    if (!offers('listBranches')) return { summary: 'this forge does not list branches' };
    const { clock, staleBranchDays } = turn.tools;
    const looked = await eachRepository(turn, async (at, repository) =>
      staleIn(
        await listAll(client, 'listBranches', at),
        String(repository['default_branch'] ?? ''),
        clock.now(),
        staleBranchDays,
      ),
    );
    return lookedOutcome(looked, `older than ${staleBranchDays} days; `);
  },
};

/** Default and protected branches are never stale. Pure. */
export function staleIn(branches: readonly Branch[], defaultBranch: string, now: Date, days: number): string[] {
  return branches.flatMap((branch) => {
    const at = Date.parse(branch.commit?.timestamp ?? '');
    if (branch.name === defaultBranch || branch.protected === true || Number.isNaN(at)) return [];
    const age = Math.floor((now.getTime() - at) / DAY_MS);
    return age >= days ? [`${branch.name ?? '?'} had its last commit ${age} days ago`] : [];
  });
}
