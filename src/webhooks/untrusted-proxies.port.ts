import { portToken } from '../core/part.js';

/** A peer that spoke for others (X-Forwarded-For) and is none of `server.trusted_proxies`. */
export interface UntrustedProxy {
  readonly address: string;
  readonly seenAt: Date;
}

/** What receivers saw of proxies that nobody told them to trust; the doctor tells the operator. */
export interface UntrustedProxyStore {
  saw(proxy: UntrustedProxy): Promise<void>;
  /** Those seen at this time or later, the latest first. */
  seenSince(since: Date): Promise<UntrustedProxy[]>;
}

export const UNTRUSTED_PROXIES = portToken<UntrustedProxyStore>('UntrustedProxyStore');
