import pg from 'pg';
import { Secret } from '../../src/core/secret.js';
import { openStores, type Stores } from '../../src/store/open-stores.js';
import { loseDeliveries, type LossReport } from '../integration/lost-deliveries/lose-deliveries.js';

/** Deliveries of the full count; the slice that runs with the tests makes 2,000, on the embedded store 300. */
export const LOSSES = 10_000;

/**
 * G4 in virtual time: half of the deliveries dropped at random, the bot down for ten minutes. On PostgreSQL where the tests have one, else on the embedded
 * store in memory.
 */
export async function runLossGoal(seed: number, facts: number, say: (line: string) => void): Promise<LossReport> {
  const url = process.env['FORGEHAND_TEST_POSTGRES_URL'];
  const database = url === undefined ? null : await freshDatabase(url);
  say(`G4: ${facts} deliveries on ${database ? 'PostgreSQL' : 'the embedded store'}`);
  const stores: Stores = await openStores(
    database ? { kind: 'postgres', url: new Secret(database.url) } : { kind: 'embedded', dir: ':memory:' },
  );
  try {
    await stores.migrate();
    return await loseDeliveries({ facts, seed, stores });
  } finally {
    await stores.close();
    await database?.drop();
  }
}

/** Lines for people, and whether all holds. */
export function tellLossGoal(report: LossReport): { lines: string[]; holds: boolean } {
  const { visible, ofTasks, dropped, whileDown, late, doubled, untold, invented, byClass, idlePages } = report;
  const few = (list: readonly string[]): string => (list.length === 0 ? '' : ` (${list.slice(0, 3).join(' | ')})`);
  const classes = Object.entries(byClass).map(([name, count]) => `${count} ${name}`);
  return {
    lines: [
      `G4, seed ${report.seed}: ${visible} deliveries that rows can tell (${ofTasks} of jobs), ${dropped} dropped, ${whileDown} sent while the bot was down`,
      `  ${late.length} not there within two polls${few(late)}, ${doubled.length} told twice${few(doubled)}`,
      `  gaps: ${classes.join(', ')}; ${untold.length} injected and not listed${few(untold)}, ${invented.length} listed and not injected${few(invented)}`,
      `  ${idlePages} page of the feed in a poll without news`,
    ],
    holds:
      late.length + doubled.length + untold.length + invented.length === 0 &&
      idlePages === 1 &&
      dropped > visible / 4 &&
      whileDown > 0,
  };
}

async function freshDatabase(url: string): Promise<{ url: string; drop: () => Promise<void> }> {
  const name = `forgehand_chaos_${process.pid}`;
  const ask = async (sql: string): Promise<void> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  await ask(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
  const own = new URL(url);
  own.pathname = `/${name}`;
  return { url: own.href, drop: () => ask(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}
