import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RunReport } from '../../src/api/operations/answers.js';
import type { RunExplanation } from '../../src/insight/explanation.js';
import type { HistoryAnswer } from '../../src/insight/history-store.port.js';
import { freshRedisUrl, REDIS_URL } from '../services/test-redis.js';
import { createTestDatabase, POSTGRES_URL, type TestDatabase } from '../services/test-stores.js';
import { until } from '../services/until.js';
import { acmeConfig } from './support/acme-config.js';
import { aBot, type TestBot } from './support/a-bot.js';
import { aForge, type TestForge } from './support/a-forge.js';
import { dumpTables } from './support/dump-tables.js';

const HOOK = 'the hook secret of acme, long enough';
/** Stands in a file of the private repository. */
const PRIVATE = 'canary-private-5c1e';
/** Stands in the same file of the public one. */
const PUBLIC = 'canary-public-83b0';

const LOOKUP = '{ note: { use: files.read, with: { files: [note.txt] } } }';
const RULES = `version: 1
org: acme
rules:
  - id: met
    on: [issue.opened]
    lookup: ${LOOKUP}
    if: { says: 'lookups.note[0].content.startsWith("canary-")' }
    do: { label.ensure: { name: met, color: "#112233" } }
  - id: unmet
    on: [issue.opened]
    lookup: ${LOOKUP}
    if: { says: 'lookups.note[0].content == "another text"' }
    do: { label.ensure: { name: unmet, color: "#112233" } }
`;

const DEPLOYMENTS = ['embedded', ...(POSTGRES_URL && REDIS_URL ? (['distributed'] as const) : [])] as const;

describe.each(DEPLOYMENTS)('integration/sealed-answers: %s', (deployment) => {
  let database: TestDatabase | null = null;
  let forge: TestForge;
  let bot: TestBot;

  beforeAll(async () => {
    forge = await aForge({ org: 'acme' });
    for (const [repo, content] of [
      ['acme/vault', PRIVATE],
      ['acme/open', PUBLIC],
    ] as const) {
      await forge.control('/_sandbox/given', { repo, private: repo === 'acme/vault', auto_init: true });
      await forge.control('/_sandbox/given', { file: 'note.txt', repo, content });
    }
    const isDistributed = deployment === 'distributed';
    if (isDistributed) database = await createTestDatabase();
    bot = await aBot({
      config: {
        ...acmeConfig(forge, { org: { feed: { every_s: 3600 } } }),
        ...(isDistributed ? { store: { url: { env: 'DATABASE_URL' } }, queue: { url: { env: 'REDIS_URL' } } } : {}),
        keys: { data: { env: 'DATA_KEY' } },
        log: { level: 'debug' },
      },
      files: { 'rules/r.yaml': RULES },
      env: {
        FORGE_TOKEN: forge.botToken,
        HOOK,
        DATA_KEY: 'a key of the store that is long enough',
        ...(isDistributed ? { DATABASE_URL: database?.url ?? '', REDIS_URL: await freshRedisUrl() } : {}),
      },
    });
    await forge.hook(`${bot.url}/webhooks/acme`, HOOK);
    for (const repo of ['acme/vault', 'acme/open']) await forge.act('issue.open', { repo, title: 'one' });
    await until(async () => (await runs()).length === 4);
  });

  afterAll(async () => {
    await bot?.close();
    await forge?.close();
    await database?.drop();
  });

  const runs = (rule?: string): Promise<RunReport[]> =>
    bot.reach.rows<RunReport>('/v1/runs', { limit: 50, ...(rule === undefined ? {} : { rule }) });

  it('shows what was read of a private repository to whoever asks the control API', async () => {
    const told = await Promise.all(
      (await runs()).map(({ run }) => bot.reach.get<RunExplanation>('/v1/explain', { id: run.id })),
    );
    const answers = told.map((one) => [
      one.run.rule,
      one.event?.repo,
      JSON.stringify([one.lookups, one.conditions]).match(/canary-[a-z]+-[0-9a-f]{4}/)?.[0],
    ]);

    expect(answers.map((one) => one.join(' ')).sort()).toEqual([
      `met acme/open ${PUBLIC}`,
      `met acme/vault ${PRIVATE}`,
      `unmet acme/open ${PUBLIC}`,
      `unmet acme/vault ${PRIVATE}`,
    ]);
  });

  it('gives it to those who try rules on history', async () => {
    for (const { run } of await runs('unmet')) {
      const id = run.cause.kind === 'event' ? run.cause.eventId : '';
      const history = await bot.reach.get<HistoryAnswer>(`/v1/history/${id}`);

      expect(history.runs.map(({ lookups }) => JSON.stringify(lookups))).toEqual(
        history.runs.map(() => expect.stringMatching(/canary-(private|public)/)),
      );
      expect(await bot.reach.get('/v1/explain', { id, rule: 'unmet' })).toMatchObject({ verdict: 'not-fired' });
    }
  });

  it('keeps what was read of a private repository in no table and no log, and what was read of a public one as it is', async () => {
    const log = bot.log();
    const { store } = bot.reach.config;
    await bot.stop();
    const tables = await dumpTables(store);

    const rows = tables.split('\n').filter((row) => row.includes(PRIVATE));
    expect(rows.map((row) => row.slice(0, row.indexOf(':')))).toEqual([]);
    expect(tables).toContain(PUBLIC);
    expect(log).not.toContain(PRIVATE);
  });
});
