import { defineAction, textOf, changed, refused, unchanged } from './define-action.js';
import { flag, id, markdown, optional, text } from './support/params.js';
import {
  askPerson,
  defineRecovery,
  done,
  placeOf,
  resend,
  settledAs,
  type RecoveryFacts,
  type Surplus,
  type Verdict,
} from './support/recovery.js';
import { isSameText } from './support/compare.js';
import { orMissing, whereOffered } from '../forge/forge-client.js';
import { hashOf } from '../core/ids.js';
import type { Comment } from '../core/objects/tracker.js';
import { RIGHTS } from '../core/rights.js';

interface WantedComment {
  readonly number: string;
  readonly key: string;
  readonly body: string;
}

interface SeenComments {
  /** Ours of this key, oldest first; null = the issue is gone. */
  readonly ours: ReadonlyArray<{ readonly id: string; readonly isSame: boolean }> | null;
}

/** A forge takes the same comment any number of times; our mark and our account tell ours. */
const issueCommentRecovery = defineRecovery<WantedComment, SeenComments>({
  reads: ['listComments', 'getSelf'],
  mayRead: [],
  settle: 'whole',

  async read({ forge, target }, { number, key, body }) {
    const self = await whereOffered(forge.getSelf, (get) => get({}));
    const all = await whereOffered(forge.listComments, (list) =>
      orMissing(list({ ...placeOf(target), index: number })),
    );
    if (self === undefined || all === undefined) return null;
    if (all === null) return { ours: null };
    const text = bodyWithMark(body, key);
    return {
      ours: markedComments(all, key, self.id).map((comment) => ({
        id: comment.id ?? '',
        isSame: isSameText(comment.body, text),
      })),
    };
  },

  decide: decideComment,

  sweep: {
    removal: 'deleteComment',
    decide: ({ wanted, seen }): Surplus => {
      const younger = (seen.ours ?? []).slice(1);
      if (younger.length === 0) return { is: 'fine' };
      return {
        is: 'remove',
        reason: `${younger.length + 1} comments ${wanted.key} of ours on #${wanted.number}: the oldest stays`,
        ids: younger.map(({ id }) => id),
      };
    },
    remove: async ({ forge, target }, id) => forge.deleteComment?.({ ...placeOf(target), id }),
  },
});

function decideComment({ wanted: { number, key }, seen }: RecoveryFacts<WantedComment, SeenComments>): Verdict {
  if (seen === null) return askPerson(`comments of #${number} cannot be read, and the forge would take a second one`);
  if (seen.ours === null) return settledAs('refused', `#${number} is not there any more`);
  const [oldest] = seen.ours;
  if (!oldest) return resend(`#${number} has no comment ${key} of ours`);
  return oldest.isSame
    ? done(`#${number} has the comment ${key}`, { objectId: oldest.id })
    : resend(`the comment ${key} on #${number} has the text of before`);
}

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

/**
 * The line by which a comment of ours is found again. Comments of people cannot pass for it: whose account wrote it is asked too, and text
 * of events that reaches a comment is escaped, so it holds no HTML comment.
 * @param key what the rule calls it
 */
function hiddenMark(key: string): string {
  return `<!-- forgehand:${hashOf('comment', key).slice(0, 16)} -->`;
}

/** The text as it is stored: what the rule says, then the mark in a block of its own. */
function bodyWithMark(body: string, key: string): string {
  return `${body.replace(/\r\n?/g, '\n').trimEnd()}\n\n${hiddenMark(key)}`;
}

/** Our comments of this key, oldest first. */
function markedComments(comments: readonly Comment[], key: string, account: string | null | undefined): Comment[] {
  const mark = hiddenMark(key);
  return comments
    .filter(
      (comment) =>
        account &&
        comment.user?.id === account &&
        (comment.body ?? '').replace(/\r\n?/g, '\n').trimEnd().endsWith(`\n\n${mark}`),
    )
    .sort((a, b) => Number(BigInt(a.id ?? '0') - BigInt(b.id ?? '0')));
}
