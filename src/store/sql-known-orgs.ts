import { parseJson } from '../core/json.js';
import type { KnownFacts } from '../core/known-facts.port.js';
import { KnownOrgs, orgsOfFacts, type KnownOrg } from '../core/known-orgs.port.js';
import { execute, type Database } from './database.js';

interface Row {
  readonly forge: string;
  readonly subject: string;
  readonly kind: string;
  readonly fact: string;
}

export class SqlKnownOrgs extends KnownOrgs {
  constructor(
    private readonly db: Database,
    facts: Pick<KnownFacts, 'write'>,
  ) {
    super(facts);
  }

  /** Through a view: a receiver may read it, and no other facts. */
  async all(): Promise<KnownOrg[]> {
    const { rows } = await this.db.run((manager) =>
      execute<Row>(manager, 'SELECT forge, subject, kind, fact FROM known_organizations ORDER BY forge, subject'),
    );
    return orgsOfFacts(rows.map(({ fact, ...row }) => ({ ...row, fact: parseJson(fact) })));
  }
}
