import pg from 'pg';

/** Settings, the ends of transactions and of prepared statements are none. */
const IS_STATEMENT = /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/i;

/** The statements that this process sent while `work` ran, of every connection and of both stores. */
export async function countStatements<T>(work: () => Promise<T>): Promise<{ answer: T; statements: string[] }> {
  const statements: string[] = [];
  const { query } = pg.Client.prototype as unknown as { query: (...args: unknown[]) => unknown };
  const noting = function (this: pg.Client, ...args: unknown[]): unknown {
    const [asked] = args;
    const text = typeof asked === 'string' ? asked : (asked as { text?: string }).text;
    if (text !== undefined && IS_STATEMENT.test(text)) statements.push(text);
    return query.apply(this, args);
  };
  Object.assign(pg.Client.prototype, { query: noting });
  try {
    return { answer: await work(), statements };
  } finally {
    Object.assign(pg.Client.prototype, { query });
  }
}
