import { LessThan } from 'typeorm';
import type { GrantStore, KeptGrant } from '../console/login/grant-store.port.js';
import { execute, type Database } from './database.js';
import { ConsoleGrantEntity } from './entities/console-grant.entity.js';

const SAVE = `
INSERT INTO console_grants (id, forge, user_id, login, sealed, access_ends_at, renewed_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (forge, user_id) DO UPDATE SET login = excluded.login, sealed = excluded.sealed,
  access_ends_at = excluded.access_ends_at, renewed_at = excluded.renewed_at
RETURNING id`;

export class TypeOrmGrantStore implements GrantStore {
  constructor(private readonly db: Database) {}

  async save({ id, forge, userId, login, sealed, accessEndsAt, renewedAt }: KeptGrant): Promise<string> {
    const { rows } = await this.db.run((manager) =>
      execute<{ id: string }>(manager, SAVE, [id, forge, userId, login, sealed, accessEndsAt, renewedAt]),
    );
    return rows[0]?.id ?? id;
  }

  byId(id: string): Promise<KeptGrant | null> {
    return this.db.table(ConsoleGrantEntity, (grants) => grants.findOneBy({ id }));
  }

  async renew(
    { id, sealed }: KeptGrant,
    tokens: Pick<KeptGrant, 'login' | 'sealed' | 'accessEndsAt' | 'renewedAt'>,
  ): Promise<boolean> {
    const { affected } = await this.db.table(ConsoleGrantEntity, (grants) => grants.update({ id, sealed }, tokens));
    return affected === 1;
  }

  remove(id: string): Promise<KeptGrant | null> {
    return this.db.transaction(async (manager) => {
      const grant = await manager.findOneBy(ConsoleGrantEntity, { id });
      if (grant) await manager.delete(ConsoleGrantEntity, { id });
      return grant;
    });
  }

  async sweep(before: Date): Promise<void> {
    await this.db.table(ConsoleGrantEntity, (grants) => grants.delete({ renewedAt: LessThan(before) }));
  }
}
