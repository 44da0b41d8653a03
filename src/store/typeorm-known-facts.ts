import { parseJson, stringifyJson, type Json } from '../core/json.js';
import type { KnownFact, KnownFacts } from '../core/known-facts.port.js';
import type { Database } from './database.js';
import { KnownFactEntity } from './entities/governance.entities.js';

export class TypeOrmKnownFacts implements KnownFacts {
  constructor(private readonly db: Database) {}

  async read(forge: string, subject: string, kind: string): Promise<KnownFact | null> {
    const row = await this.db.table(KnownFactEntity, (facts) => facts.findOneBy({ forge, subject, kind }));
    return row && { fact: parseJson(row.fact), learnedAt: row.learnedAt };
  }

  async write(forge: string, subject: string, kind: string, fact: Json): Promise<void> {
    const row = { forge, subject, kind, fact: stringifyJson(fact), learnedAt: () => 'clock_timestamp()' };
    await this.db.table(KnownFactEntity, (facts) => facts.upsert(row, ['forge', 'subject', 'kind']));
  }
}
