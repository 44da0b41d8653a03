import { isIP } from 'node:net';

/** The only origin that may be plain http and raw: the operator wrote it out, for a forge on the same machine. */
const WRITTEN_OUT = /^http:\/\/127\.0\.0\.1:(\d{1,5})$/;
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

/**
 * Whether a repository may be mirrored to this address: https on a host that the operator listed, without user info, never a private
 * name or raw address, except for an origin that is written out in the list as `http://127.0.0.1:PORT`. The forge connects later and by
 * itself, so the check is on the text alone, and anything that two URL parsers could read differently is refused.
 * @param mirrorHosts entries `host`, `host:port` or `http://127.0.0.1:PORT`, each with a path prefix or without; empty = no mirror at all. A prefix matches whole
 * segments, in the case in which it is written, and at least one segment must follow it
 * @returns null when it may be used, else the reason, fit for people; the reason never repeats user info
 */
export function refuseMirrorTarget(address: string, mirrorHosts: readonly string[]): string | null {
  if (mirrorHosts.length === 0) return 'no mirror hosts are listed for this organization (orgs[].mirror_hosts)';
  const parts = readAddress(address);
  if (typeof parts === 'string') return parts;
  const entries = mirrorHosts.map(readEntry);
  const origin = `${parts.scheme}://${parts.host}:${parts.port}`;
  if (WRITTEN_OUT.test(origin) && entries.some((entry) => entry.host === origin && isBelow(parts.path, entry.prefix)))
    return null;
  if (parts.scheme !== 'https') return 'the address must begin with https://';
  const named = refuseHostName(parts.host);
  if (named) return named;
  const wanted = parts.port === '' || parts.port === '443' ? parts.host : `${parts.host}:${parts.port}`;
  const ofHost = entries.filter((entry) => entry.host.toLowerCase().replace(/:443$/, '') === wanted);
  if (ofHost.length === 0) return `host ${wanted} is not in the list of mirror hosts (orgs[].mirror_hosts)`;
  return ofHost.some(({ prefix }) => isBelow(parts.path, prefix))
    ? null
    : `the path is below none that is listed for ${wanted} (orgs[].mirror_hosts)`;
}

/** An entry of the list: what stands before the path, and the segments of the prefix. */
function readEntry(entry: string): { host: string; prefix: string[] } {
  const [, host = '', path = ''] = /^((?:http:\/\/)?[^/]*)(.*)$/.exec(entry) ?? [];
  return { host, prefix: path.split('/').filter((segment) => segment !== '') };
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
function readAddress(address: string): AddressParts | string {
  if (address.length > MAX_LENGTH) return `the address is longer than ${MAX_LENGTH} characters`;
  // Graphic ASCII only: other signs are read as dots, slashes or nothing by some parsers.
  if (!/^[\x21-\x7e]+$/.test(address)) return 'the address holds spaces, control or non-ASCII characters';
  const match = /^([a-z][a-z0-9+.-]*):\/\/([^/?#\\]*)([^?#\\]*)$/i.exec(address);
  if (!match) return 'the address must be https://HOST/PATH, without query, fragment or backslash';
  const [, scheme = '', authority = '', path = ''] = match;
  if (authority.includes('@'))
    return 'the address must not hold a user name or password (use remote_username and remote_password)';
  if (!/^\/[^/]/.test(path) || path.includes('//')) return 'the address names no repository path';
  if (/%(2e|2f|5c|00|0a|0d|25)/i.test(path) || path.split('/').some((segment) => /^\.\.?(;.*)?$/.test(segment))) {
    return 'the path of the address holds dots or escapes that could lead elsewhere';
  }
  const hostAndPort = /^(\[[^\]]*\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(authority);
  if (!hostAndPort) return 'the address has no readable host';
  const [, host = '', port = ''] = hostAndPort;
  if (port !== '' && (Number(port) < 1 || Number(port) > 65535 || port.startsWith('0')))
    return 'the port of the address is not a port';
  return { scheme: scheme.toLowerCase(), host: host.toLowerCase(), port, path };
}

/** Raw addresses in any spelling, private names, and names that are none. */
function refuseHostName(host: string): string | null {
  if (host.startsWith('[') || isIP(host) !== 0) return 'the host is a raw address, not a name';
  const labels = host.split('.');
  const last = labels.at(-1) ?? '';
  // A last label of digits, or 0x…, makes URL parsers read the whole as an IPv4 address (decimal, octal, hex, short forms).
  if (/^(\d+|0x[0-9a-f]*)$/.test(last)) return 'the host is a raw address, not a name';
  if (last === '') return 'the host ends in a dot';
  if (!labels.every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label)) || host.length > 253)
    return 'the host is not a name';
  if (labels.length < 2) return `the host ${host} is a private name`;
  const isPrivate = PRIVATE_SUFFIXES.some((suffix) => host === suffix || host.endsWith(`.${suffix}`));
  return isPrivate ? `the host ${host} is a private name` : null;
}
