import { RIGHTS } from '../core/rights.js';
import { defineAction, textOf } from './define-action.js';
import { issueMilestoneRecovery, titleOf } from './issue-milestone.recovery.js';
import { changed, refused, unchanged } from './support/outcome.js';
import { flag, id, optional, text } from './support/params.js';
import { readAll } from './support/read-all.js';
import { orMissing } from './support/where-offered.js';

/** Milestones are found by title, closed ones too; an unknown number would be a 500 (api-behaviour 3.4). Pull requests go by the issue call. */
export const setIssueMilestone = defineAction({
  name: 'issue.milestone',
  summary: 'Set or clear the milestone of an issue or pull request',
  target: 'repository',
  params: {
    number: id({ summary: 'number of the issue or pull request' }),
    title: optional(text({ summary: 'title of the milestone. Default: none' })),
    replace: optional(flag({ summary: 'replace another milestone. Default: it stays' })),
  },
  operations: ['updateIssue', 'getIssue', 'listMilestones'],
  whereOffered: [],
  right: RIGHTS.tracker,
  naturalKey: 'number',
  keyOf: ({ number }) => `${textOf(number)} milestone`,
  raises: ['issue.milestoned', 'issue.demilestoned', 'pull_request.milestoned', 'pull_request.demilestoned'],
  example: { number: '12', title: '1.5' },

  recover: issueMilestoneRecovery,

  async ensure({ target, forge, remember }, { number, title, replace = title === undefined }) {
    const place = { owner: target.owner, repo: target.name };
    const issue = await orMissing(forge.getIssue({ ...place, index: number }));
    if (issue === null) return refused(`there is no issue or pull request #${number}`);
    const now = titleOf(issue);
    const goal = title?.trim() ?? null;
    if (now === goal) return unchanged(`milestone of #${number}: ${goal ?? 'none'}`);
    if (now !== null && !replace) return unchanged(`#${number} has the milestone ${now} (replace: true moves it)`);
    let milestone = '0';
    if (goal !== null) {
      const found = await readAll(forge, 'listMilestones', { ...place, state: 'all', name: goal });
      const bearers = found.filter((one) => one.title?.trim() === goal);
      const best = bearers.find(({ state }) => state === 'open') ?? bearers[0];
      if (!best?.id) return refused(`there is no milestone ${goal} (milestone.ensure makes one)`);
      milestone = best.id;
    }
    remember({ title: now });
    await forge.updateIssue({ ...place, index: number, body: { milestone: BigInt(milestone) } });
    return changed(`milestone of #${number}: ${goal ?? 'none'}`);
  },
});
