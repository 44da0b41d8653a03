import { RIGHTS } from '../core/rights.js';
import { defineAction, textOf } from './define-action.js';
import { issueStateRecovery } from './issue-state.recovery.js';
import { changed, refused, unchanged } from './support/outcome.js';
import { choice, id, optional, time } from './support/params.js';
import { isRefused, orMissing } from './support/where-offered.js';

/** `unchanged_since` holds it back where somebody did something after the rule looked: what was stale then may not be any more. */
export const setIssueState = defineAction({
  name: 'issue.state',
  summary: 'Close an issue or pull request, or open it again',
  target: 'repository',
  params: {
    number: id({ summary: 'number of the issue or pull request' }),
    state: choice({ summary: 'open or closed', words: ['open', 'closed'] }),
    unchanged_since: optional(time({ summary: 'only if nothing has changed it since this time' })),
  },
  operations: ['updateIssue', 'getIssue'],
  whereOffered: [],
  right: RIGHTS.tracker,
  naturalKey: 'number',
  keyOf: ({ number }) => `${textOf(number)} state`,
  raises: ['issue.closed', 'issue.reopened', 'pull_request.closed', 'pull_request.reopened'],
  example: { number: '12', state: 'closed' },

  recover: issueStateRecovery,

  async ensure({ target, forge, remember }, { number, state, unchanged_since: since }) {
    const where = { owner: target.owner, repo: target.name, index: number };
    const issue = await orMissing(forge.getIssue(where));
    if (issue === null) return refused(`there is no issue or pull request #${number}`);
    if (issue.state === state) return unchanged(`#${number} is ${state}`);
    if (since !== undefined && Date.parse(issue.updated_at ?? '') > Date.parse(since))
      return unchanged(`something happened to #${number} meanwhile (${issue.updated_at ?? ''})`);
    if (issue.pull_request?.merged === true) return refused(`#${number} is merged`);
    remember({ state: issue.state ?? null });
    try {
      await forge.updateIssue({ ...where, body: { state } });
    } catch (error) {
      if (!isRefused(error, 412)) throw error;
      return refused(`the forge does not let #${number} be ${state} (open dependencies, or its branch is gone)`);
    }
    return changed(`#${number} is ${state}`);
  },
});
