import type { OperatorStore } from '../core/operator-store.port.js';
import { OPERATOR_SCOPES, type Operator } from '../core/operators.js';
import { execute, type Database } from './database.js';

const COLUMNS =
  'id, name, login, scopes, made_by AS "madeBy", made_at AS "madeAt", expires_at AS "expiresAt", revoked_by AS "revokedBy", revoked_at AS "revokedAt"';
const ADD = `
INSERT INTO operators (id, name, login, scopes, token_hash, made_by, made_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (id) DO NOTHING`;
const REVOKE = `
UPDATE operators SET revoked_by = $2, revoked_at = $3 WHERE (id = $1 OR name = $1) AND revoked_at IS NULL RETURNING ${COLUMNS}`;

type Row = Omit<Operator, 'scopes'> & { scopes: string };

export class TypeOrmOperatorStore implements OperatorStore {
  constructor(private readonly db: Database) {}

  async add({ id, name, login, scopes, madeBy, madeAt, expiresAt }: Operator, tokenHash: string): Promise<void> {
    await this.db.run((manager) =>
      execute(manager, ADD, [id, name, login, scopes.join(' '), tokenHash, madeBy, madeAt, expiresAt]),
    );
  }

  async byTokenHash(tokenHash: string): Promise<Operator | null> {
    const { rows } = await this.db.run((manager) =>
      execute<Row>(manager, `SELECT ${COLUMNS} FROM operators WHERE token_hash = $1`, [tokenHash]),
    );
    return rows[0] ? toOperator(rows[0]) : null;
  }

  async list(): Promise<Operator[]> {
    const { rows } = await this.db.run((manager) =>
      execute<Row>(manager, `SELECT ${COLUMNS} FROM operators ORDER BY seq`, []),
    );
    return rows.map(toOperator);
  }

  async revoke(nameOrId: string, by: string, at: Date): Promise<Operator[]> {
    return (
      await this.db.transaction(async (manager) => (await execute<Row>(manager, REVOKE, [nameOrId, by, at])).rows)
    ).map(toOperator);
  }
}

function toOperator({ scopes, madeAt, expiresAt, revokedAt, ...row }: Row): Operator {
  const known = scopes.split(' ');
  return {
    ...row,
    scopes: OPERATOR_SCOPES.filter((scope) => known.includes(scope)),
    madeAt: new Date(madeAt),
    expiresAt: new Date(expiresAt),
    revokedAt: revokedAt && new Date(revokedAt),
  };
}
