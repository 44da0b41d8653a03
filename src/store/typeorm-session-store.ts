import { In, IsNull } from 'typeorm';
import type { KeptSession, SessionStore, TicketKind } from '../api/session-store.port.js';
import { execute, type Database } from './database.js';
import { ConsoleSessionEntity, ConsoleTicketEntity } from './entities/console.entities.js';

const LISTED = 1000;

const SWEEP_SESSIONS = `
WITH over AS (
  DELETE FROM console_sessions WHERE ended_at IS NOT NULL OR ends_at <= $1 OR seen_at <= $2 RETURNING id, kind, grant_id
)
SELECT DISTINCT grant_id AS "grant" FROM over
WHERE kind = 'person' AND grant_id IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM console_sessions s
  WHERE s.grant_id = over.grant_id AND s.ended_at IS NULL AND s.ends_at > $1 AND s.seen_at > $2
)`;

const TAKE_TICKET = `DELETE FROM console_tickets WHERE hash = $1 AND kind = $2 RETURNING content, ends_at AS "endsAt"`;

export class TypeOrmSessionStore implements SessionStore {
  constructor(private readonly db: Database) {}

  async add({ grant, ...session }: KeptSession, tokenHash: string): Promise<void> {
    await this.db.table(ConsoleSessionEntity, (sessions) => sessions.insert({ ...session, grantId: grant, tokenHash }));
  }

  async byTokenHash(tokenHash: string): Promise<KeptSession | null> {
    const row = await this.db.table(ConsoleSessionEntity, (sessions) => sessions.findOneBy({ tokenHash }));
    return row && toSession(row);
  }

  async byTokenHashes(hashes: readonly string[]): Promise<ReadonlyMap<string, KeptSession>> {
    const rows = await this.db.table(ConsoleSessionEntity, (sessions) =>
      sessions.findBy({ tokenHash: In([...hashes]) }),
    );
    return new Map(rows.map((row) => [row.tokenHash, toSession(row)]));
  }

  async markSeen(id: string, at: Date): Promise<void> {
    await this.db.table(ConsoleSessionEntity, (sessions) => sessions.update({ id }, { seenAt: at }));
  }

  async list(): Promise<KeptSession[]> {
    const rows = await this.db.table(ConsoleSessionEntity, (sessions) =>
      sessions.find({ where: { endedAt: IsNull() }, order: { seenAt: 'DESC', id: 'ASC' }, take: LISTED }),
    );
    return rows.map(toSession);
  }

  async end(id: string, at: Date): Promise<KeptSession | null> {
    return this.db.transaction(async (manager) => {
      const { affected } = await manager.update(ConsoleSessionEntity, { id, endedAt: IsNull() }, { endedAt: at });
      if (affected === 0) return null;
      const row = await manager.findOneBy(ConsoleSessionEntity, { id });
      return row && toSession(row);
    });
  }

  async sweep(now: Date, idleSince: Date): Promise<string[]> {
    return this.db.transaction(async (manager) => {
      await execute(manager, `DELETE FROM console_tickets WHERE ends_at <= $1`, [now]);
      const { rows } = await execute<{ grant: string }>(manager, SWEEP_SESSIONS, [now, idleSince]);
      return rows.map(({ grant }) => grant);
    });
  }

  async addTicket(kind: TicketKind, hash: string, content: string, endsAt: Date): Promise<void> {
    await this.db.table(ConsoleTicketEntity, (tickets) => tickets.insert({ kind, hash, content, endsAt }));
  }

  async takeTicket(kind: TicketKind, hash: string, now: Date): Promise<string | null> {
    const { rows } = await this.db.run((manager) =>
      execute<{ content: string; endsAt: Date }>(manager, TAKE_TICKET, [hash, kind]),
    );
    const [ticket] = rows;
    return ticket && new Date(ticket.endsAt) > now ? ticket.content : null;
  }
}

function toSession({ tokenHash: _hash, grantId, ...session }: ConsoleSessionEntity): KeptSession {
  return { ...session, grant: grantId };
}
