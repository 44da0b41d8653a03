import { portToken } from '../core/part.js';

/** A peer that named a client in X-Forwarded-For and is not in `server.trusted_proxies`. */
export interface UntrustedProxy {
  readonly address: string;
  readonly seenAt: Date;
}

/** Untrusted proxies that receivers saw; the doctor reports them to the operator. */
export interface UntrustedProxyStore {
  saw(proxy: UntrustedProxy): Promise<void>;
  /** Those seen at this time or later, the latest first. */
  seenSince(since: Date): Promise<UntrustedProxy[]>;
}

export const UNTRUSTED_PROXIES = portToken<UntrustedProxyStore>('UntrustedProxyStore');
