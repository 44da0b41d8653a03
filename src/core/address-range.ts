import { isIP } from 'node:net';

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
