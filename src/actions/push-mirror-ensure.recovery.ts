import type { PushMirror } from '../core/objects/repositories.js';
import {
  askPerson,
  defineRecovery,
  done,
  idsIn,
  placeOf,
  resend,
  settledAs,
  type RecoveryFacts,
  type Surplus,
  type Verdict,
} from './support/recovery.js';
import { readAll } from './support/read-all.js';
import { goDurationMs, normalizeMirrorAddress } from './support/same.js';

export interface WantedMirror {
  readonly remote_address: string;
  readonly interval?: string | undefined;
  readonly sync_on_commit?: boolean | undefined;
}

export interface SeenMirrors {
  /** Mirrors to the wanted address. */
  readonly mirrors: readonly { readonly name: string; readonly difference: string }[];
}

/** No key: each call adds a mirror under a random name. Those that are there now and were not before are ours; a row may vanish again (reliability F3). */
export const pushMirrorRecovery = defineRecovery<WantedMirror, SeenMirrors>({
  reads: ['listPushMirrors'],
  mayRead: [],
  settle: 'whole',

  async read({ forge, target }, wanted) {
    const mirrors = await readAll(forge, 'listPushMirrors', placeOf(target));
    const same = mirrors.filter(
      (mirror) => normalizeMirrorAddress(mirror.remote_address ?? '') === normalizeMirrorAddress(wanted.remote_address),
    );
    return {
      mirrors: same.map((mirror) => ({ name: mirror.remote_name ?? '', difference: mirrorDifference(mirror, wanted) })),
    };
  },

  decide: decideMirror,

  sweep: {
    removal: 'deletePushMirror',
    decide: decideMirrorSurplus,
    remove: async ({ forge, target }, name) => forge.deletePushMirror?.({ ...placeOf(target), name }),
  },
});

export function decideMirror({ wanted, snapshot, seen }: RecoveryFacts<WantedMirror, SeenMirrors>): Verdict {
  const address = normalizeMirrorAddress(wanted.remote_address);
  // Op 19 belongs to the 20, and the action cannot do without it.
  if (seen === null) return askPerson('the mirrors cannot be listed');
  const known = idsIn(snapshot);
  const fresh = seen.mirrors.filter(({ name }) => !known.has(name));
  if (fresh.length === 0) return resend(`there is no mirror to ${address} that was not there before the call`);
  const ours = fresh.find(({ difference }) => difference === '');
  if (!ours)
    return settledAs(
      'conflict',
      `a mirror to ${address} with another ${fresh[0]?.difference ?? 'setting'} appeared meanwhile`,
    );
  const detail = { ...passwordIn(snapshot), ...(ours.name === '' ? {} : { remote_name: ours.name }) };
  return done(`mirror to ${address} is there since our call`, { sure: false, detail });
}

/** Mirrors bear no mark, so an extra one is never taken away by itself. */
export function decideMirrorSurplus({
  wanted,
  snapshot,
  seen,
}: {
  wanted: WantedMirror;
  snapshot: RecoveryFacts<WantedMirror, SeenMirrors>['snapshot'];
  seen: SeenMirrors;
}): Surplus {
  const known = idsIn(snapshot);
  const fresh = seen.mirrors.filter(({ name }) => !known.has(name));
  if (fresh.length < 2) return { is: 'fine' };
  return {
    is: 'alert',
    reason: `${fresh.length} mirrors to ${normalizeMirrorAddress(wanted.remote_address)} appeared (${fresh.map(({ name }) => name).join(', ')}): keep one, delete the others`,
  };
}

function passwordIn(snapshot: RecoveryFacts<WantedMirror, SeenMirrors>['snapshot']): { password_hash?: string } {
  const hash = snapshot?.['password_hash'];
  return typeof hash === 'string' ? { password_hash: hash } : {};
}

/** Names of the fields that differ; empty = it is as wanted. */
export function mirrorDifference(
  mirror: PushMirror,
  { interval, sync_on_commit }: Pick<WantedMirror, 'interval' | 'sync_on_commit'>,
): string {
  return [
    interval === undefined || goDurationMs(mirror.interval ?? '') === goDurationMs(interval)
      ? ''
      : `interval (${mirror.interval ?? 'none'})`,
    sync_on_commit === undefined || (mirror.sync_on_commit ?? false) === sync_on_commit ? '' : 'sync_on_commit',
  ]
    .filter((field) => field !== '')
    .join(', ');
}
