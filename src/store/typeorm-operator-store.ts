import { In } from 'typeorm';
import type { OperatorStore } from '../core/operator-store.port.js';
import type { Operator } from '../core/operators.js';
import { execute, type Database } from './database.js';
import { OperatorEntity } from './entities/governance.entities.js';

const ADD = `
INSERT INTO operators (id, name, login, scopes, token_hash, made_by, made_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (id) DO NOTHING`;
const REVOKE = `
UPDATE operators SET revoked_by = $2, revoked_at = $3 WHERE (id = $1 OR name = $1) AND revoked_at IS NULL RETURNING id`;

export class TypeOrmOperatorStore implements OperatorStore {
  constructor(private readonly db: Database) {}

  async add({ id, name, login, scopes, madeBy, madeAt, expiresAt }: Operator, tokenHash: string): Promise<void> {
    await this.db.run((manager) =>
      execute(manager, ADD, [id, name, login, scopes.join(' '), tokenHash, madeBy, madeAt, expiresAt]),
    );
  }

  async byTokenHash(tokenHash: string): Promise<Operator | null> {
    const row = await this.db.table(OperatorEntity, (operators) => operators.findOneBy({ tokenHash }));
    return row && toOperator(row);
  }

  async list(): Promise<Operator[]> {
    const rows = await this.db.table(OperatorEntity, (operators) => operators.find({ order: { seq: 'ASC' } }));
    return rows.map(toOperator);
  }

  async revoke(nameOrId: string, by: string, at: Date): Promise<Operator[]> {
    return this.db.transaction(async (manager) => {
      const { rows } = await execute<{ id: string }>(manager, REVOKE, [nameOrId, by, at]);
      const revoked = { id: In(rows.map(({ id }) => id)) };
      return (await manager.find(OperatorEntity, { where: revoked, order: { seq: 'ASC' } })).map(toOperator);
    });
  }
}

function toOperator({ tokenHash: _hash, seq: _seq, ...operator }: OperatorEntity): Operator {
  return operator;
}
