import { systemClock, type Clock } from '../core/clock.js';
import { ForgeError } from '../core/errors.js';
import { wrapForgeClient, type ForgeClient } from './forge-client.js';
import type { OperationName } from './operations.js';
import { probe } from './probe.js';

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

export interface ConnectedForge {
  /** The same client; what it is told not to exist is remembered. */
  readonly client: ForgeClient;
  readonly capabilities: ForgeCapabilities;
}

export interface ConnectOptions {
  /** Login of the configured Basic credentials, for forges without `GET /user`. */
  readonly username?: string | null | undefined;
  /** Operations the rules need: asked about at connect time where that can be done without changing anything. */
  readonly probe?: Iterable<OperationName> | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * Get to know a forge: who we are there, what it is, and which of the wanted reads it lacks. A forge that has nothing but
 * the 20 operations is fine.
 * @throws ForgeError when it cannot be reached, or does not accept the credentials
 */
export async function connectForge(client: ForgeClient, options: ConnectOptions = {}): Promise<ConnectedForge> {
  const missing = new Set<OperationName>();
  const clock = options.clock ?? systemClock;
  let version: string | null = null;
  const learning = wrapForgeClient(client, async (name, next, args, callOptions) => {
    try {
      const answer = await next(args, callOptions);
      missing.delete(name);
      return answer;
    } catch (error) {
      // A no of the forge's own shows that it has the route: it was renewed since.
      if (error instanceof ForgeError && error.kind === 'refused' && error.facts.status !== undefined)
        missing.delete(name);
      if (!(error instanceof ForgeError) || error.kind !== 'not-offered') throw error;
      // A proxy whose forge is away answers like a server that lacks the route; one that told its version must still tell it.
      if (version !== null && (await readVersion(client, clock)).version === null) throw forgeIsAway(name, error);
      missing.add(name);
      throw error;
    }
  });
  const { self, isSiteAdmin } = await readSelf(learning, options.username ?? null);
  const told = await readVersion(learning, clock);
  version = told.version;
  for (const name of options.probe ?? []) await probe(learning, name);
  const capabilities: ForgeCapabilities = {
    product: version === null ? 'unknown' : /\+gitea-/.test(version) ? 'forgejo' : 'gitea',
    version,
    self,
    isSiteAdmin,
    clockAheadMs: told.clockAheadMs,
    offers: (name) => !missing.has(name),
    noteMissing: (name) => void missing.add(name),
  };
  return { client: learning, capabilities };
}

function forgeIsAway(operation: OperationName, { facts }: ForgeError): ForgeError {
  return new ForgeError('not-sent', `${operation}: something else answers at the address of the forge`, {
    operation,
    status: facts.status,
    detail: 'away',
  });
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
