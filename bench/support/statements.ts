import { Redis } from 'ioredis';
import { Client } from 'pg';

/** Server settings that make PostgreSQL count statements by their text. */
export const COUNTS_STATEMENTS: Readonly<Record<string, string>> = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.max': '1000',
  'pg_stat_statements.track_utility': 'on',
};

const BY_TEXT = `
SELECT calls::integer, total_exec_time AS ms, rows::integer, regexp_replace(query, '\\s+', ' ', 'g') AS text FROM pg_stat_statements
WHERE query NOT LIKE '%pg_stat_statements%' ORDER BY calls DESC`;

interface Counted {
  readonly calls: number;
  readonly ms: number;
  readonly rows: number;
  readonly text: string;
}

/** Counts what a database server and a Redis server are asked: how many times each statement and each command. */
export class StatementCounter {
  private constructor(
    private readonly database: Client,
    private readonly redis: Redis,
  ) {}

  /** @param postgresUrl of a server with `COUNTS_STATEMENTS` */
  static async begin(postgresUrl: string, redisUrl: string): Promise<StatementCounter> {
    const database = new Client({ connectionString: postgresUrl });
    await database.connect();
    await database.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
    const redis = new Redis(redisUrl);
    await database.query('SELECT pg_stat_statements_reset()');
    await redis.config('RESETSTAT');
    return new StatementCounter(database, redis);
  }

  /** @returns a text: for each effect, how many of each */
  async end(effects: number): Promise<string> {
    const { rows } = await this.database.query<Counted>(BY_TEXT);
    const commands = [
      ...(await this.redis.info('commandstats')).matchAll(/^cmdstat_([^:]+):calls=(\d+),usec=(\d+)/gm),
    ].map(([, text = '', calls, usec]) => ({ calls: Number(calls), ms: Number(usec) / 1000, rows: 0, text }));
    await this.database.end();
    this.redis.disconnect();
    return [tableOf('statements', rows, effects), tableOf('Redis commands', commands, effects)].join('\n\n');
  }
}

function tableOf(what: string, counted: readonly Counted[], effects: number): string {
  const sum = (of: (one: Counted) => number): number => counted.reduce((all, one) => all + of(one), 0);
  const line = ({ calls, ms, text }: Pick<Counted, 'calls' | 'ms' | 'text'>): string =>
    [(calls / effects).toFixed(3), (ms / effects).toFixed(3), text.slice(0, 140)].join('\t');
  const head = `${what}: for each of ${effects} effects\tms\ttext`;
  const all = line({ calls: sum(({ calls }) => calls), ms: sum(({ ms }) => ms), text: 'all' });
  return [head, all, ...[...counted].sort((a, b) => b.calls - a.calls).map(line)].join('\n');
}
