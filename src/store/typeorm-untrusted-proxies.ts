import type { UntrustedProxy, UntrustedProxyStore } from '../webhooks/untrusted-proxies.port.js';
import { execute, type Database } from './database.js';

const SAW = `
INSERT INTO untrusted_proxies (address, seen_at) VALUES ($1, $2)
ON CONFLICT (address) DO UPDATE SET seen_at = excluded.seen_at`;

const SEEN = `SELECT address, seen_at AS "seenAt" FROM untrusted_proxies WHERE seen_at >= $1 ORDER BY seen_at DESC, address LIMIT 100`;

export class TypeOrmUntrustedProxies implements UntrustedProxyStore {
  constructor(private readonly db: Database) {}

  async saw({ address, seenAt }: UntrustedProxy): Promise<void> {
    await this.db.run((manager) => execute(manager, SAW, [address, seenAt]));
  }

  async seenSince(since: Date): Promise<UntrustedProxy[]> {
    return this.db.run(async (manager) => (await execute<UntrustedProxy>(manager, SEEN, [since])).rows);
  }
}
