import type { OperatorStore } from '../../src/core/operator-store.port.js';
import type { Operator } from '../../src/core/operators.js';

/** Twin of the table of operators. */
export class InMemoryOperatorStore implements OperatorStore {
  private readonly rows = new Map<string, { operator: Operator; tokenHash: string }>();

  async add(operator: Operator, tokenHash: string): Promise<void> {
    if (!this.rows.has(operator.id)) this.rows.set(operator.id, { operator, tokenHash });
  }

  async byTokenHash(tokenHash: string): Promise<Operator | null> {
    return [...this.rows.values()].find((row) => row.tokenHash === tokenHash)?.operator ?? null;
  }

  async list(): Promise<Operator[]> {
    return [...this.rows.values()].map(({ operator }) => operator);
  }

  async revoke(nameOrId: string, by: string, at: Date): Promise<Operator[]> {
    const revoked: Operator[] = [];
    for (const row of this.rows.values()) {
      const { id, name, revokedAt } = row.operator;
      if ((id !== nameOrId && name !== nameOrId) || revokedAt !== null) continue;
      row.operator = { ...row.operator, revokedBy: by, revokedAt: at };
      revoked.push(row.operator);
    }
    return revoked;
  }
}
