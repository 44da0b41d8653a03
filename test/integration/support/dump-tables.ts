import type { StoreConfig } from '../../../src/config/app-config.js';
import { openStores } from '../../../src/store/open-stores.js';

/** Every row of every table as text; bytes both as hex and as the text they hold. */
export async function dumpTables(store: StoreConfig): Promise<string> {
  const stores = await openStores(store);
  try {
    const tables = await stores.dataSource.query<Array<{ name: string }>>(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
    );
    const rows = await Promise.all(
      tables.map(({ name }) => stores.dataSource.query<unknown[]>(`SELECT * FROM ${name}`)),
    );
    return tables
      .map(({ name }, i) => `${name}: ${JSON.stringify(rows[i], (_key, value: unknown) => asText(value))}`)
      .join('\n');
  } finally {
    await stores.close();
  }
}

function asText(value: unknown): unknown {
  const bytes =
    (value as { type?: string; data?: number[] } | null)?.type === 'Buffer'
      ? Buffer.from((value as { data: number[] }).data)
      : null;
  return bytes ? `${bytes.toString('hex')} ${bytes.toString('utf8')}` : value;
}
