import { hashOf } from '../core/ids.js';
import {
  askPerson,
  defineRecovery,
  done,
  placeOf,
  resend,
  settledAs,
  type RecoveryFacts,
  type Verdict,
} from './support/recovery.js';
import { notesIn } from './support/release-notes.js';
import { orMissing, whereOffered } from './support/where-offered.js';

export interface SeenNotes {
  /** Null = there is no such release. */
  readonly id: string | null;
  /** Hash of what stands between our markers; null = nothing. */
  readonly notes: string | null;
}

/** What stands between our markers is ours alone: it is what was sent, or the next call writes it anew from what is there then. */
export const releaseNotesRecovery = defineRecovery<{ readonly tag: string }, SeenNotes>({
  reads: ['getReleaseByTag'],
  mayRead: [],
  settle: 'whole',

  async read({ forge, target }, { tag }) {
    const release = await whereOffered(forge.getReleaseByTag, (get) => orMissing(get({ ...placeOf(target), tag })));
    if (release === undefined) return null;
    const notes = notesIn(release?.body);
    return { id: release?.id ?? null, notes: notes === null ? null : hashOf(notes) };
  },

  decide: decideNotes,
});

function decideNotes({ wanted: { tag }, snapshot, seen }: RecoveryFacts<{ readonly tag: string }, SeenNotes>): Verdict {
  if (seen === null)
    return askPerson(`the notes of ${tag} cannot be read, and changing them once more would tell people twice`);
  if (seen.notes !== null && seen.notes === snapshot?.['notes'])
    return done(`notes of ${tag} are as wanted`, { objectId: seen.id });
  if (seen.id === null && snapshot?.['creates'] !== true)
    return settledAs('refused', `there is no release of ${tag} any more`);
  return resend(`the notes of ${tag} are not as wanted yet`);
}
