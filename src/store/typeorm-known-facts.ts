import { parseJson, stringifyJson, type Json } from '../core/json.js';
import type { FactOfSubject, KnownFact, KnownFacts } from '../core/known-facts.port.js';
import { execute, type Database } from './database.js';
import { KnownFactEntity } from './entities/governance.entities.js';

/** A claim is a row of its own, whose fact is its holder; one that is old enough belongs to nobody. */
const CLAIM = `
INSERT INTO known_facts AS k (forge, subject, kind, fact) VALUES ($1, $2, $3, $5)
ON CONFLICT (forge, subject, kind) DO UPDATE SET learned_at = clock_timestamp(), fact = EXCLUDED.fact
WHERE k.learned_at < clock_timestamp() - $4::double precision * interval '1 millisecond'
  OR (k.fact = EXCLUDED.fact AND k.fact <> 'null')
RETURNING forge`;

const OF = `
SELECT forge, subject, kind, fact, learned_at AS "learnedAt" FROM known_facts WHERE kind = ANY (CAST($1 AS text[])) AND subject = ANY (CAST($2 AS text[]))`;

type FactRow = Omit<FactOfSubject, 'fact'> & { readonly fact: string };

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

  async all(kind: string): Promise<FactOfSubject[]> {
    const rows = await this.db.table(KnownFactEntity, (facts) => facts.findBy({ kind }));
    return rows.map(({ fact, ...row }) => ({ ...row, fact: parseJson(fact) }));
  }

  async of(kinds: readonly string[], subjects: readonly string[]): Promise<FactOfSubject[]> {
    const { rows } = await this.db.run((manager) => execute<FactRow>(manager, OF, [kinds, subjects]));
    return rows.map(({ fact, ...row }) => ({ ...row, fact: parseJson(fact) }));
  }

  async claim(forge: string, subject: string, kind: string, forMs: number, holder?: string): Promise<boolean> {
    const params = [forge, subject, claimOf(kind), forMs, stringifyJson(holder ?? null)];
    const { rows } = await this.db.run((manager) => execute(manager, CLAIM, params));
    return rows.length > 0;
  }

  async release(forge: string, subject: string, kind: string, holder?: string): Promise<void> {
    const ofHolder = holder === undefined ? {} : { fact: stringifyJson(holder) };
    await this.db.table(KnownFactEntity, (facts) => facts.delete({ forge, subject, kind: claimOf(kind), ...ofHolder }));
  }
}

function claimOf(kind: string): string {
  return `${kind}.claim`;
}
