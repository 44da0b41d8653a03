import { Inject, Injectable } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import { TrustedProxies, withoutMapping } from '../platform/client-address.js';
import { Clock } from '../core/clock.js';
import { Logger } from '../core/logger.js';
import { UntrustedProxyStore } from './untrusted-proxies.port.js';

/** An operator has few proxies; more would only fill the store. */
const MOST = 16;
const AGAIN_AFTER_MS = 3_600_000;

/**
 * Notes untrusted peers that name a client in X-Forwarded-For. Only deliveries with a good signature count: a forge
 * sends no such header itself, so there is a proxy, and everybody behind it shares the limits of one address.
 */
@Injectable()
export class NoteUntrustedProxies {
  readonly #notedAtMs = new Map<string, number>();

  readonly #trusted: TrustedProxies;

  constructor(
    { server }: AppConfig,
    @Inject(UntrustedProxyStore) private readonly store: Pick<UntrustedProxyStore, 'saw'>,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.#trusted = new TrustedProxies(server.trustedProxies);
  }

  /** @param address of the peer that names a client; nothing is noted where it may */
  note(address: string): void {
    if (this.#trusted.trusts(address)) return;
    const peer = withoutMapping(address);
    const now = this.clock.monotonicMs();
    const notedAt = this.#notedAtMs.get(peer);
    if (notedAt === undefined ? this.#notedAtMs.size >= MOST : now - notedAt < AGAIN_AFTER_MS) return;
    this.#notedAtMs.set(peer, now);
    this.logger.warn(
      { code: 'proxy_untrusted', address: peer, fix: 'add the address to server.trusted_proxies' },
      'proxy.untrusted',
    );
    this.store
      .saw({ address: peer, seenAt: this.clock.now() })
      .catch((error: unknown) => this.logger.warn({ error }, 'proxy.not-stored'));
  }
}
