import { bodyWithMark, markedComments } from './support/hidden-mark.js';
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
import { isSameText } from './support/same.js';
import { orMissing, whereOffered } from './support/where-offered.js';

export interface WantedComment {
  readonly number: string;
  readonly key: string;
  readonly body: string;
}

export interface SeenComments {
  /** Ours of this key, oldest first; null = the issue is gone. */
  readonly ours: ReadonlyArray<{ readonly id: string; readonly isSame: boolean }> | null;
}

/** A forge takes the same comment any number of times; our mark and our account tell ours. */
export const issueCommentRecovery = defineRecovery<WantedComment, SeenComments>({
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
