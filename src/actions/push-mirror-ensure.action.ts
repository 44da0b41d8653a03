import { RIGHTS } from '../core/rights.js';
import type { PushMirror } from '../core/objects/repositories.js';
import { defineAction, textOf } from './define-action.js';
import { mirrorDifference, pushMirrorRecovery } from './push-mirror-ensure.recovery.js';
import { refuseMirrorTarget } from './support/mirror-target.js';
import { changed, conflict, refused, unchanged } from './support/outcome.js';
import { flag, optional, secret, text, type ParamsOf } from './support/params.js';
import { readAll } from './support/read-all.js';
import { goDurationMs, normalizeMirrorAddress } from './support/same.js';

/** Servers refuse an empty interval (op 7). */
const DEFAULT_INTERVAL = '8h';

const params = {
  remote_address: text({ summary: 'https address of the mirror, on a host of orgs[].mirror_hosts', max: 2048 }),
  remote_username: optional(text({ summary: 'user at the mirror' })),
  remote_password: optional(secret({ summary: 'password at the mirror, as ${{ secrets.NAME }}' })),
  interval: optional(
    text({
      summary: `how often, as 8h or 30m; ${DEFAULT_INTERVAL} when left out`,
      check: (value) => (goDurationMs(value) === null ? 'must be a duration such as 8h, 30m or 0' : null),
    }),
  ),
  sync_on_commit: optional(flag({ summary: 'push to the mirror on every commit' })),
  private: optional(flag({ summary: 'true: the repository may be private, and its contents leave the forge' })),
};

/** Servers make a second mirror of the same address without a word, and nothing edits one; the address they tell has no credentials. */
export const ensurePushMirror = defineAction({
  name: 'push_mirror.ensure',
  summary: 'Make sure the repository is mirrored to an address',
  target: 'repository',
  params,
  operations: ['createPushMirror', 'listPushMirrors'],
  whereOffered: [],
  right: RIGHTS.repositoryAdmin,
  naturalKey: 'remote_address',
  keyOf: ({ remote_address }) => normalizeMirrorAddress(textOf(remote_address)),
  raises: [],
  example: { remote_address: 'https://mirror.example.org/acme/app.git', interval: '8h', sync_on_commit: true },

  recover: pushMirrorRecovery,

  async ensure({ target, forge, recall, remember, hashOf, mirrorHosts }, wanted) {
    const { remote_address: address } = wanted;
    const unfit = refuseMirrorTarget(address, mirrorHosts);
    if (unfit) return refused(`not mirrored: ${unfit}`);
    if (wanted.private !== true && target.private !== false) {
      return refused(
        target.private
          ? 'not mirrored: the repository is private (say private: true to allow it)'
          : 'not mirrored: it is not known whether the repository is private',
      );
    }
    const { owner, name: repo } = target;
    const mirrors = await readAll(forge, 'listPushMirrors', { owner, repo });
    const same = mirrors.filter(
      (mirror) => normalizeMirrorAddress(mirror.remote_address ?? '') === normalizeMirrorAddress(address),
    );
    // The forge never tells a password, so only what we sent ourselves can be compared.
    const detail = wanted.remote_password ? { password_hash: hashOf(wanted.remote_password) } : {};
    const sentBefore = same.length > 0 ? (await recall())?.detail['password_hash'] : undefined;
    if (same.length > 0) return compare(same, wanted, sentBefore !== undefined && sentBefore !== detail.password_hash);
    const { private: _, interval = DEFAULT_INTERVAL, ...body } = wanted;
    remember({ ids: [], ...detail });
    const made = await forge.createPushMirror({ owner, repo, body: { ...body, interval } });
    return changed(`mirror to ${normalizeMirrorAddress(address)} added`, {
      detail: { ...detail, ...(made.remote_name ? { remote_name: made.remote_name } : {}) },
    });

    function compare(there: readonly PushMirror[], wish: ParamsOf<typeof params>, isOtherPassword: boolean) {
      const differences = there.map((mirror) => mirrorDifference(mirror, wish));
      const others = there.length > 1 ? ` (${there.length} mirrors to this address)` : '';
      const best = differences.includes('') ? '' : differences[0];
      const different = [best, isOtherPassword ? 'remote_password' : ''].filter((field) => field !== '').join(', ');
      if (different === '') return unchanged(`mirror to ${normalizeMirrorAddress(address)} is there${others}`, detail);
      return conflict(
        `mirror to ${normalizeMirrorAddress(address)} is there with another ${different}${others}; forges cannot edit a mirror, delete it to have it made anew`,
      );
    }
  },
});
