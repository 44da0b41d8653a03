import { z } from 'zod';
import { fields, text, time, maybeTime, type Shape } from '../core/schema.js';

/**
 * How a session was begun: `local` by a link that the host's owner had made, `operator` by the token of one, `person` through a forge.
 */
const SESSION_KINDS = ['local', 'operator', 'person'] as const;

/** One browser that is logged in to the Console. */
export const consoleSession = z.object({
  /** Names it in lists; whoever knows it cannot use the session. */
  id: text,
  kind: z.enum(SESSION_KINDS),
  name: text.describe('Under which name its acts are recorded.'),
  agent: text.describe('What the browser says it is, cut short.'),
  ...fields('madeAt seenAt', time),
  endsAt: time.describe('When it ends, however much it is used.'),
  endedAt: maybeTime.describe('When somebody ended it.'),
});
export type ConsoleSession = Shape<typeof consoleSession>;

export interface KeptSession extends ConsoleSession {
  /** What its rights come from: the grant of a person, or the hash of an operator's token; null = it has those of the host's owner. */
  readonly grant: string | null;
}

/** Used once: the link that begins a session, or what a login through a forge must remember until the browser comes back. */
export type TicketKind = 'link' | 'login';

/** Sessions of the Console and what begins them. Of each secret it knows the hash alone. */
export abstract class SessionStore {
  abstract add(session: KeptSession, tokenHash: string): Promise<void>;
  /** Whatever its state; null = no session has this hash. */
  abstract byTokenHash(tokenHash: string): Promise<KeptSession | null>;
  /** Several at once, by their hashes; without those that have none. */
  abstract byTokenHashes(hashes: readonly string[]): Promise<ReadonlyMap<string, KeptSession>>;
  abstract markSeen(id: string, at: Date): Promise<void>;
  /** Those that were not ended, the one seen last first; at most 1,000. */
  abstract list(): Promise<KeptSession[]>;
  /** @returns the session, unless it had ended before */
  abstract end(id: string, at: Date): Promise<KeptSession | null>;
  /**
   * Forget the sessions and tickets that are over.
   * @param idleSince a session that was not seen since has ended
   * @returns grants of persons that no session has any more
   */
  abstract sweep(now: Date, idleSince: Date): Promise<string[]>;
  abstract addTicket(kind: TicketKind, hash: string, content: string, endsAt: Date): Promise<void>;
  /** @returns its content, once; null when there is none, or it is over */
  abstract takeTicket(kind: TicketKind, hash: string, now: Date): Promise<string | null>;
}
