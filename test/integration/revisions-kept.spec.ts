import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RunReport } from '../../src/api/operations/answers.js';
import { readConfig } from '../../src/config/read-config.js';
import type { RunExplanation } from '../../src/insight/explanation.js';
import { openStores } from '../../src/store/open-stores.js';
import { freshRedisUrl } from '../services/test-redis.js';
import { createTestDatabase, describeOnPostgres, type TestDatabase } from '../services/test-stores.js';
import { until } from '../services/until.js';
import { aBot, type TestBot } from './support/a-bot.js';
import { acmeConfig } from './support/acme-config.js';
import { aForge, type TestForge } from './support/a-forge.js';

const REVISIONS = 6;
const HOOK = 'the secret of the hook';

/** Each revision asks for something else, and moves its condition by a line. */
const rulesOf = (n: number): string => `version: 1
org: acme
rules:
${'  # a line more\n'.repeat(n)}  - id: picky
    on: issue.opened
    if: { wanted: event.issue.title == "wanted by ${n}" }
    do: { label.ensure: { name: never, color: "#00ff00" } }
`;

for (const [kind, describeIt] of [
  ['embedded', describe],
  ['postgres', describeOnPostgres],
] as const)
  describeIt(`integration/revisions live as long as what they decided: ${kind}`, () => {
    const dir = mkdtempSync(join(tmpdir(), 'fh-revisions-'));
    let database: TestDatabase | null = null;
    let forge: TestForge;
    let bot: TestBot;

    beforeAll(async () => {
      forge = await aForge({ org: 'acme' });
      await forge.control('/_sandbox/given', { repo: 'acme/app' });
      if (kind === 'postgres') database = await createTestDatabase();
      bot = await started(0);
      await forge.hook(`${bot.url}/webhooks/acme`, HOOK);
    });

    afterAll(async () => {
      await bot?.close();
      await forge?.close();
      await database?.drop();
      rmSync(dir, { recursive: true, force: true });
    });

    const started = async (revision: number): Promise<TestBot> =>
      aBot({
        config: {
          ...acmeConfig(forge, { org: { feed: { every_s: 3600 } } }),
          store: { url: database ? { env: 'STORE' } : `embedded:${dir}` },
          ...(database ? { queue: { url: { env: 'QUEUE' } } } : {}),
          keys: { data: { env: 'DATA_KEY' } },
          retention: { inbox_days: 1, tick_days: 7 },
          console: { enabled: false },
        },
        files: { 'rules/r.yaml': rulesOf(revision) },
        env: {
          FORGE_TOKEN: forge.botToken,
          HOOK,
          DATA_KEY: 'a key of the store that is long enough',
          STORE: database?.url ?? '',
          QUEUE: database ? await freshRedisUrl() : '',
        },
      });
    const runs = async (): Promise<Array<RunReport['run']>> =>
      (await bot.reach.rows<RunReport>('/v1/runs', { rule: 'picky', limit: 50 })).map(({ run }) => run).reverse();
    /** What is derived of each run, without what tells the state of its revision today. */
    const explained = async (): Promise<Array<Pick<RunExplanation, 'conditions' | 'look' | 'source' | 'notes'>>> => {
      const told = [];
      for (const { id } of await runs()) {
        const { conditions, look, source, notes } = await bot.reach.get<RunExplanation>('/v1/explain', { id });
        told.push({ conditions, look, source, notes });
      }
      return told;
    };
    const run = (job: string): Promise<{ runs: Array<{ outcome: { changes: string[] } | null }> }> =>
      bot.reach.post(`/v1/housekeeping/${job}/run`);

    it('explains every event as on its day, after retention and housekeeping, and after its rules were replaced many times', async () => {
      for (let n = 0; n < REVISIONS; n += 1) {
        if (n > 0) bot.write('rules/r.yaml', rulesOf(n));
        await until(async () => bot.log().split('"revision.active"').length === n + 2);
        await forge.act('issue.open', { repo: 'acme/app', title: `title ${n}` });
        await until(async () => (await runs()).length === n + 1);
      }
      const decided = await runs();
      const before = await explained();
      const { store } = readConfig(bot.configFile);
      await bot.close();

      const stores = await openStores(store);
      const traces = await stores.dataSource.query('SELECT DISTINCT trace FROM runs');
      for (const [table, column] of [
        ['arrivals', 'arrived_at'],
        ['events', 'stored_at'],
        ['revisions', 'loaded_at'],
      ] as const)
        await stores.dataSource.query(`UPDATE ${table} SET ${column} = ${column} - interval '300 days'`);
      await stores.close();
      bot = await started(REVISIONS);
      const archived = await run('inbox.archive');
      await run('ticks.prune');
      await run('rules.reload');

      expect(traces).toEqual([{ trace: 'null' }]);
      expect(new Set(decided.map(({ revisionId }) => revisionId)).size).toBe(REVISIONS);
      expect(Number.parseInt(archived.runs[0]?.outcome?.changes[0] ?? '', 10)).toBeGreaterThanOrEqual(REVISIONS);
      expect(before).toMatchObject(
        decided.map((_run, n) => ({
          conditions: [{ name: 'wanted', state: 'false', seen: { 'event.issue.title': `title ${n}` } }],
          look: { file: expect.stringMatching(/r\.yaml$/), line: 6 + n },
          notes: [],
        })),
      );
      expect(await explained()).toEqual(before);
    });
  });
