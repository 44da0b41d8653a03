import { Inject, Injectable } from '@nestjs/common';
import { setMaxListeners } from 'node:events';
import { credentialOf } from '../config/credentials.js';
import { alert, Alerts } from '../core/alerts.js';
import { backoffMs } from '../platform/backoff.js';
import { systemClock, type Clock } from '../core/clock.js';
import { ForgeError, BotError, messageOf } from '../core/errors.js';
import { Logger } from '../core/logger.js';
import { ForgesToConnect, type ForgeToConnect } from './forges-to-connect.js';
import { wrapForgeClient, type ForgeClient } from './forge-client.js';
import { type OperationName, isWrite } from './operations.js';
import { OrgNumbers } from './org-numbers.js';
import { ask, isScopeRefusal, probe, type ProbeAnswer } from './probe.js';
import { failedCall } from './failed-call.js';

interface ForgeSelf {
  /** Decimal string; null where the forge does not tell (core profile). */
  readonly id: string | null;
  readonly login: string;
}

/** What this server and this token can do, as far as we have learned. */
export interface ForgeCapabilities {
  readonly product: 'gitea' | 'forgejo' | 'unknown';
  /** As the server says it, e.g. `1.27.0` or `15.0.3+gitea-1.22.0`; null where it does not tell. */
  readonly version: string | null;
  /** The bot's own account; null when it cannot be known: then its own events cannot be told from others'. */
  readonly self: ForgeSelf | null;
  /** Whether that account administers the whole site; null where it is not told. */
  readonly isSiteAdmin: boolean | null;
  /** How far the forge's clock is ahead of ours in ms, to about a second; null where it does not tell. */
  readonly clockAheadMs: number | null;
  /** False once the forge was seen not to have the route, until it is seen to have it; true before. */
  offers(name: OperationName): boolean;
  noteMissing(name: OperationName): void;
}

interface ConnectedForge {
  /** The same client; what it is told not to exist is remembered. */
  readonly client: ForgeClient;
  readonly capabilities: ForgeCapabilities;
}

interface ConnectOptions {
  /** Login of the configured Basic credentials, for forges without `GET /user`. */
  readonly username?: string | null | undefined;
  /** Operations the rules need: asked about at connect time where that can be done without changing anything. */
  readonly probe?: Iterable<OperationName> | undefined;
  /** What a call showed of its operation. */
  readonly answered?: ((name: OperationName, is: ProbeAnswer) => void) | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * Get to know a forge: who we are there, what it is, and which of the wanted reads it lacks. A forge that has nothing but
 * the 20 operations is fine.
 * @throws ForgeError when it cannot be reached, or does not accept the credentials
 */
export async function connectForge(client: ForgeClient, options: ConnectOptions = {}): Promise<ConnectedForge> {
  const missing = new Set<OperationName>();
  const answered = new Set<OperationName>();
  const clock = options.clock ?? systemClock;
  const saw = (name: OperationName, is: ProbeAnswer): void => options.answered?.(name, is);
  let version: string | null = null;
  const learning = wrapForgeClient(client, async (name, next, args, callOptions) => {
    try {
      const answer = await next(args, callOptions);
      missing.delete(name);
      answered.add(name);
      saw(name, 'there');
      return answer;
    } catch (error) {
      // A proxy that loses a slash and a forge without the route answer alike: what never answered is asked about without a slash.
      if (isLostSlash(error) && !answered.has(name) && (await ask(client, name)) === 'missing') {
        missing.add(name);
        saw(name, 'missing');
        throw failedCall('not-offered', 'not-offered', { operation: name });
      }
      // A no of the forge's own shows that it has the route: it was renewed since.
      if (error instanceof ForgeError && error.kind === 'refused' && error.facts.status !== undefined) {
        missing.delete(name);
        saw(name, isScopeRefusal(error) ? 'scope' : 'there');
      }
      if (!(error instanceof ForgeError) || error.kind !== 'not-offered') throw error;
      // A proxy whose forge is away answers like a server that lacks the route; one that told its version must still tell it.
      if (version !== null && (await readVersion(client, clock)).version === null) throw forgeIsAway(name, error);
      missing.add(name);
      saw(name, 'missing');
      throw error;
    }
  });
  const { self, isSiteAdmin } = await readSelf(learning, options.username ?? null);
  const server = await readVersion(learning, clock);
  version = server.version;
  for (const name of options.probe ?? []) await probe(learning, name);
  const capabilities: ForgeCapabilities = {
    product: productOf(version),
    version,
    self,
    isSiteAdmin,
    clockAheadMs: server.clockAheadMs,
    offers: (name) => !missing.has(name),
    noteMissing: (name) => void missing.add(name),
  };
  return { client: learning, capabilities };
}

/** Which server says this version of itself; null = it tells none. */
export function productOf(version: string | null): ForgeCapabilities['product'] {
  if (version === null) return 'unknown';
  return version.includes('+gitea-') ? 'forgejo' : 'gitea';
}

/** A success by its status, and no answer of the operation by its body. */
function isMisread({ facts: { detail, status } }: ForgeError): boolean {
  return detail === 'shape' || (detail === 'not-json' && status !== undefined && status < 300);
}

/** Something between us and the forge does not pass on `%2F` as it is. */
export function isLostSlash(error: unknown): boolean {
  return error instanceof ForgeError && error.facts.detail === 'slash';
}

function forgeIsAway(operation: OperationName, { facts }: ForgeError): ForgeError {
  return failedCall('not-sent', 'away', { operation, status: facts.status, detail: 'away' });
}

async function readSelf(
  client: ForgeClient,
  username: string | null,
): Promise<Pick<ForgeCapabilities, 'self' | 'isSiteAdmin'>> {
  try {
    const { id, login, is_admin: isAdmin } = await client.getSelf({});
    if (typeof login === 'string' && login !== '')
      return { self: { id: id ?? null, login }, isSiteAdmin: isAdmin ?? null };
  } catch (error) {
    // 403: the token lacks read:user. Anything else is for the operator: wrong credentials, no connection.
    const canGoOn =
      error instanceof ForgeError &&
      (error.kind === 'not-offered' || error.facts.status === 403 || error.facts.status === 404);
    if (!canGoOn) throw error;
  }
  return { self: username === null ? null : { id: null, login: username }, isSiteAdmin: null };
}

interface ToldVersion {
  readonly version: string | null;
  readonly clockAheadMs: number | null;
}

/** What the forge calls itself (null where it does not tell), and its clock. @throws ForgeError when it cannot be asked */
export async function readVersion(client: ForgeClient, clock: Clock): Promise<ToldVersion> {
  const [sentAt, began] = [clock.now().getTime(), clock.monotonicMs()];
  let clockAheadMs: number | null = null;
  try {
    const { version } = await client.getVersion(
      {},
      { onReply: ({ date }) => (clockAheadMs = date ? aheadMs(date, sentAt, clock.monotonicMs() - began) : null) },
    );
    return { version: version ?? null, clockAheadMs };
  } catch (error) {
    if (error instanceof ForgeError && (error.kind === 'not-offered' || error.kind === 'refused'))
      return { version: null, clockAheadMs };
    throw error;
  }
}

/** The header names the second in which the forge answered: its middle, against the middle of our waiting. */
function aheadMs(date: Date, sentAt: number, tookMs: number): number {
  return Math.round(date.getTime() + 500 - (sentAt + tookMs / 2));
}

/** One forge of the config under one of its credentials; usable from the start, known better once it was reached. */
interface ForgeEntry {
  readonly id: string;
  readonly org: string | null;
  /** What the forge calls the organization that was asked for; null where none was, or the config has it no more. */
  readonly orgName: string | null;
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

/** What only calls a forge needs of `ConnectedForges`. */
export interface ForgeClients {
  get(
    id: string,
    org: string | null,
  ): (Pick<ForgeEntry, 'client' | 'offers'> & Partial<Pick<ForgeEntry, 'orgName'>>) | null;
}

/** The forges of the config under each of their credentials, connected in the background: a forge that is down must not keep deliveries from being stored. */
@Injectable()
export class ConnectedForges {
  private readonly connected = new Map<string, ConnectedForge>();
  private readonly failures = new Map<string, string>();
  private readonly guards = new Map<string, { readonly of: ForgeClient; readonly client: ForgeClient }>();
  private readonly timers = new Set<NodeJS.Timeout>();
  private readonly attempts = new Map<string, Promise<void>>();
  private readonly listeners: Array<(credential: string) => void> = [];
  private readonly hearers: Array<(credential: string, name: OperationName, is: ProbeAnswer) => void> = [];
  private readonly stopping = new AbortController();
  private readonly wrapped = new WeakMap<ForgeToConnect, ForgeToConnect>();
  private forges: readonly ForgeToConnect[];
  private isStopped = false;

  constructor(
    @Inject(ForgesToConnect) private readonly toConnect: Pick<ForgesToConnect, 'all'>,
    @Inject(OrgNumbers) private readonly orgs: Pick<OrgNumbers, 'guard' | 'nameOf'>,
    private readonly logger: Logger,
    private readonly alerts: Alerts,
  ) {
    // Every read under way listens to it: their number is the concurrency, not a leak.
    setMaxListeners(0, this.stopping.signal);
    this.forges = this.wrapAll();
  }

  /** Try each forge once now (in parallel), and again later where that failed. */
  async start(): Promise<void> {
    await Promise.all(this.forges.map((forge) => this.attempt(forge, 0)));
  }

  /** Credentials came, went or were changed by a reload: forgets what went, and connects what is new, as at the start. */
  async followConfig(): Promise<void> {
    const before = this.forges;
    this.forges = this.wrapAll();
    const isNow = new Set(this.forges);
    for (const credential of before.filter((forge) => !isNow.has(forge)).map(credentialOf)) {
      for (const map of [this.connected, this.failures, this.attempts]) map.delete(credential);
      this.alerts.resolve(`forge.unreachable/${credential}`);
      this.alerts.resolve(`forge.unknown-self/${credential}`);
      this.alerts.resolve(`polls.stretched/${credential}`);
    }
    const existed = new Set(before);
    await Promise.all(this.forges.filter((forge) => !existed.has(forge)).map((forge) => this.attempt(forge, 0)));
  }

  /** Call back whenever a forge was reached for the first time under one of its credentials. */
  onConnected(listener: (credential: string) => void): void {
    this.listeners.push(listener);
  }

  /** Call back with what each call showed of its operation. */
  onAnswered(listener: (credential: string, name: OperationName, is: ProbeAnswer) => void): void {
    this.hearers.push(listener);
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

  /**
   * @param org key of the organization on whose behalf: its calls may name it by that key. The client then makes no call while the name belongs to another organization. The credentials of the forge where
   * it has none of its own, and for null
   */
  get(id: string, org: string | null): ForgeEntry | null {
    const entry = this.unguarded(id, org);
    return entry && org ? { ...entry, client: this.guarded(id, org, entry), orgName: this.orgs.nameOf(org) } : entry;
  }

  /** The same, for asking which organization has the name. */
  unguarded(id: string, org: string | null): ForgeEntry | null {
    const own = org === null ? undefined : this.forges.find((one) => one.id === id && one.org === org);
    const forge = own ?? this.forges.find((one) => one.id === id && one.org === null);
    return forge ? this.entryOf(forge) : null;
  }

  /** The same, once it was reached. */
  reached(id: string, org: string | null): ForgeEntry | null {
    const entry = this.unguarded(id, org);
    return entry?.capabilities ? entry : null;
  }

  /** What the server is, whichever credentials reached it. */
  serverOf(id: string): { readonly product: ForgeCapabilities['product'] | null; readonly version: string | null } {
    const reached = this.list().find((one) => one.id === id && one.capabilities !== null)?.capabilities;
    return { product: reached?.product ?? null, version: reached?.version ?? null };
  }

  list(): ForgeEntry[] {
    return this.forges.map((forge) => this.entryOf(forge));
  }

  /** Made once for each client: a call is built when it is first asked for. */
  private guarded(id: string, org: string, entry: ForgeEntry): ForgeClient {
    const key = JSON.stringify([id, org]);
    const guard = this.guards.get(key);
    if (guard?.of === entry.client) return guard.client;
    const client = this.orgs.guard(id, org, entry);
    this.guards.set(key, { of: entry.client, client });
    return client;
  }

  private wrapAll(): ForgeToConnect[] {
    return this.toConnect.all.map((forge) => {
      const client = (): ForgeClient => this.watched(credentialOf(forge), this.stoppable(forge.client));
      const one = this.wrapped.get(forge) ?? { ...forge, client: client() };
      this.wrapped.set(forge, one);
      return one;
    });
  }

  private entryOf(forge: ForgeToConnect): ForgeEntry {
    const credential = credentialOf(forge);
    const connected = this.connected.get(credential);
    return {
      id: forge.id,
      org: forge.org,
      orgName: null,
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

  /** An answer that cannot be read is told at once, by operation, until one of the same operation can be. */
  private watched(credential: string, client: ForgeClient): ForgeClient {
    const misread = new Set<OperationName>();
    const keyOf = (name: OperationName) => `forge.wrong-shape/${credential}/${name}` as const;
    return wrapForgeClient(client, async (name, next, args, options) => {
      try {
        const answer = await next(args, options);
        if (misread.delete(name)) this.alerts.resolve(keyOf(name));
        return answer;
      } catch (error) {
        if (error instanceof ForgeError && isMisread(error) && error.reason) {
          misread.add(name);
          const { status = null } = error.facts;
          const text = alert('forge.wrong-shape', { forge: credential, because: error.reason });
          this.alerts.raise(keyOf(name), text, { forge: credential, operation: name, status });
        }
        throw error;
      }
    });
  }

  private async attempt(forge: ForgeToConnect, failures: number): Promise<void> {
    const credential = credentialOf(forge);
    const running = this.attempts.get(credential);
    if (running) return running;
    const attempt = this.connect(forge, failures).finally(() => {
      if (this.attempts.get(credential) === attempt) this.attempts.delete(credential);
    });
    this.attempts.set(credential, attempt);
    return attempt;
  }

  private async connect(forge: ForgeToConnect, failures: number): Promise<void> {
    const credential = credentialOf(forge);
    const key = `forge.unreachable/${credential}` as const;
    try {
      const connected = await connectForge(forge.client, {
        username: forge.username,
        answered: (name, is) => this.hearers.forEach((listener) => listener(credential, name, is)),
      });
      // A reload took these credentials away while they were tried.
      if (!this.forges.includes(forge)) return;
      this.connected.set(credential, connected);
      this.alerts.resolve(key);
      for (const listener of this.listeners) listener(credential);
      const { product, version, self } = connected.capabilities;
      this.logger.info({ forge: credential, product, version, self: self?.login ?? null }, 'forge.connected');
      if (!self)
        this.alerts.raise(`forge.unknown-self/${credential}`, alert('forge.unknown-self', { forge: credential }), {
          forge: credential,
        });
    } catch (error) {
      if (!this.forges.includes(forge)) return;
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
          if (this.forges.includes(forge)) void this.attempt(forge, failures + 1);
        },
        backoffMs(failures, RETRIES),
      );
      timer.unref();
      this.timers.add(timer);
    }
  }
}
