import { RIGHTS } from '../core/rights.js';
import { defineAction, textOf } from './define-action.js';
import { issueCommentRecovery } from './issue-comment.recovery.js';
import { bodyWithMark, markedComments } from './support/hidden-mark.js';
import { changed, refused, unchanged } from './support/outcome.js';
import { flag, id, markdown, optional, text } from './support/params.js';
import { isSameText } from './support/same.js';
import { orMissing } from './support/where-offered.js';

/** One comment per key, edited in place: it is found again by a hidden line and our own account. A missing issue would be a 500. */
export const commentOnce = defineAction({
  name: 'issue.comment',
  summary: 'Comment on an issue or pull request once; edit the comment when the text changes',
  target: 'repository',
  params: {
    number: id({ summary: 'number of the issue or pull request' }),
    key: text({
      summary: 'identifies the comment, such as stale; one comment per key',
      max: 100,
      check: (key) => (key.trim() === '' ? 'must not be empty' : null),
    }),
    body: markdown({
      summary: 'text; the bot escapes texts of events and lookups in it',
      check: (body) => (body.trim() === '' ? 'must not be empty' : null),
    }),
    keep: optional(flag({ summary: 'leave the text of an existing comment alone' })),
  },
  operations: ['createComment', 'updateComment', 'listComments', 'getIssue', 'getSelf'],
  whereOffered: [],
  right: RIGHTS.tracker,
  naturalKey: 'key',
  keyOf: ({ number, key }) => `${textOf(number)} ${textOf(key)}`,
  overwrites: true,
  raises: ['comment.created', 'comment.edited'],
  example: { number: '12', key: 'stale', body: 'Nothing happened here for 60 days.' },

  recover: issueCommentRecovery,

  async ensure({ target, forge, remember }, { number, key, body, keep }) {
    const place = { owner: target.owner, repo: target.name };
    const issue = await orMissing(forge.getIssue({ ...place, index: number }));
    if (issue === null) return refused(`there is no issue or pull request #${number}`);
    const self = await forge.getSelf({});
    const [ours] = markedComments(await forge.listComments({ ...place, index: number }), key, self.id);
    const goal = bodyWithMark(body, key);
    if (!ours?.id) {
      remember({ id: null });
      const made = await forge.createComment({ ...place, index: number, body: { body: goal } });
      return changed(`commented on #${number} (${key})`, { objectId: made.id });
    }
    if (keep === true || isSameText(ours.body, goal)) return unchanged(`#${number} has the comment ${key}`);
    remember({ id: ours.id });
    await forge.updateComment({ ...place, id: ours.id, body: { body: goal } });
    return changed(`comment ${key} on #${number} edited`, { objectId: ours.id });
  },
});
