import type { Unfit } from '../rules/language/revision.js';
import type { Given } from './define-action.js';
import { isIP } from 'node:net';
import { defineAction, textOf, changed, conflict, refused, there, toWrite } from './define-action.js';
import { flag, optional, secret, text, type ParamsOf } from './support/params.js';
import { readAll } from '../forge/forge-client.js';
import { idsIn } from './support/recovery.js';
import { goDurationMs, normalizeMirrorAddress } from './support/compare.js';
import { say, type NoMirror } from './reasons.js';
import { mirror } from './support/objects.js';
import type { Reason } from '../core/reason.js';
import type { PushMirror } from '../core/objects/repositories.js';
import { isOfTheMachine } from '../core/address-range.js';
import { RIGHTS } from '../core/rights.js';

/** Servers refuse an empty interval (op 7). */
const DEFAULT_INTERVAL = '8h';

const params = {
  remote_address: text({ summary: 'https address of the mirror, on a host of orgs[].mirror_hosts', max: 2048 }),
  remote_username: optional(text({ summary: 'user at the mirror' })),
  remote_password: optional(secret({ summary: 'password at the mirror, as ${{ secrets.NAME }}' })),
  interval: optional(
    text({
      summary: `how often, as 8h or 30m; ${DEFAULT_INTERVAL} when left out`,
      example: DEFAULT_INTERVAL,
      check: (value) => (goDurationMs(value) === null ? 'must be a duration such as 8h, 30m or 0' : null),
    }),
  ),
  sync_on_commit: optional(flag({ summary: 'push to the mirror on every commit' })),
  private: optional(flag({ summary: 'true: the repository may be private, and its contents leave the forge' })),
};

/**
 * Servers make a second mirror of the same address without a word, each under a random name, and nothing edits one; the address they tell has no
 * credentials. After a lost answer those that were not there before are ours, and a row may vanish again (reliability F3).
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
function unfit(given: Given, { mirrorHosts }: { readonly mirrorHosts?: readonly string[] }): Unfit | null {
  const address = given['remote_address'];
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

const MAX_LENGTH = 2048;
/** Names that only mean something inside a network. */
const PRIVATE_SUFFIXES = [
  'localhost',
  'local',
  'internal',
  'intranet',
  'lan',
  'home',
  'corp',
  'private',
  'home.arpa',
  'test',
  'invalid',
  'onion',
];

/** Names that lead to the machine itself or to a cloud's metadata, whoever resolves them: no list allows them. */
const NEVER = /(^|\.)localhost$|^(metadata|instance-data)(\.|$)/;

/**
 * Whether a repository may be mirrored to this address: https on a host that the operator listed, without user info. A raw address or a name that only
 * means something inside a network must be listed itself, in the one spelling of a URL; plain http where the entry begins with it. The forge connects
 * later and by itself, so the check is on the text, and anything that two URL parsers could read differently is refused.
 * @param mirrorHosts entries `host`, `host:port` or the same behind `http://`, each with a path prefix or without; empty = no mirror at all. A prefix matches
 * whole segments, in the case in which it is written, and at least one segment must follow it
 * @returns null when it may be used, else why not; the reason never repeats user info
 */
export function refuseMirrorTarget(address: string, mirrorHosts: readonly string[]): Reason | null {
  if (mirrorHosts.length === 0) return say('cannot.mirror', { why: 'no-hosts' });
  const parts = readAddress(address);
  if (typeof parts === 'string') return say('cannot.mirror', { why: parts });
  const origin = originOf(parts.scheme, parts.port === '' ? parts.host : `${parts.host}:${parts.port}`);
  const ofHost = mirrorHosts.map(readEntry).filter((entry) => entry.origin === origin);
  if (parts.scheme !== 'https' && (parts.scheme !== 'http' || ofHost.length === 0))
    return say('cannot.mirror', { why: 'scheme' });
  const why = refuseHostName(parts.host, ofHost.length > 0);
  if (why) return say('cannot.mirror', { why });
  if (ofHost.length === 0) return say('cannot.mirror', { why: 'unlisted', host: parts.host });
  return ofHost.some(({ prefix }) => isBelow(parts.path, prefix))
    ? null
    : say('cannot.mirror', { why: 'unlisted-path', host: parts.host });
}

/** The name that must be resolved before the repository is mirrored there; null = the address has none. */
export function nameToResolve(address: string): string | null {
  const parts = readAddress(address);
  return typeof parts === 'string' || isAddress(parts.host) ? null : parts.host;
}

/** An entry of the list: what stands before the path, and the segments of the prefix. */
function readEntry(entry: string): { origin: string; prefix: string[] } {
  const [, http, host = '', path = ''] = /^(http:\/\/)?([^/]*)(.*)$/.exec(entry) ?? [];
  const scheme = http === undefined ? 'https' : 'http';
  return { origin: originOf(scheme, host), prefix: path.split('/').filter((segment) => segment !== '') };
}

function originOf(scheme: string, host: string): string {
  return `${scheme}://${host.toLowerCase().replace(scheme === 'https' ? /:443$/ : /:80$/, '')}`;
}

/** Segment by segment, so that `/acme` is no prefix of `/acme-others`. Escapes are compared as written: another spelling of a listed path is not listed. */
function isBelow(path: string, prefix: readonly string[]): boolean {
  const segments = path.split('/').slice(1);
  return (
    prefix.every((segment, n) => segments[n] === segment) &&
    (prefix.length === 0 || (segments[prefix.length] ?? '') !== '')
  );
}

interface AddressParts {
  scheme: string;
  /** Lower case, ASCII. */
  host: string;
  port: string;
  path: string;
}

/** Parts of `scheme://host[:port]/path`, or the reason why it is refused. */
function readAddress(address: string): AddressParts | NoMirror {
  if (address.length > MAX_LENGTH) return 'too-long';
  // Graphic ASCII only: other signs are read as dots, slashes or nothing by some parsers.
  if (!/^[\x21-\x7e]+$/.test(address)) return 'characters';
  const match = /^([a-z][a-z0-9+.-]*):\/\/([^/?#\\]*)([^?#\\]*)$/i.exec(address);
  if (!match) return 'form';
  const [, scheme = '', authority = '', path = ''] = match;
  if (authority.includes('@')) return 'user-info';
  if (!/^\/[^/]/.test(path) || path.includes('//')) return 'no-path';
  if (/%(2e|2f|5c|00|0a|0d|25)/i.test(path) || path.split('/').some((segment) => /^\.\.?(;.*)?$/.test(segment))) {
    return 'dots';
  }
  const hostAndPort = /^(\[[^\]]*\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(authority);
  if (!hostAndPort) return 'no-host';
  const [, host = '', port = ''] = hostAndPort;
  if (port !== '' && (Number(port) < 1 || Number(port) > 65535 || port.startsWith('0'))) return 'port';
  return { scheme: scheme.toLowerCase(), host: host.toLowerCase(), port, path };
}

/** An IP address as a URL has it. Other spellings of it are none. */
function isAddress(host: string): boolean {
  const [, v6] = /^\[(.*)\]$/.exec(host) ?? [];
  return v6 === undefined ? isIP(host) === 4 : isIP(v6) === 6;
}

/** Raw addresses and private names that are not listed, and names that are none. */
function refuseHostName(host: string, isListed: boolean): NoMirror | null {
  if (isAddress(host)) return isListed ? null : 'raw-address';
  const labels = host.split('.');
  const last = labels.at(-1) ?? '';
  // A last label of digits, or 0x…, makes URL parsers read the whole as an IPv4 address (decimal, octal, hex, short forms).
  if (host.startsWith('[') || /^(\d+|0x[0-9a-f]*)$/.test(last)) return 'raw-address';
  if (last === '') return 'ends-in-dot';
  if (!labels.every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label)) || host.length > 253)
    return 'no-name';
  if (NEVER.test(host)) return 'never';
  const isPrivate =
    labels.length < 2 || PRIVATE_SUFFIXES.some((suffix) => host === suffix || host.endsWith(`.${suffix}`));
  return isPrivate && !isListed ? 'private-name' : null;
}
