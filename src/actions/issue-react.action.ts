import { defineAction, textOf, changed, refused, there, toWrite } from './define-action.js';
import { say } from './reasons.js';
import { choice, id, optional } from './support/params.js';
import { issue } from './support/objects.js';
import { orMissing, readAll } from '../forge/forge-client.js';
import { RIGHTS } from '../core/rights.js';

/** What servers know; a reaction beyond these is refused. */
const REACTIONS = ['+1', '-1', 'laugh', 'hooray', 'confused', 'heart', 'rocket', 'eyes'] as const;

/** A reaction is told to nobody: no delivery, no feed row. A forge answers a second one of one account with the first, so sending it again does no harm. */
export const reactToIssue = defineAction({
  name: 'issue.react',
  summary: 'React to a comment, an issue or a pull request with an emoji',
  target: 'repository',
  params: {
    number: id('number of the issue or pull request'),
    comment: optional(id('number of one of its comments. Default: the issue itself')),
    reaction: choice(REACTIONS.join(', '), { words: REACTIONS }),
  },
  operations: ['addCommentReaction', 'addIssueReaction', 'listCommentReactions', 'listIssueReactions', 'getSelf'],
  whereOffered: [],
  right: RIGHTS.tracker,
  naturalKey: 'reaction',
  itemBy: ['number', 'comment', 'reaction'],
  keyOf: ({ number, comment, reaction }) => `${textOf(number)} ${textOf(comment)} ${textOf(reaction)}`,
  object: ({ number }) => issue(number),
  names: () => [],
  raises: [],
  example: { number: '12', comment: '345', reaction: 'eyes' },
  about: ({ number }) => ({ what: 'reactions', number }),

  async look({ forge, place }, { number, comment, reaction }) {
    const self = await forge.getSelf({});
    const reactions = await orMissing(
      comment === undefined
        ? readAll(forge, 'listIssueReactions', { ...place, index: number })
        : forge.listCommentReactions({ ...place, id: comment }),
    );
    const isOurs = reactions?.some(({ user, content }) => self.id && user?.id === self.id && content === reaction);
    return { isThere: reactions !== null, isOurs: isOurs ?? false };
  },

  compare({ wanted, seen: { isThere, isOurs } }) {
    if (!isThere) return refused(say('cannot.react', wanted));
    if (isOurs) return there(say('found.reaction', wanted));
    return toWrite(null, { remember: { reaction: wanted.reaction } });
  },

  async write({ forge, place }, wanted) {
    const { number, comment, reaction } = wanted;
    const body = { content: reaction };
    if (comment === undefined) await forge.addIssueReaction({ ...place, index: number, body });
    else await forge.addCommentReaction({ ...place, id: comment, body });
    return changed(say('made.reaction', wanted));
  },

  recover: { unread: 'harmless' },
});
