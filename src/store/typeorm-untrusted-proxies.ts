import { MoreThanOrEqual } from 'typeorm';
import type { UntrustedProxy, UntrustedProxyStore } from '../webhooks/untrusted-proxies.port.js';
import { execute, type Database } from './database.js';
import { UntrustedProxyEntity } from './entities/governance.entities.js';

/** By hand: a receiver may change the time alone (`deploy/receiver.sql`), and `upsert` writes the address too. */
const SAW = `
INSERT INTO untrusted_proxies (address, seen_at) VALUES ($1, $2)
ON CONFLICT (address) DO UPDATE SET seen_at = excluded.seen_at`;

export class TypeOrmUntrustedProxies implements UntrustedProxyStore {
  constructor(private readonly db: Database) {}

  async saw({ address, seenAt }: UntrustedProxy): Promise<void> {
    await this.db.run((manager) => execute(manager, SAW, [address, seenAt]));
  }

  async seenSince(since: Date): Promise<UntrustedProxy[]> {
    const options = {
      where: { seenAt: MoreThanOrEqual(since) },
      order: { seenAt: 'DESC', address: 'ASC' },
      take: 100,
    } as const;
    const rows = await this.db.table(UntrustedProxyEntity, (proxies) => proxies.find(options));
    return rows.map((row) => ({ ...row }));
  }
}
