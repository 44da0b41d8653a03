import { BlockList, isIP } from 'node:net';
import { bitsOf } from './address-range.js';

/** Proxies that the operator trusts to name the client in X-Forwarded-For. */
export class TrustedProxies {
  readonly #list = new BlockList();

  /** @param ranges addresses, or ranges like 10.0.0.0/8 (see `isAddressRange`) */
  constructor(readonly ranges: readonly string[]) {
    for (const range of ranges) {
      const [address = '', prefix] = range.split('/');
      const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
      this.#list.addSubnet(address, prefix === undefined ? bitsOf(address) : Number(prefix), family);
    }
  }

  trusts(address: string): boolean {
    const version = isIP(address);
    return version !== 0 && this.#list.check(address, version === 6 ? 'ipv6' : 'ipv4');
  }
}

/**
 * The holder of the limits: an IPv4 address, or the /64 network of an IPv6 address, because one host has all
 * addresses of its network.
 * @param claimed the client's address as a proxy wrote it: perhaps with a port, perhaps no address at all
 * @param peer address of the other end of the socket; used when `claimed` is no address
 */
export function holderOf(claimed: string, peer = ''): string {
  const address = isIP(claimed) !== 0 ? claimed : withoutPort(claimed);
  switch (isIP(address)) {
    case 4:
      return address;
    case 6:
      return holderOfV6(address);
    default:
      return peer === '' || peer === claimed ? 'unknown' : holderOf(peer);
  }
}

/** The usual form of an address: a dual-stack socket shows 10.0.0.1 as ::ffff:10.0.0.1. */
export function withoutMapping(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}

function holderOfV6(address: string): string {
  const plain = withoutMapping(address);
  if (plain !== address) return plain;
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const rest = tail === '' ? [] : tail.split(':');
    // A trailing IPv4 address counts as two groups.
    const written = groups.length + rest.length + (tail.includes('.') ? 1 : 0);
    groups.push(...Array.from({ length: 8 - written }, () => '0'), ...rest);
  }
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

function withoutPort(text: string): string {
  return /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)?.[1] ?? '';
}
