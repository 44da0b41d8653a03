import { defineAction, textOf, changed, refused, unchanged } from './define-action.js';
import { say } from './reasons.js';
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
import { isAbout, isSameText } from './support/compare.js';
import { issue } from './support/objects.js';
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
  told: {
    echoes: ['comment.created', 'comment.edited'],
    // The row of the feed may have cut off the mark.
    isEcho: ({ data }, { params, snapshot, objectId }) => {
      const comment = (data['comment'] ?? {}) as Comment;
      const isKnown = [objectId, snapshot?.['id']].some((id) => textOf(id) !== '' && textOf(id) === comment.id);
      return isAbout(data, params) && (isKnown || hasMark(comment, textOf(params['key'])));
    },
  },

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
        reason: say('doubled.removed', { what: 'comment', name: wanted.key, count: younger.length + 1 }),
        ids: younger.map(({ id }) => id),
      };
    },
    remove: async ({ forge, target }, id) => forge.deleteComment?.({ ...placeOf(target), id }),
  },
});

function decideComment({ wanted: { number, key }, seen }: RecoveryFacts<WantedComment, SeenComments>): Verdict {
  if (seen === null) return askPerson(say('found.unreadable', { what: 'comments', number, then: 'doubled' }));
  if (seen.ours === null) return settledAs('refused', say('found.gone', { what: 'issue', number }));
  const [oldest] = seen.ours;
  if (!oldest) return resend(say('found.absent', { what: 'comment', name: key }));
  return oldest.isSame
    ? done(say('found.comment', { number, key }), { objectId: oldest.id })
    : resend(say('found.not-yet', { what: 'comment', name: key }));
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
  itemBy: ['number', 'key'],
  keyOf: ({ number, key }) => `${textOf(number)} ${textOf(key)}`,
  object: ({ number }) => issue(number),
  names: () => [],
  overwrites: true,
  raises: ['comment.created', 'comment.edited'],
  example: { number: '12', key: 'stale', body: 'Nothing happened here for 60 days.' },

  recover: issueCommentRecovery,

  async ensure({ target, forge, remember }, { number, key, body, keep }) {
    const place = { owner: target.owner, repo: target.name };
    const issue = await orMissing(forge.getIssue({ ...place, index: number }));
    if (issue === null) return refused(say('cannot.missing', { what: 'issue or pull request', number }));
    const self = await forge.getSelf({});
    const [ours] = markedComments(await forge.listComments({ ...place, index: number }), key, self.id);
    const goal = bodyWithMark(body, key);
    if (!ours?.id) {
      remember({ id: null });
      const made = await forge.createComment({ ...place, index: number, body: { body: goal } });
      return changed(say('made.comment', { number, key, edited: false }), { objectId: made.id });
    }
    if (keep === true || isSameText(ours.body, goal)) return unchanged(say('found.comment', { number, key }));
    remember({ id: ours.id });
    await forge.updateComment({ ...place, id: ours.id, body: { body: goal } });
    return changed(say('made.comment', { number, key, edited: true }), { objectId: ours.id });
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

function hasMark({ body }: Comment, key: string): boolean {
  return (body ?? '')
    .replace(/\r\n?/g, '\n')
    .trimEnd()
    .endsWith(`\n\n${hiddenMark(key)}`);
}

/** Our comments of this key, oldest first. */
function markedComments(comments: readonly Comment[], key: string, account: string | null | undefined): Comment[] {
  return comments
    .filter((comment) => account && comment.user?.id === account && hasMark(comment, key))
    .sort((a, b) => Number(BigInt(a.id ?? '0') - BigInt(b.id ?? '0')));
}
