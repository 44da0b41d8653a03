import { QueryFailedError, type EntityManager } from 'typeorm';
import { withoutNul, type Rows } from './database.js';

/** What we use of `pg`'s client. */
interface Client {
  query(query: { name?: string; text: string; values: readonly unknown[] }): Promise<{ rows: unknown[]; rowCount: number | null }>;
}

/**
 * What a pooler between us and the server answers, when it hands each transaction to another connection of the server: the name is not known
 * there (26000), or known already (42P05).
 */
const NAME_IN_DOUBT = new Set(['26000', '42P05']);

/**
 * A statement that is run so often that reading and planning it anew would cost more than running it: each connection prepares it
 * once, under its name. Behind a pooler that cannot keep names it is sent in full every time.
 */
export class PreparedStatement {
  private isNamed = true;

  constructor(
    private readonly name: string,
    private readonly text: string,
  ) {}

  /** On the connection of this manager; NUL as with `execute`. */
  async run<T>(manager: EntityManager, params: readonly unknown[]): Promise<Rows<T>> {
    const values = params.map(withoutNul);
    const runner = manager.queryRunner;
    if (!runner) throw new Error('a statement outside Database.run and Database.transaction');
    const client = (await runner.connect()) as Client;
    try {
      return await this.query<T>(client, values);
    } catch (error) {
      throw new QueryFailedError(this.text, undefined, error instanceof Error ? error : new Error(String(error)));
    }
  }

  private async query<T>(client: Client, values: readonly unknown[]): Promise<Rows<T>> {
    if (!this.isNamed) return rowsOf(await client.query({ text: this.text, values }));
    try {
      return rowsOf(await client.query({ name: this.name, text: this.text, values }));
    } catch (error) {
      if (!NAME_IN_DOUBT.has(codeOf(error))) throw error;
      // The server did nothing with it.
      this.isNamed = false;
      return this.query<T>(client, values);
    }
  }
}

function rowsOf<T>(result: { rows: unknown[]; rowCount: number | null }): Rows<T> {
  return { rows: result.rows as T[], affected: result.rowCount ?? 0 };
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
