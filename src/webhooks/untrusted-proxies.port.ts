/** A peer that named a client in X-Forwarded-For and is not in `server.trusted_proxies`. */
export interface UntrustedProxy {
  readonly address: string;
  readonly seenAt: Date;
}

/** Untrusted proxies that receivers saw; the doctor reports them to the operator. */
export abstract class UntrustedProxyStore {
  abstract saw(proxy: UntrustedProxy): Promise<void>;
  /** Those seen at this time or later, the latest first. */
  abstract seenSince(since: Date): Promise<UntrustedProxy[]>;
}
