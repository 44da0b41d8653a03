import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { bitsOf } from '../core/address-range.js';

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
  const address = isIP(claimed) === 0 ? withoutPort(claimed) : claimed;
  if (isIP(address) === 0) return peer === '' || peer === claimed ? 'unknown' : holderOf(peer);
  const one = ipaddr.process(address);
  if (!('parts' in one)) return one.toString();
  const network = one.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}

/** The usual form of an address: a dual-stack socket shows 10.0.0.1 as ::ffff:10.0.0.1. */
export function withoutMapping(address: string): string {
  if (isIP(address) !== 6) return address;
  const one = ipaddr.process(address);
  return 'parts' in one ? address : one.toString();
}

function withoutPort(text: string): string {
  return /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)?.[1] ?? '';
}
