import { defineEnsuringAction, textOf, changed, refused, unchanged } from './define-action.js';
import { say } from './reasons.js';
import { choice, id, optional } from './support/params.js';
import { defineRecovery, done, placeOf, resend, type RecoveryFacts, type Verdict } from './support/recovery.js';
import { issue } from './support/objects.js';
import { orMissing, readAll, whereOffered } from '../forge/forge-client.js';
import type { Reaction } from '../core/objects/tracker.js';
import { RIGHTS } from '../core/rights.js';

interface WantedReaction {
  readonly number: string;
  readonly comment?: string | undefined;
  readonly reaction: string;
}

interface SeenReaction {
  readonly isThere: boolean;
}

/** What servers know; a reaction beyond these is refused. */
const REACTIONS = ['+1', '-1', 'laugh', 'hooray', 'confused', 'heart', 'rocket', 'eyes'] as const;

/** A forge answers a second reaction of one account with the first: making the call again does no harm. */
const reactionRecovery = defineRecovery<WantedReaction, SeenReaction>({
  reads: ['listIssueReactions', 'listCommentReactions', 'getSelf'],
  mayRead: [],
  settle: 'whole',

  async read({ forge, target }, { number, comment, reaction }) {
    const self = await whereOffered(forge.getSelf, (get) => get({}));
    const all =
      comment === undefined
        ? await whereOffered(forge.listIssueReactions, () =>
            orMissing(readAll(forge, 'listIssueReactions', { ...placeOf(target), index: number })),
          )
        : await whereOffered(forge.listCommentReactions, (list) =>
            orMissing(list({ ...placeOf(target), id: comment })),
          );
    if (self === undefined || all === undefined) return null;
    return { isThere: isOurs(all ?? [], reaction, self.id) };
  },

  decide: decideReaction,
});

function decideReaction({ wanted, seen }: RecoveryFacts<WantedReaction, SeenReaction>): Verdict {
  if (seen === null)
    return resend(say('found.unreadable', { what: 'reactions', number: wanted.number, then: 'harmless' }));
  return seen.isThere ? done(say('found.reaction', wanted)) : resend(say('found.no-reaction', wanted));
}

/** A reaction is told to nobody: no delivery, no feed row. */
export const reactToIssue = defineEnsuringAction({
  name: 'issue.react',
  summary: 'React to a comment, an issue or a pull request with an emoji',
  target: 'repository',
  params: {
    number: id({ summary: 'number of the issue or pull request' }),
    comment: optional(id({ summary: 'number of one of its comments. Default: the issue itself' })),
    reaction: choice({ summary: REACTIONS.join(', '), words: REACTIONS }),
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

  recover: reactionRecovery,

  async ensure({ target, forge, remember }, wanted) {
    const { number, comment, reaction } = wanted;
    const place = { owner: target.owner, repo: target.name };
    const self = await forge.getSelf({});
    const all = await orMissing(
      comment === undefined
        ? readAll(forge, 'listIssueReactions', { ...place, index: number })
        : forge.listCommentReactions({ ...place, id: comment }),
    );
    if (all === null) return refused(say('cannot.react', wanted));
    if (isOurs(all, reaction, self.id)) return unchanged(say('found.reaction', wanted));
    remember({ reaction });
    const body = { content: reaction };
    if (comment === undefined) await forge.addIssueReaction({ ...place, index: number, body });
    else await forge.addCommentReaction({ ...place, id: comment, body });
    return changed(say('made.reaction', wanted));
  },
});

function isOurs(all: readonly Reaction[], content: string, account: string | null | undefined): boolean {
  return all.some((one) => account && one.user?.id === account && one.content === content);
}
