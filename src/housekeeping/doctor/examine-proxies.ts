import type { UntrustedProxy } from '../../webhooks/untrusted-proxies.port.js';
import { warning, type Looked } from './check.js';
import { saw } from './looks.js';

/** Proxies through which deliveries came lately, and which the config does not trust to name the senders. */
export function examineProxies(seen: readonly UntrustedProxy[], trusts: (address: string) => boolean): Looked[] {
  const untrusted = seen.filter(({ address }) => !trusts(address)).map(({ address }) => address);
  if (untrusted.length === 0) return [];
  return [
    warning(
      saw('proxy.untrusted.seen', { proxies: untrusted }),
      `add to the config: server: { trusted_proxies: [${untrusted.join(', ')}] }, and start the bot again`,
      'let the proxy set X-Forwarded-For itself; what its clients write there must not pass as it is',
    ),
  ];
}
