import type { Unfit } from '../rules/language/catalogue.js';
import type { WrittenParams } from './define-action.js';
import { defineAction, textOf, changed, conflict, refused, there, toWrite } from './define-action.js';
import { flag, optional, secret, text, type ParamsOf } from './support/params.js';
import { readAll } from '../forge/forge-client.js';
import { idsIn } from './support/recovery.js';
import { goDurationMs, normalizeMirrorAddress } from './support/compare.js';
import { nameToResolve, refuseMirrorTarget } from './support/mirror-target.js';
import { say } from './reasons.js';
import { mirror } from './support/objects.js';
import type { PushMirror } from '../core/objects/repositories.js';
import { isOfTheMachine } from '../core/address-range.js';
import { RIGHTS } from '../core/rights.js';

/** Servers refuse an empty interval (op 7). */
const DEFAULT_INTERVAL = '8h';

const params = {
  remote_address: text('https address of the mirror, on a host of orgs[].mirror_hosts', { max: 2048 }),
  remote_username: optional(text('user at the mirror')),
  remote_password: optional(secret('password at the mirror, as ${{ secrets.NAME }}')),
  interval: optional(
    text(`how often, as 8h or 30m; ${DEFAULT_INTERVAL} when left out`, {
      example: DEFAULT_INTERVAL,
      check: (value) => (goDurationMs(value) === null ? 'must be a duration such as 8h, 30m or 0' : null),
    }),
  ),
  sync_on_commit: optional(flag('push to the mirror on every commit')),
  private: optional(flag('true: the repository may be private, and its contents leave the forge')),
};

/**
 * Servers make a second mirror of the same address without a word, each under a random name, and nothing edits one; the address they tell has no
 * credentials. After a lost answer those that were not there before are ours, and a row may vanish again.
 */
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
  object: ({ remote_address }) => mirror(normalizeMirrorAddress(textOf(remote_address))),
  names: () => [],
  unfit,
  raises: [],
  example: { remote_address: 'https://mirror.example.org/acme/app.git', interval: '8h', sync_on_commit: true },
  about: ({ remote_address }) => ({ what: 'mirror', name: normalizeMirrorAddress(remote_address) }),

  async look({ target, forge, place, call, recall, hashOf, addressesOf }, wanted) {
    const { remote_address: address, remote_password: password } = wanted;
    // The forge never tells a password, so only what we sent ourselves can be compared.
    const hash = call ? call.snapshot?.['password_hash'] : password && hashOf(password);
    const detail = typeof hash === 'string' ? { password_hash: hash } : {};
    const host = call ? null : nameToResolve(address);
    const leadsInside = host !== null && (await addressesOf(host)).some(isOfTheMachine) ? host : null;
    const mayRead = call !== null || wanted.private === true || target.private === false;
    const all = leadsInside === null && mayRead ? await readAll(forge, 'listPushMirrors', place) : [];
    const mirrors = all.filter(
      (one) => normalizeMirrorAddress(one.remote_address ?? '') === normalizeMirrorAddress(address),
    );
    const sentBefore = mirrors.length > 0 ? (await recall())?.detail['password_hash'] : undefined;
    const isOtherPassword = sentBefore !== undefined && sentBefore !== hash;
    return { leadsInside, mirrors, detail, isOtherPassword };
  },

  compare({ wanted, seen: { leadsInside, mirrors, detail, isOtherPassword }, target, call }) {
    const about = { what: 'mirror', name: normalizeMirrorAddress(wanted.remote_address) };
    if (leadsInside !== null) return refused(say('cannot.mirror', { why: 'leads-inside', host: leadsInside }));
    if (!call && wanted.private !== true && target.private !== false)
      return refused(say('cannot.mirror', { why: target.private ? 'private-repository' : 'unknown-visibility' }));
    const fresh = mirrors.filter(({ remote_name: name }) => !idsIn(call?.snapshot).has(name ?? ''));
    if (fresh.length === 0) return toWrite(detail, { makes: true, remember: { ids: [], ...detail } });
    const fitting = fresh.find((one) => mirrorDifference(one, wanted) === '');
    const differs = [
      fitting ? '' : mirrorDifference(fresh[0] ?? {}, wanted),
      isOtherPassword ? 'remote_password' : '',
    ].filter((field) => field !== '');
    if (differs.length > 0)
      return conflict(
        say('found.other', { ...about, count: fresh.length, differs: differs.join(', '), stays: 'mirror-cannot' }),
      );
    const name = call && fitting?.remote_name ? { remote_name: fitting.remote_name } : {};
    return there(say('found.there', { ...about, count: fresh.length }), {
      detail: { ...detail, ...name },
      isSure: false,
    });
  },

  async write({ forge, place }, { private: _, interval = DEFAULT_INTERVAL, ...body }, detail) {
    const made = await forge.createPushMirror({ ...place, body: { ...body, interval } });
    return changed(say('made.created', { what: 'mirror', name: normalizeMirrorAddress(body.remote_address) }), {
      detail: { ...detail, ...(made.remote_name ? { remote_name: made.remote_name } : {}) },
    });
  },

  recover: {
    duplicates: {
      removal: 'deletePushMirror',
      // Mirrors bear no mark, so an extra one is never taken away by itself.
      list: ({ mirrors }) => mirrors.map(({ remote_name: name }) => ({ id: name ?? '', isRemovable: false })),
    },
  },
});

/** Names of the fields that differ; empty = it is as wanted. */
function mirrorDifference(
  mirror: PushMirror,
  { interval, sync_on_commit }: Pick<ParamsOf<typeof params>, 'interval' | 'sync_on_commit'>,
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

/** At load the host must be certain: which path follows is told by the run. */
function unfit(inputs: WrittenParams, { mirrorHosts }: { readonly mirrorHosts?: readonly string[] }): Unfit | null {
  const address = inputs['remote_address'];
  if (address === undefined) return null;
  const isWhole = 'value' in address;
  const text = isWhole ? String(address.value) : address.prefix;
  if (!isWhole && text === '') return null;
  const at = { param: 'remote_address', isValue: true } as const;
  const [, scheme, host] = /^([a-z][a-z0-9+.-]*):\/\/([^/]+)\//i.exec(text) ?? [];
  if (!isWhole && host === undefined)
    return {
      ...at,
      reason: say('params.unknown-host'),
      hint: 'write the host out: https://HOST/${{ … }}',
    };
  // Where the list is not known, the host is taken as listed, as an operator would have to write it.
  const asListed = scheme?.toLowerCase() === 'http' ? `http://${host}` : (host ?? 'mirror.invalid');
  const hosts = mirrorHosts ?? [asListed];
  // A listed path is for the run to compare where only the beginning is known.
  const reason = refuseMirrorTarget(
    isWhole ? text : `${text}x`,
    isWhole ? hosts : hosts.map((entry) => /^(?:http:\/\/)?[^/]*/.exec(entry)?.[0] ?? entry),
  );
  if (reason === null) return null;
  const isUnlisted = mirrorHosts?.length === 0;
  return {
    ...at,
    reason,
    hint: 'https://HOST/PATH, on a host of orgs[].mirror_hosts in the operator’s config',
    ...(isUnlisted ? { isWarning: true as const } : {}),
  };
}
