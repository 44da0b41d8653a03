import { parseJson, stringifyJson, type Json } from '../core/json.js';
import type { KnownFact, KnownFacts } from '../core/known-facts.port.js';
import { execute, type Database } from './database.js';

const READ = `SELECT fact, learned_at AS "learnedAt" FROM known_facts WHERE forge = $1 AND subject = $2 AND kind = $3`;
const WRITE = `
INSERT INTO known_facts (forge, subject, kind, fact, learned_at) VALUES ($1, $2, $3, $4, clock_timestamp())
ON CONFLICT (forge, subject, kind) DO UPDATE SET fact = excluded.fact, learned_at = excluded.learned_at`;

export class TypeOrmKnownFacts implements KnownFacts {
  constructor(private readonly db: Database) {}

  async read(forge: string, subject: string, kind: string): Promise<KnownFact | null> {
    const { rows } = await this.db.run((manager) =>
      execute<{ fact: string; learnedAt: Date }>(manager, READ, [forge, subject, kind]),
    );
    const [row] = rows;
    return row ? { fact: parseJson(row.fact), learnedAt: row.learnedAt } : null;
  }

  async write(forge: string, subject: string, kind: string, fact: Json): Promise<void> {
    await this.db.run((manager) => execute(manager, WRITE, [forge, subject, kind, stringifyJson(fact)]));
  }
}
