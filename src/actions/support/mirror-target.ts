import { isIP } from 'node:net';
import type { Reason } from '../../core/reason.js';
import { say, type NoMirror } from '../reasons.js';

/** Why an address may not be used. `host`: where that says more. */
export interface AddressFault {
  readonly why: NoMirror;
  readonly host?: string;
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

export function refuseMirrorTarget(address: string, mirrorHosts: readonly string[]): Reason | null {
  const fault = faultOfAddress(address, mirrorHosts);
  return fault && say('cannot.mirror', fault);
}

/**
 * Whether rules may have something sent to this address: https on a host that the operator listed, without user info. A raw address or a name that only
 * means something inside a network must be listed itself, in the one spelling of a URL; plain http where the entry begins with it. Whoever connects may do
 * so later and by itself, so the check is on the text, and anything that two URL parsers could read differently is refused.
 * @param hosts entries `host`, `host:port` or the same behind `http://`, each with a path prefix or without; empty = nowhere. A prefix matches
 * whole segments, in the case in which it is written, and at least one segment must follow it
 * @returns null when it may be used, else why not; the reason never repeats user info
 */
export function faultOfAddress(address: string, hosts: readonly string[]): AddressFault | null {
  if (hosts.length === 0) return { why: 'no-hosts' };
  const parts = readAddress(address);
  if (typeof parts === 'string') return { why: parts };
  const origin = originOf(parts.scheme, parts.port === '' ? parts.host : `${parts.host}:${parts.port}`);
  const ofHost = hosts.map(readEntry).filter((entry) => entry.origin === origin);
  if (parts.scheme !== 'https' && (parts.scheme !== 'http' || ofHost.length === 0)) return { why: 'scheme' };
  const why = refuseHostName(parts.host, ofHost.length > 0);
  if (why) return { why };
  if (ofHost.length === 0) return { why: 'unlisted', host: parts.host };
  return ofHost.some(({ prefix }) => isBelow(parts.path, prefix)) ? null : { why: 'unlisted-path', host: parts.host };
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
