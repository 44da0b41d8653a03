import { BlockList, isIP } from 'node:net';

/** Whether a text is an IP address, or a range of addresses with a prefix length (`10.0.0.0/8`). */
export function isAddressRange(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/');
  if (isIP(address) === 0 || more.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bitsOf(address));
}

/** Length of an address of this version. */
export function bitsOf(address: string): number {
  return isIP(address) === 6 ? 128 : 32;
}

/** Loopback, this host, link-local, and where clouds answer with credentials; also inside IPv6, and behind NAT64 and 6to4. */
const OF_THE_MACHINE = new BlockList();
for (const [net, bits] of [
  ['127.0.0.0', 8],
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  ['192.0.0.192', 32],
] as const)
  OF_THE_MACHINE.addSubnet(net, bits, 'ipv4');
for (const [net, bits] of [
  ['::', 127],
  ['fe80::', 10],
  ['fd00:ec2::254', 128],
  ['fd20:ce::254', 128],
  ['64:ff9b::7f00:0', 104],
  ['64:ff9b::a9fe:0', 112],
  ['2002:7f00::', 24],
  ['2002:a9fe::', 32],
] as const)
  OF_THE_MACHINE.addSubnet(net, bits, 'ipv6');

/** Whether an IP address leads to whoever connects to it, to the link it stands on, or to a metadata service. */
export function isOfTheMachine(address: string): boolean {
  return OF_THE_MACHINE.check(address.replace(/%.*$/, ''), isIP(address) === 6 ? 'ipv6' : 'ipv4');
}
