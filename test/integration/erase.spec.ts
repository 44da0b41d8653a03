import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { RunReport, StatusReport } from '../../src/api/operations/answers.js';
import { readConfig } from '../../src/config/read-config.js';
import { Encryptor } from '../../src/core/encryptor.js';
import { Secret } from '../../src/core/secret.js';
import { auditKey, checkPage } from '../../src/housekeeping/audit/audit-check.js';
import { PersonErasure, type ErasureReport } from '../../src/housekeeping/erase/person-erasure.js';
import { openStores, type Stores } from '../../src/store/open-stores.js';
import { freshRedisUrl } from '../services/test-redis.js';
import { createTestDatabase, describeOnPostgres, type TestDatabase } from '../services/test-stores.js';
import { until } from '../services/until.js';
import { aBot, type TestBot } from './support/a-bot.js';
import { acmeConfig } from './support/acme-config.js';
import { keepStatements, watchMethods, watchStatements } from '../storms/statements/record.js';
import { aForge, type TestForge } from './support/a-forge.js';
import { dumpTables } from './support/dump-tables.js';

/** How often the bot reads the feed. */
const FEED_MS = 500;
const KEY = 'a-key-for-tests-0123456789abcdef';
const ENV = { HOOK: 'h'.repeat(40), DATA_KEY: KEY };
const ENCRYPTOR = new Encryptor(new Secret(KEY));
/** Whatever ann wrote or is. */
const CANARY = 'canary';
const ADDRESS = 'ann.canary@example.org';

const RULES = `version: 1
org: acme
rules:
  - id: greet
    on: [issue.opened]
    lookup:
      issue: { use: issue.get, with: { number: "\${{ event.number }}" } }
    if: { some: lookups.issue.title.size() > 3 }
    do:
      issue.comment: { number: "\${{ event.number }}", key: hello, body: "Thanks for: \${{ event.issue.title }}" }
  - id: never
    on: [comment.created]
    if: event.comment.body.startsWith("stays")
    do:
      issue.comment: { number: "\${{ event.number }}", key: echo, body: "\${{ event.comment.body }}" }
`;

let forge: TestForge | null = null;
let bot: TestBot | null = null;
let database: TestDatabase | null = null;

afterEach(async () => {
  await bot?.close();
  await forge?.close();
  await database?.drop();
  [bot, forge, database] = [null, null, null];
});

for (const [kind, describeIt] of [
  ['embedded', describe],
  ['postgres', describeOnPostgres],
] as const)
  describeIt(`integration/erase: ${kind}`, () => {
    it('takes a person out of bodies, events and runs, sealed ones too, and keeps keys, counts, others and the chain', async () => {
      forge = await aForge({ org: 'acme' });
      const given = { user: 'ann', full_name: 'Ann Canary' };
      for (const one of [given, { repo: 'acme/open' }, { repo: 'acme/hidden', private: true }])
        await forge.control('/_sandbox/given', one);
      await forge.control('/_sandbox/accounts', { login: 'ann', org: 'acme', team: 'Owners' });
      const { world } = forge.sandbox.parts;
      const ann = world.userByName('ann');
      if (ann) ann.email = ADDRESS;
      bot = await started(forge, kind);
      const hook = {
        url: `${bot.url}/webhooks/acme`,
        secret: ENV.HOOK,
        events: ['issues', 'issue_comment'],
      };
      await forge.control('/_sandbox/hooks', { org: 'acme', ...hook });
      await forge.control('/_sandbox/hooks', { repo: 'acme/open', content_type: 'form', ...hook });
      for (const repo of ['acme/open', 'acme/hidden']) {
        const as = (login: string, act: string, params: object) =>
          forge?.control('/_sandbox/act', { as: login, act, repo, ...params });
        await as('ann', 'issue.open', { title: 'a canary title', body: 'a canary body' });
        await as('ann', 'comment.create', { number: 1, body: 'a canary comment' });
        await as('olga', 'comment.create', { number: 1, body: `stays here\nSigned-off-by: Ann Canary <${ADDRESS}>` });
        await as('olga', 'issue.edit', { number: 1, title: 'a new title' });
      }
      await settled(bot);
      const { configFile, reach } = bot;
      const before = await reach.post<ErasureReport>('/v1/erase', { login: 'ann', dryRun: true });
      expect([before.arrivals, before.events, before.runs].every((n) => n > 0)).toBe(true);
      expect(before.addresses).toContain(ADDRESS);
      const { store } = readConfig(configFile);
      await bot.stop();

      watchStatements();
      const stores = await openStores(store);
      watchMethods(stores);
      try {
        for (const [n, by] of ['person:ann@main', 'person:olga@main'].entries()) {
          const reason = n === 0 ? 'a canary reason' : `stays too, as told by Ann Canary <${ADDRESS}>`;
          const told = { id: `act-${n}`, by, byKind: 'person', operation: 'retry', org: 'acme', about: {}, reason };
          await stores.acts.begin(told);
          await stores.acts.end(told.id, 'done');
        }
        const [wasSealed, counts] = [await sealed(stores), await countsOf(stores)];
        expect(wasSealed).toBeGreaterThan(0);
        expect(await formsWith(stores, CANARY)).toBeGreaterThan(0);
        const erasure = new PersonErasure(stores.erasure, ENCRYPTOR);

        const planned = await erasure.run('main', 'ann', [], true);
        expect(await erasure.run('main', 'ann', [], false)).toEqual(planned);

        expect(await countsOf(stores)).toEqual(counts);
        const { broken, again } = await checkPage(stores.audit, auditKey(ENCRYPTOR), 'acme', 0, 500, new Date());
        expect([broken, again.length > 0]).toEqual([null, true]);
        expect(planned.acts).toBe(2);
        expect(again).toEqual(expect.arrayContaining(['act-0', 'act-1']));
        expect(await erasure.run('main', 'ann', [ADDRESS], false)).toMatchObject({
          arrivals: 0,
          events: 0,
          runs: 0,
          acts: 0,
        });
      } finally {
        if (kind === 'postgres') await keepStatements(stores.dataSource);
        await stores.close();
      }

      const dump = opened(await dumpTables(store));
      expect(lines(dump, CANARY)).toEqual([]);
      expect(dump).toContain('stays here');
      expect(dump).toContain('a new title');
      expect(dump).toContain('ann');
    });
  });

async function started(at: TestForge, kind: 'embedded' | 'postgres'): Promise<TestBot> {
  database = kind === 'postgres' ? await createTestDatabase() : null;
  const config = acmeConfig(at);
  const stored = database ? { store: { url: { env: 'STORE' } }, queue: { url: { env: 'QUEUE' } } } : {};
  return aBot({
    config: { ...config, ...stored, keys: { data: { env: 'DATA_KEY' } }, console: { enabled: false } },
    files: { 'rules/r.yaml': RULES },
    env: {
      ...ENV,
      FORGE_TOKEN: at.botToken,
      STORE: database?.url ?? '',
      QUEUE: database ? await freshRedisUrl() : '',
    },
  });
}

/** Two greetings and two echoes were made, the feed has told of them, and nothing is left to decide. */
async function settled({ reach }: TestBot): Promise<void> {
  let [known, isQuiet] = ['', 0];
  await until(async () => {
    const runs = (await reach.rows<RunReport>('/v1/runs?limit=200')).map(({ run }) => run);
    const done = (rule: string): number => runs.filter((run) => run.rule === rule && run.state === 'done').length;
    const { backlog } = await reach.get<StatusReport>('/v1/status');
    const isIdle = backlog.arrivals + backlog.events === 0 && runs.every(({ state }) => state !== 'open');
    const now = JSON.stringify(runs.map(({ id }) => id));
    isQuiet = isIdle && done('greet') === 2 && done('never') === 2 && now === known ? isQuiet + 1 : 0;
    known = now;
    await setTimeout(FEED_MS);
    return isQuiet > 3;
  }, 100);
}

async function sealed({ audit }: Stores): Promise<number> {
  let sum = 0;
  for (const org of await audit.unsealed()) sum += (await audit.seal(org, 500, 0, auditKey(ENCRYPTOR)))?.added ?? 0;
  return sum;
}

async function countsOf({ dataSource }: Stores): Promise<unknown> {
  const counted = ['arrivals', 'events', 'runs', 'intents', 'attempts'].map(
    (table) => `(SELECT count(*) FROM ${table}) AS ${table}`,
  );
  const [row] = await dataSource.query<unknown[]>(`SELECT ${counted.join(', ')},
    (SELECT md5(string_agg(text_hash::text, '' ORDER BY id)) FROM arrivals) AS texts,
    (SELECT md5(string_agg(key::text || rest::text || arrival_id::text, '' ORDER BY key)) FROM repeats) AS keys,
    (SELECT md5(string_agg(fact_key, '' ORDER BY id)) FROM events) AS facts,
    (SELECT md5(string_agg(effect_key, '' ORDER BY id)) FROM intents) AS effects`);
  return row;
}

/** Bodies that came as a form, in which a word stands as it is. */
async function formsWith({ dataSource }: Stores, word: string): Promise<number> {
  const sql = `SELECT count(*)::int AS n FROM arrivals WHERE content_type = 'form' AND strpos(encode(body, 'escape'), $1) > 0`;
  return (await dataSource.query<Array<{ n: number }>>(sql, [word]))[0]?.n ?? 0;
}

/** With what is sealed in it. */
function opened(dump: string): string {
  return dump.replace(/v1\.[A-Za-z0-9_-]{40,}/g, (text) => ENCRYPTOR.unseal({ $sealed: text, $hash: '' }).reveal());
}

function lines(dump: string, word: string): string[] {
  return dump
    .split('\n')
    .filter((line) => line.toLowerCase().includes(word))
    .map((line) => {
      const at = line.toLowerCase().indexOf(word);
      return `${line.slice(0, line.indexOf(':'))}: ${line.slice(Math.max(0, at - 200), at + 60)}`;
    });
}
