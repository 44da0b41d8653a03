import { isIP } from 'node:net';
import type { UntrustedProxy } from '../../webhooks/untrusted-proxies.port.js';
import { type CheckResult, note, ok, problem, warning } from './check.js';
import { saw } from './looks.js';
import { type ServerKind, hostListSections } from './versions.js';

export interface DeliveryFacts {
  /** Where the forge sends to; null = not known. */
  readonly url: string | null;
  /** Whether an active webhook points there; null = it cannot be told. */
  readonly isSent: boolean | null;
  readonly lastDelivery: Date | null;
  /** Recent events that polling found without a delivery, although our webhook subscribes to them. */
  readonly lostLately: number;
  /** Deliveries refused since the bot started, by the word of the answer; null while no bot runs. */
  readonly refused: Readonly<Record<string, number>> | null;
}

/** What a server says to the host of an address when nobody changed its list. */
export function hostWord(url: string): 'loopback' | 'private' | 'external' {
  const host = URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '').toLowerCase() : '';
  if (host === 'localhost' || host.endsWith('.localhost') || host === '::1' || /^127\./.test(host)) return 'loopback';
  if (isIP(host) === 4)
    return /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.)/.test(host) ? 'private' : 'external';
  if (isIP(host) === 6) return /^(f[cd]|fe[89ab])/.test(host) ? 'private' : 'external';
  // A name without a dot, or of a zone that is never public, is resolved to an address within.
  return !host.includes('.') || /\.(local|internal|lan|home\.arpa)$/.test(host) ? 'private' : 'external';
}

/** Whether deliveries reach the bot. No API shows what a server allows, so the check goes by what arrives. */
export function examineDeliveries(
  facts: DeliveryFacts,
  server: ServerKind,
  page: string,
  recreate: string,
): CheckResult[] {
  return [arriving(facts, server, page), ...refusals(facts, recreate)];
}

function arriving(
  { url, isSent, lastDelivery, lostLately }: DeliveryFacts,
  server: ServerKind,
  page: string,
): CheckResult {
  const last = lastDelivery?.toISOString() ?? null;
  if (lastDelivery && lostLately === 0) return ok(saw('delivery.arrives.yes', { last }));
  if (lostLately > 0)
    return problem(saw('delivery.arrives.lost', { last, lost: lostLately }), ...reach(url, server, page));
  // Without a webhook no delivery can come; another check reports that.
  if (isSent === false) return note(saw('delivery.arrives.unsent', { last }));
  const word = url === null ? 'external' : hostWord(url);
  return word === 'external'
    ? note(
        saw('delivery.arrives.none', { last }),
        `to try it: open an issue or push something in a repository of the organization (forges have no test delivery for this kind of webhook); ${page} shows what was sent, below the webhook`,
      )
    : warning(saw('delivery.arrives.inner-address', { last, url: url ?? '', word }), ...reach(url, server, page));
}

function reach(url: string | null, server: ServerKind, page: string): string[] {
  const word = url === null ? 'external' : hostWord(url);
  const sections = hostListSections(server)
    .map((section) => `[${section}] ALLOWED_HOST_LIST = ${word === 'external' ? 'external' : `external,${word}`}`)
    .join(' (older: ')
    .replace(/^(.*\(.*)$/, '$1)');
  return [
    `open ${page}, choose the webhook, Recent Deliveries: what the server says there is the cause`,
    `"not allowed": in the server's app.ini ${sections}, then restart the server`,
    'a name that is not found, a refused connection, a timeout: the server must reach the bot at that address (firewall, proxy, port)',
    'an unknown certificate: let the server trust it, or [webhook] SKIP_TLS_VERIFY = true',
  ];
}

function refusals({ refused }: DeliveryFacts, recreate: string): CheckResult[] {
  if (!refused) return [];
  const count = refused['not_authentic'] ?? 0;
  const other = Object.entries(refused).filter(([word, times]) => word !== 'not_authentic' && times > 0);
  return [
    ...(count > 0
      ? [
          warning(
            saw('delivery.authentic.forged', { count }),
            `if they are the forge's own (Recent Deliveries: 401): the secret of a webhook cannot be changed, so type: ${recreate}`,
          ),
        ]
      : []),
    ...(other.length > 0
      ? [note(saw('delivery.refused.some', { counts: Object.fromEntries(other) }), 'the log of the bot says why')]
      : []),
  ];
}

/** Proxies through which deliveries came lately, and which the config does not trust to name the senders. */
export function examineProxies(seen: readonly UntrustedProxy[], trusts: (address: string) => boolean): CheckResult[] {
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
