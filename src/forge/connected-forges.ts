import { backoffMs } from '../core/backoff.js';
import { credentialOf } from '../config/credentials.js';
import { setMaxListeners } from 'node:events';
import { alert, type Alerts } from '../core/alerts.js';
import { BotError, messageOf } from '../core/errors.js';
import type { Logger } from '../core/logger.js';
import { connectForge, type ConnectedForge, type ForgeCapabilities } from './capabilities.js';
import { wrapForgeClient, type ForgeClient } from './forge-client.js';
import { isWrite, type OperationName } from './operations.js';

export interface ForgeToConnect {
  readonly id: string;
  /** The organization whose own credentials these are; null = those of the forge, for every organization without its own. */
  readonly org: string | null;
  readonly client: ForgeClient;
  /** Login of Basic credentials, for a forge that does not say who we are. */
  readonly username: string | null;
}

/** One forge of the config under one of its credentials; usable from the start, known better once it was reached. */
export interface ForgeEntry {
  readonly id: string;
  readonly org: string | null;
  /** Names the credentials, in logs, alerts and as a key: the forge, or forge and organization. */
  readonly credential: string;
  readonly client: ForgeClient;
  /** Null until the forge was reached for the first time. */
  readonly capabilities: ForgeCapabilities | null;
  /** Why it was not reached, as the last attempt told; null once it was. */
  readonly failure: string | null;
  /** True until the forge is known to lack the route. */
  offers(name: OperationName): boolean;
}

const RETRIES = { firstMs: 500, maxMs: 30_000, between: [0.5, 1.5] } as const;

/** The forges of the config under each of their credentials, connected in the background: a forge that is down must not keep deliveries from being stored. */
export class ConnectedForges {
  private readonly connected = new Map<string, ConnectedForge>();
  private readonly failures = new Map<string, string>();
  private readonly timers = new Set<NodeJS.Timeout>();
  private readonly attempts = new Map<string, Promise<void>>();
  private readonly listeners: Array<() => void> = [];
  private readonly stopping = new AbortController();
  private readonly forges: readonly ForgeToConnect[];
  private isStopped = false;

  constructor(
    forges: readonly ForgeToConnect[],
    private readonly logger: Logger,
    private readonly alerts: Alerts,
  ) {
    // Every read under way listens to it: their number is the concurrency, not a leak.
    setMaxListeners(0, this.stopping.signal);
    this.forges = forges.map((forge) => ({ ...forge, client: this.stoppable(forge.client) }));
  }

  /** Try each forge once now (in parallel), and again later where that failed. */
  async start(): Promise<void> {
    await Promise.all(this.forges.map((forge) => this.attempt(forge, 0)));
  }

  /** Call back whenever a forge was reached for the first time. */
  onConnected(listener: () => void): void {
    this.listeners.push(listener);
  }

  /**
   * No further attempts; reads that are under way after this time are ended, so that none holds up the end of the process. Calls that
   * change something, and those that bring a signal of their own, are their callers' affair.
   */
  stop(graceMs: number): void {
    this.isStopped = true;
    for (const timer of this.timers) clearTimeout(timer);
    this.timers.clear();
    if (graceMs === 0) return this.stopping.abort();
    const timer = setTimeout(() => this.stopping.abort(), graceMs);
    this.timers.add(timer.unref());
  }

  /** @param org on whose behalf; the credentials of the forge where it has none of its own, and for null */
  get(id: string, org: string | null): ForgeEntry | null {
    const own = org === null ? undefined : this.forges.find((one) => one.id === id && one.org === org);
    const forge = own ?? this.forges.find((one) => one.id === id && one.org === null);
    return forge ? this.entryOf(forge) : null;
  }

  list(): ForgeEntry[] {
    return this.forges.map((forge) => this.entryOf(forge));
  }

  private entryOf(forge: ForgeToConnect): ForgeEntry {
    const credential = credentialOf(forge);
    const connected = this.connected.get(credential);
    return {
      id: forge.id,
      org: forge.org,
      credential,
      client: connected?.client ?? forge.client,
      capabilities: connected?.capabilities ?? null,
      failure: connected ? null : (this.failures.get(credential) ?? null),
      offers: (name) => connected?.capabilities.offers(name) ?? true,
    };
  }

  private stoppable(client: ForgeClient): ForgeClient {
    return wrapForgeClient(client, (name, next, args, options) =>
      isWrite(name) || options?.signal ? next(args, options) : next(args, { ...options, signal: this.stopping.signal }),
    );
  }

  private async attempt(forge: ForgeToConnect, failures: number): Promise<void> {
    const credential = credentialOf(forge);
    const running = this.attempts.get(credential);
    if (running) return running;
    const attempt = this.connect(forge, failures).finally(() => this.attempts.delete(credential));
    this.attempts.set(credential, attempt);
    return attempt;
  }

  private async connect(forge: ForgeToConnect, failures: number): Promise<void> {
    const credential = credentialOf(forge);
    const key = `forge.unreachable/${credential}` as const;
    try {
      const connected = await connectForge(forge.client, { username: forge.username });
      this.connected.set(credential, connected);
      this.alerts.resolve(key);
      for (const listener of this.listeners) listener();
      const { product, version, self } = connected.capabilities;
      this.logger.info({ forge: credential, product, version, self: self?.login ?? null }, 'forge connected');
      if (!self)
        this.alerts.raise(`forge.unknown-self/${credential}`, alert('forge.unknown-self', { forge: credential }), {
          forge: credential,
        });
    } catch (error) {
      const message = messageOf(error);
      this.failures.set(credential, message);
      this.alerts.raise(key, alert('forge.unreachable', { forge: credential }), {
        forge: credential,
        code: error instanceof BotError ? error.code : 'ERROR',
        error: message,
      });
      if (this.isStopped) return;
      const timer = setTimeout(
        () => {
          this.timers.delete(timer);
          void this.attempt(forge, failures + 1);
        },
        backoffMs(failures, RETRIES),
      );
      timer.unref();
      this.timers.add(timer);
    }
  }
}
