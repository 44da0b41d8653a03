import pg from 'pg';
import type { RecordedStatement, RecordedTest } from './record.js';

/** What a statement cost in one store. */
export interface Played {
  /** Pages of 8 kB that it looked at, wherever they lay. */
  readonly buffers: number;
  /** Tables that it read from one end to the other. */
  readonly scans: readonly string[];
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Loops'?: number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly PlanNode[];
}

const UNIQUE_VIOLATION = '23505';

/** Each statement in a transaction that is rolled back, with the rows that its test had beside those of the store. */
export class Player {
  private constructor(private readonly client: pg.ClientBase) {}

  static async open(client: pg.ClientBase): Promise<Player> {
    // As the program's own connections (`src/store/database.ts`).
    await client.query('SET jit = off; SET statement_timeout = 60000');
    return new Player(client);
  }

  /**
   * @returns what each cost; null = it inserts what is there in any case
   * @throws Error with the statement when the server refuses one
   */
  async playTest({ statements, rows }: RecordedTest): Promise<Array<Played | null>> {
    const beside = await this.playAll(statements, rows);
    // What a test inserted is there at its end: such a statement is played without.
    const again = statements.filter((_, place) => beside[place] === null);
    const alone = again.length > 0 ? await this.playAll(again, {}) : [];
    return beside.map((played) => played ?? alone.shift() ?? null);
  }

  /** One transaction, so that the rows of the test are written once; each statement is undone before the next. */
  private async playAll(
    statements: readonly RecordedStatement[],
    rows: RecordedTest['rows'],
  ): Promise<Array<Played | null>> {
    const { client } = this;
    const played: Array<Played | null> = [];
    await client.query('BEGIN');
    try {
      await this.addRows(rows);
      await client.query('SAVEPOINT before');
      for (const statement of statements) {
        const first = await this.playOnce(statement);
        // The first one marks in the indexes what is dead.
        const second = first && (await this.playOnce(statement));
        played.push(first && second && second.buffers < first.buffers ? second : first);
      }
      return played;
    } finally {
      await client.query('ROLLBACK');
      await client.query('DEALLOCATE ALL');
    }
  }

  /** @returns null when the statement inserts what is there */
  private async playOnce(statement: RecordedStatement): Promise<Played | null> {
    try {
      return await this.play(statement);
    } catch (error) {
      if (error instanceof pg.DatabaseError && error.code === UNIQUE_VIOLATION) return null;
      throw new Error(`${error instanceof Error ? error.message : String(error)} in:\n${statement.text}`, {
        cause: error,
      });
    } finally {
      await this.client.query('ROLLBACK TO SAVEPOINT before');
    }
  }

  /** What was rolled back is still in the pages, and would be counted with what a statement looks at. */
  async clean(): Promise<void> {
    await this.client.query('VACUUM (INDEX_CLEANUP ON)');
  }

  /** What is there already stays, and nothing that a row refers to need be there. */
  private async addRows(rows: RecordedTest['rows']): Promise<void> {
    await this.client.query('SET LOCAL session_replication_role = replica');
    for (const [table, list] of Object.entries(rows))
      await this.client.query(
        `INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1::json) ON CONFLICT DO NOTHING`,
        [list],
      );
  }

  private async play({ text, values, isPlanned }: RecordedStatement): Promise<Played> {
    const { client } = this;
    await client.query(`SET LOCAL plan_cache_mode = ${isPlanned ? 'force_custom_plan' : 'force_generic_plan'}`);
    await client.query(`DEALLOCATE ALL; PREPARE played AS ${text}`);
    const list = values.map((value) => (value === null ? 'NULL' : pg.escapeLiteral(value))).join(', ');
    const asked = `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) EXECUTE played${list === '' ? '' : `(${list})`}`;
    const { rows } = await client.query<{ 'QUERY PLAN': Array<{ Plan: PlanNode }> }>(asked);
    const plan = rows[0]?.['QUERY PLAN'][0]?.Plan;
    if (!plan) throw new Error('no plan was told');
    return {
      buffers: (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0),
      scans: [...new Set(scansOf(plan))].sort(),
    };
  }
}

function scansOf(node: PlanNode): string[] {
  const own =
    node['Node Type'] === 'Seq Scan' && (node['Actual Loops'] ?? 0) > 0 && node['Relation Name'] !== undefined
      ? [node['Relation Name']]
      : [];
  return [...own, ...(node.Plans ?? []).flatMap(scansOf)];
}

/** Rows of each table, by counting. */
export async function countRows(client: pg.ClientBase): Promise<ReadonlyMap<string, number>> {
  const { rows: tables } = await client.query<{ name: string }>(
    'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()',
  );
  const counts = new Map<string, number>();
  for (const { name } of tables) {
    const { rows } = await client.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${name}`);
    counts.set(name, rows[0]?.count ?? 0);
  }
  return counts;
}
