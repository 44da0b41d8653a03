import { defineAction, textOf, changed, refused, there, toWrite, unchanged } from './define-action.js';
import { say } from './reasons.js';
import { flag, id, markdown, optional, text } from './support/params.js';
import { placeOf } from './support/recovery.js';
import { isAbout, isSameText } from './support/compare.js';
import { issue } from './support/objects.js';
import { idsOf } from './support/same-name.js';
import { orMissing } from '../forge/forge-client.js';
import { hashOf } from '../core/ids.js';
import type { Comment } from '../core/objects/tracker.js';
import { RIGHTS } from '../core/rights.js';

/**
 * A forge takes the same comment any number of times, so there is one per key, edited in place: a hidden line and our own account tell it from others. A
 * missing issue would be a 500.
 */
export const commentOnce = defineAction({
  name: 'issue.comment',
  summary: 'Comment on an issue or pull request once; edit the comment when the text changes',
  target: 'repository',
  params: {
    number: id('number of the issue or pull request'),
    key: text('identifies the comment, such as stale; one comment per key', {
      max: 100,
      check: (key) => (key.trim() === '' ? 'must not be empty' : null),
    }),
    body: markdown('text; the bot escapes texts of events and lookups in it', {
      check: (body) => (body.trim() === '' ? 'must not be empty' : null),
    }),
    keep: optional(flag('leave the text of an existing comment alone')),
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

  about: ({ key }) => ({ what: 'comment', name: key }),

  async look({ forge, place }, { number, key }) {
    const issue = await orMissing(forge.getIssue({ ...place, index: number }));
    if (issue === null) return { ours: null };
    const self = await forge.getSelf({});
    return { ours: markedComments(await forge.listComments({ ...place, index: number }), key, self.id) };
  },

  compare({ wanted: { number, key, body, keep }, seen: { ours } }) {
    if (ours === null) return refused(say('cannot.missing', { what: 'issue or pull request', number }));
    const [oldest] = ours;
    const id = oldest?.id ?? null;
    if (oldest && isSameText(oldest.body, bodyWithMark(body, key)))
      return there(say('found.comment', { number, key }), { ids: idsOf([oldest]) });
    if (oldest && keep === true) return unchanged(say('found.comment', { number, key }));
    return toWrite(id, { remember: { id } });
  },

  async write({ forge, place }, { number, key, body: text }, id) {
    const body = { body: bodyWithMark(text, key) };
    const made =
      id === null
        ? await forge.createComment({ ...place, index: number, body })
        : await forge.updateComment({ ...place, id, body });
    return changed(say('made.comment', { number, key, edited: id !== null }), { objectId: id ?? made?.id });
  },

  recover: {
    unread: 'doubled',
    matcher: {
      echoes: ['comment.created', 'comment.edited'],
      // The row of the feed may have cut off the mark.
      isEcho: ({ data }, { params, snapshot, objectId }) => {
        const comment = (data['comment'] ?? {}) as Comment;
        const isKnown = [objectId, snapshot?.['id']].some((id) => textOf(id) !== '' && textOf(id) === comment.id);
        return isAbout(data, params) && (isKnown || hasMark(comment, textOf(params['key'])));
      },
    },
    duplicates: {
      removal: 'deleteComment',
      list: ({ ours }) => (ours ?? []).map(({ id }) => ({ id: id ?? '', isRemovable: true })),
      remove: async ({ forge, target }, id) => forge.deleteComment?.({ ...placeOf(target), id }),
    },
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
