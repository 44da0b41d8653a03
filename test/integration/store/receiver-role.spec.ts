import { createHmac, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { reachBot } from '../../../src/cli/reach-bot.js';
import { readConfig } from '../../../src/config/read-config.js';
import { silentLogger } from '../../../src/core/logger.js';
import { Secret } from '../../../src/core/secret.js';
import { openStores } from '../../../src/store/open-stores.js';
import { startBot, type RunningBot } from '../../../src/main.js';
import { sampleBody } from '../../builders/sample-bodies.js';
import { createTestDatabase, describeOnPostgres, type TestDatabase } from '../../services/test-stores.js';
import { until } from '../../services/until.js';
import { byPath } from '../support/by-path.js';

const HOOK_SECRET = 'the secret of the hook';
const ROLE = 'forgehand_receiver';
const FORBIDDEN = '42501';

let database: TestDatabase;
let owner: pg.Client;
let receiver: pg.Client;
let url: string;
let dir: string;
let bot: RunningBot;

/** The web process alone knows this user; the owner of the tables made them before. */
async function startWeb(): Promise<RunningBot> {
  dir = mkdtempSync(join(tmpdir(), 'fh-receiver-'));
  const file = join(dir, 'forgehand.yaml');
  const secret = (name: string, value: string): { file: string } => {
    writeFileSync(join(dir, name), value, { mode: 0o600 });
    return { file: join(dir, name) };
  };
  writeFileSync(
    file,
    JSON.stringify({
      forges: [
        {
          id: 'main',
          base_url: 'http://127.0.0.1:9/api/v1',
          auth: { type: 'token', token: { file: join(dir, 'not-for-web') } },
        },
      ],
      orgs: [
        {
          name: 'acme',
          forge: 'main',
          hooks: [{ id: 'acme', secret: secret('hook', HOOK_SECRET) }],
          rules: { path: 'rules' },
        },
      ],
      store: { url: secret('url', url) },
      keys: { data: { file: join(dir, 'not-for-web') } },
      server: { host: '127.0.0.1', port: 0 },
      metrics: { listen: '127.0.0.1:0' },
      control: { socket: join(dir, 'control.sock') },
    }),
    { mode: 0o600 },
  );
  // It holds its hook's secret and the address of the store, and nothing else.
  return startBot(readConfig(file, { reader: 'web' }), { role: 'web', logger: silentLogger });
}

async function post(body: string): Promise<{ status: number; id: string | null }> {
  const answer = await fetch(`${bot.webhookUrl}/webhooks/acme`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gitea-event': 'push',
      'x-gitea-event-type': 'push',
      'x-gitea-delivery': randomBytes(8).toString('hex'),
      'x-gitea-signature': createHmac('sha256', HOOK_SECRET).update(body).digest('hex'),
    },
    body,
  });
  const { id } = (await answer.json()) as { id?: string };
  return { status: answer.status, id: id ?? null };
}

const aPush = (n: number): string => JSON.stringify({ ...sampleBody('push'), n });

const stateOf = async (client: pg.Client, sql: string, values: readonly unknown[] = []): Promise<string> =>
  client.query(sql, [...values]).then(
    () => 'done',
    (error: unknown) => (error as { code?: string }).code ?? String(error),
  );

describeOnPostgres('database/receiver role: a web process whose user may only put deliveries into the inbox', () => {
  beforeAll(async () => {
    database = await createTestDatabase();
    owner = new pg.Client({ connectionString: database.url });
    await owner.connect();
    const password = randomBytes(18).toString('base64url');
    await owner.query(readFileSync('deploy/receiver.sql', 'utf8'));
    // As it says of itself: after an upgrade once more.
    await owner.query(readFileSync('deploy/receiver.sql', 'utf8'));
    await owner.query(`ALTER ROLE ${ROLE} PASSWORD '${password}'`);
    const own = new URL(database.url);
    own.username = ROLE;
    own.password = password;
    url = own.href;
    receiver = new pg.Client({ connectionString: url });
    await receiver.connect();
    bot = await startWeb();
  });

  afterAll(async () => {
    await bot.close();
    await receiver.end();
    await owner.query(`DROP OWNED BY ${ROLE}`);
    await owner.query(`DROP ROLE ${ROLE}`);
    await owner.end();
    await database.drop();
    rmSync(dir, { recursive: true, force: true });
  });

  it('acknowledges deliveries, equal ones too, and says that it is well', async () => {
    const [first, second] = [await post(aPush(1)), await post(aPush(2))];
    const again = await post(aPush(1));

    expect([first.status, second.status, again.status]).toEqual([202, 202, 202]);
    const { rows } = await owner.query<{ id: string; kind: string; state: string; repeats: number }>(
      'SELECT id, kind, state, repeats FROM arrivals ORDER BY id',
    );
    expect(rows).toEqual([
      { id: first.id, kind: 'delivery', state: 'stored', repeats: 0 },
      { id: second.id, kind: 'delivery', state: 'stored', repeats: 0 },
      { id: again.id, kind: 'delivery', state: 'stored', repeats: 0 },
    ]);
    const asked = await Promise.all(
      ['healthz', 'readyz'].map(async (path) => (await fetch(`${bot.webhookUrl}/${path}`)).status),
    );
    expect(asked).toEqual([200, 200]);
    const [metrics = ''] = bot.places.filter((place) => place.startsWith('metrics '));
    const told = await (await fetch(new URL('/metrics', metrics.slice('metrics '.length)))).text();
    expect(told).toMatch(/^forgehand_deliveries_total\{.*answer="stored".*\} 3$/m);
  });

  it('wakes workers by notification, for which it needs no right', async () => {
    const heard: string[] = [];
    owner.on('notification', ({ payload = '' }) => heard.push(payload));
    await owner.query('LISTEN forgehand');

    await post(aPush(3));
    await until(() => heard.length > 0);
    await owner.query('UNLISTEN forgehand');

    expect(heard).toEqual(['arrivals acme']);
  });

  it('counts what waits to be decided, and tells which proxy is not trusted, though it reads no delivery', async () => {
    const stores = await openStores({ kind: 'postgres', url: new Secret(url) });
    try {
      const { rows } = await owner.query<{ bytes: number }>(
        `SELECT sum(length(body))::int AS bytes FROM arrivals WHERE hook = 'acme'`,
      );
      await stores.untrustedProxies.saw({ address: '10.0.0.7', seenAt: new Date() });
      await stores.untrustedProxies.saw({ address: '10.0.0.7', seenAt: new Date() });

      expect(await stores.inbox.undecidedBytes()).toEqual([{ hook: 'acme', bytes: rows[0]?.bytes }]);
      expect(await stores.hasRoom()).toBe(true);
    } finally {
      await stores.close();
    }
    expect((await owner.query('SELECT address FROM untrusted_proxies')).rows).toEqual([{ address: '10.0.0.7' }]);
  });

  it('knows when it was told to read its config again', async () => {
    const stores = await openStores({ kind: 'postgres', url: new Secret(url) });
    try {
      const given = await stores.reload.give();

      expect(await stores.reload.last()).toEqual(given);
    } finally {
      await stores.close();
    }
  });

  it('publishes its alerts, and reads those of nobody', async () => {
    const stores = await openStores({ kind: 'postgres', url: new Secret(url) });
    const alert = { key: 'forge.silent/main', code: 'forge.silent', message: 'silent', org: null, at: new Date() };
    try {
      await stores.openAlerts.publish('receiver', [alert]);
      await stores.openAlerts.publish('receiver', []);

      await expect(stores.openAlerts.publishedWithin(60_000)).rejects.toMatchObject({ code: 'STORE_FORBIDDEN' });
    } finally {
      await stores.close();
    }
    const { rows } = await owner.query(`SELECT alerts FROM open_alerts WHERE process = 'receiver'`);
    expect(rows).toEqual([{ alerts: '[]' }]);
  });

  it('tells that it is alive, and when nobody was', async () => {
    const stores = await openStores({ kind: 'postgres', url: new Secret(url) });
    try {
      const later = new Date(Date.now() + 3_600_000);
      await stores.gaps.beat(new Date(), 15_000);

      expect(await stores.gaps.beat(later, 15_000)).toMatchObject({ to: later });
    } finally {
      await stores.close();
    }
    await until(async () => (await owner.query('SELECT 1 FROM outages')).rowCount === 1);
  });

  it('sends those who ask it for more to a process that may', async () => {
    const reach = byPath(await reachBot(join(dir, 'forgehand.yaml')));
    try {
      for (const path of ['/v1/status', '/v1/runs', '/v1/deliveries'])
        await expect(reach.get(path)).rejects.toMatchObject({
          code: 'STORE_FORBIDDEN',
          message: expect.stringContaining('worker or scheduler'),
        });
      await expect(reach.post('/v1/pause')).rejects.toMatchObject({ code: 'STORE_FORBIDDEN' });
    } finally {
      await reach.close();
    }
  });

  it('does not start on tables of another version, and says what to do', async () => {
    const { rows } = await owner.query<{ timestamp: string; name: string }>(
      `DELETE FROM migrations WHERE id = (SELECT max(id) FROM migrations) RETURNING timestamp, name`,
    );
    const stores = await openStores({ kind: 'postgres', url: new Secret(url) });
    const printed = [
      jest.spyOn(process.stdout, 'write'),
      jest.spyOn(process.stderr, 'write'),
      jest.spyOn(console, 'log'),
      jest.spyOn(console, 'error'),
    ];
    try {
      await expect(stores.migrate()).rejects.toMatchObject({ code: 'STORE_IS_OLDER' });
      expect(printed.flatMap((spy) => spy.mock.calls)).toEqual([]);
    } finally {
      jest.restoreAllMocks();
      await stores.close();
      await owner.query('INSERT INTO migrations (timestamp, name) VALUES ($1, $2)', [
        rows[0]?.timestamp,
        rows[0]?.name,
      ]);
    }
  });

  it.each([
    'SELECT * FROM arrivals',
    'SELECT body FROM arrivals',
    'SELECT hook, org FROM arrivals',
    'SELECT id FROM arrivals',
    'SELECT count(*) FROM arrivals',
    'UPDATE arrivals SET repeats = 1',
    `INSERT INTO arrivals (id, text_hash) VALUES ('x', 'y')`,
    `INSERT INTO arrivals (id, hook) VALUES ('x', 'acme') ON CONFLICT (id) DO NOTHING`,
    `INSERT INTO arrivals (id, hook) VALUES ('x', 'acme') RETURNING id`,
    `UPDATE arrivals SET state = 'stored'`,
    `UPDATE arrivals SET body = 'x'`,
    `UPDATE arrivals SET event_id = 'x'`,
    'DELETE FROM arrivals',
    'TRUNCATE arrivals',
    `INSERT INTO arrivals (id, matched_at) VALUES ('x', now())`,
    `INSERT INTO arrivals (id, event_id) VALUES ('x', 'y')`,
    'SELECT * FROM events',
    `INSERT INTO events (id) VALUES ('x')`,
    'UPDATE events SET decided_at = NULL',
    'SELECT * FROM arrival_events',
    `INSERT INTO arrival_events (arrival_id, event_id, source) VALUES ('x', 'y', 'webhook')`,
    'SELECT * FROM runs',
    `INSERT INTO runs (id) VALUES ('x')`,
    'SELECT params FROM intents',
    `UPDATE intents SET state = 'done'`,
    `UPDATE intents SET state = 'planned', params = '{}'`,
    'SELECT * FROM attempts',
    'DELETE FROM attempts',
    'SELECT * FROM revisions',
    `UPDATE revisions SET files = '[]'`,
    `INSERT INTO pauses DEFAULT VALUES`,
    'DELETE FROM pauses',
    'SELECT * FROM cursors',
    `UPDATE cursors SET position = '{}'`,
    'DELETE FROM ticks',
    'DELETE FROM untrusted_proxies',
    'SELECT * FROM open_alerts',
    'DELETE FROM open_alerts',
    'SELECT * FROM resolved_alerts',
    `INSERT INTO resolved_alerts (key, at) VALUES ('gaps/acme', now())`,
    'SELECT * FROM outages',
    'DELETE FROM outages',
    'DELETE FROM heartbeats',
    'SELECT * FROM gaps',
    `INSERT INTO migrations (timestamp, name) VALUES (1, 'x')`,
    'DROP TABLE arrivals',
    'ALTER TABLE arrivals DISABLE TRIGGER ALL',
    'CREATE TABLE mine (id text)',
    'CREATE TEMPORARY TABLE mine (id text)',
    'CREATE SCHEMA mine',
    'CREATE ROLE mine',
    'CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$',
    `ALTER ROLE ${ROLE} SUPERUSER`,
    `SET ROLE pg_read_all_data`,
    `COPY arrivals TO PROGRAM 'cat'`,
    `COPY arrivals (id) FROM '/etc/passwd'`,
    `SELECT pg_read_file('/etc/passwd')`,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename <> current_user`,
    `SELECT nextval('events_seq_seq')`,
  ])('is refused: %s', async (sql) => {
    expect(await stateOf(receiver, sql)).toBe(FORBIDDEN);
  });

  it('may nothing with any table that is made later', async () => {
    const { rows } = await owner.query<{ name: string; rights: string }>(
      `SELECT table_name AS name, string_agg(privilege_type, ' ' ORDER BY privilege_type) AS rights FROM information_schema.role_table_grants
       WHERE grantee IN ('${ROLE}', 'PUBLIC') AND table_schema = 'public' GROUP BY 1`,
    );
    expect(rows.sort((a, b) => a.name.localeCompare(b.name))).toEqual([
      { name: 'known_organizations', rights: 'SELECT' },
      { name: 'migrations', rights: 'SELECT' },
      { name: 'undecided_bytes', rights: 'SELECT' },
    ]);

    await owner.query('CREATE TABLE later (id text)');

    expect(await stateOf(receiver, 'SELECT * FROM later')).toBe(FORBIDDEN);
  });
});
