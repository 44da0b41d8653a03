import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RunReport, StatusReport } from '../../src/api/operations/answers.js';
import type { IntentState } from '../../src/core/states.js';
import { runCli } from '../../src/cli/run-cli.js';
import { sampleBody } from '../builders/sample-bodies.js';
import { freshRedisUrl, REDIS_URL } from '../services/test-redis.js';
import { createTestDatabase, POSTGRES_URL, type TestDatabase } from '../services/test-stores.js';
import { until } from '../services/until.js';
import { aBot, type TestBot } from './support/a-bot.js';
import { aForge, type TestForge } from './support/a-forge.js';
import { dumpTables } from './support/dump-tables.js';
import { watchRedis, type WatchedRedis } from './support/watch-redis.js';
import { quietly } from './support/quietly.js';

const HOOK_SECRET = 'canary-hook-1f8a!$';
const HOOK_HEADER = 'Bearer canary-header-22b7';
const MIRROR_PASSWORD = 'canary-mirror-9c/41?';
const ALERT_SECRET = 'canary-alert-5d03-0123456789';
const DATA_KEY = 'canary-data-key-77e1-0123456789abcdef';
const OLD_HOOK_SECRET = 'canary-old-hook-4c2d';
const UNUSED_SECRET = 'canary-unused-90ab';
/** Put together by an expression, so that no file that may be read holds it. */
const VARIABLE = 'canary-variable-3e6f';
const USER_VARIABLE = 'canary-user-variable-7d10';

/** What the forge tells where rules read it: credentials of others, or of our own account. */
const TOLD = {
  TOKEN_SHA1: 'canarysha1000000000000000000000000000bd41',
  TOKEN_LAST_EIGHT: 'cnrylst8',
  FOREIGN_HOOK_HEADER: 'Bearer canary-foreign-header-61f2',
  FOREIGN_HOOK_SECRET: 'canary-foreign-secret-0a5e',
  HELD_VARIABLE: 'canary-held-variable-b8c3',
  HELD_USER_VARIABLE: 'canary-held-user-variable-2f94',
  MIRROR_ADDRESS_PASSWORD: 'canary-mirror-address-55d7',
  MIRROR_ERROR_PASSWORD: 'canary-mirror-error-e3a1',
} as const;

/** What callers show who are nobody. */
const GUESSED = {
  GUESSED_HEADER: 'Bearer canary-guessed-header-17c9',
  GUESSED_BASIC: 'canary-guessed-basic-8e02',
  GUESSED_SIGNATURE: 'ca11a47ca11a47ca11a47ca11a47ca11a47ca11a47ca11a47ca11a47ca11a47c',
  GUESSED_QUERY: 'canary-guessed-query-d6b5',
  GUESSED_COOKIE: 'canary-guessed-cookie-f410',
  GUESSED_TOKEN_HEADER: 'canary-guessed-token-3b77',
} as const;

const answersAs = (path: RegExp, body: unknown) => ({ path, body: JSON.stringify(body) });
const ANSWERS = [
  answersAs(/^\/api\/v1\/users\/[^/]+\/tokens/, [
    { id: 1, name: 'x', sha1: TOLD.TOKEN_SHA1, token_last_eight: TOLD.TOKEN_LAST_EIGHT, scopes: ['all'] },
  ]),
  answersAs(/^\/api\/v1\/orgs\/acme\/hooks/, [
    {
      id: 91,
      type: 'gitea',
      active: true,
      events: ['push'],
      authorization_header: TOLD.FOREIGN_HOOK_HEADER,
      config: { url: 'https://elsewhere.example/', content_type: 'json', secret: TOLD.FOREIGN_HOOK_SECRET },
    },
  ]),
  answersAs(/^\/api\/v1\/orgs\/acme\/actions\/variables\/HELD/, {
    owner_id: 1,
    repo_id: 0,
    name: 'HELD',
    data: TOLD.HELD_VARIABLE,
    description: 'd',
  }),
  answersAs(/^\/api\/v1\/user\/actions\/variables\/BOT_CONFIG/, {
    name: 'BOT_CONFIG',
    data: TOLD.HELD_USER_VARIABLE,
    description: 'd',
  }),
  answersAs(/^\/api\/v1\/repos\/acme\/[^/]+\/push_mirrors/, [
    {
      repo_name: 'app',
      remote_name: 'remote_mirror_x',
      remote_address: `https://u:${TOLD.MIRROR_ADDRESS_PASSWORD}@mirror.example.org/other.git`,
      last_error: `fatal: could not read from https://u:${TOLD.MIRROR_ERROR_PASSWORD}@mirror.example.org/other.git`,
      interval: '8h0m0s',
      sync_on_commit: true,
    },
  ]),
];

const RULES = `version: 1
org: acme
secrets: [mirror_password, unused]
rules:
  - id: mirrored
    on: [repository.created]
    do:
      push_mirror.ensure:
        remote_address: "https://mirror.example.org/\${{ repo.full_name }}.git"
        remote_username: bot
        remote_password: "\${{ secrets.mirror_password }}"
        private: true
  - id: variable
    on: [push]
    do:
      org_variable.set: { name: LAST_PUSH, value: "can\${{ 'ary-' }}variable-3e6f" }
  - id: footing
    on: [release.published]
    lookup:
      hooks: { use: hooks.list }
      tokens: { use: tokens.list, on_missing: none, with: { username: "\${{ bot.login }}" } }
      held: { use: org_variable.get, on_missing: none, with: { name: LAST_PUSH } }
    if: { some: lookups.hooks.size() > 0 && lookups.held == null && lookups.tokens == null }
    do: { milestone.ensure: { title: never } }
  - id: told
    on: [branch.created]
    lookup:
      hooks: { use: hooks.list }
      tokens: { use: tokens.list, with: { username: "\${{ bot.login }}" } }
      held: { use: org_variable.get, with: { name: HELD } }
      mirrors: { use: push_mirrors.list }
    if:
      hooks: lookups.hooks[0].config != null && lookups.hooks[0].id != "0"
      tokens: lookups.tokens[0].name == "x"
      held: lookups.held.name == "HELD"
      mirrors: lookups.mirrors.exists(m, m.last_error != "" && m.remote_address != "")
    do: { user_variable.create: { name: BOT_CONFIG, value: "can\${{ 'ary-' }}user-variable-7d10" } }
policies:
  - id: second-mirror
    approval: required
    subjects: { repos: [acme/app] }
    push_mirrors:
      - remote_address: "https://mirror.example.org/second/\${{ repo.name }}.git"
        remote_username: bot
        remote_password: "\${{ secrets.mirror_password }}"
        private: true
  - id: standing-variable
    approval: required
    subjects: { org: acme }
    variables:
      - { name: STANDING, value: "can\${{ 'ary-' }}variable-3e6f" }
`;

/** Those who could show it, for the header that a name and a password make. */
const NAMES = ['bot', 'me', 'u', 'olga', 'root', 'git', 'oauth2', 'x-access-token', ''];

/** Every form in which a value could lie somewhere. */
function formsOf(value: string): string[] {
  const bytes = Buffer.from(value);
  const base64 = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .slice(shift === 0 ? 0 : 4)
      .replace(/.{0,4}$/, ''),
  );
  const basic = [...NAMES.map((name) => `${name}:${value}`), `${value}:x-oauth-basic`, `${value}:`].map((pair) =>
    Buffer.from(pair).toString('base64'),
  );
  return [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value),
    ...base64,
    ...basic,
    bytes.toString('base64url').slice(0, -3),
    bytes.toString('hex'),
  ];
}

const DEPLOYMENTS = ['embedded', ...(POSTGRES_URL && REDIS_URL ? (['distributed'] as const) : [])] as const;

describe.each(DEPLOYMENTS)('integration/no-secret-leaks: %s', (deployment) => {
  let database: TestDatabase | null = null;
  let redis: WatchedRedis | null = null;
  let forge: TestForge;
  let bot: TestBot;
  let canaries: Map<string, string>;
  const alerts: string[] = [];
  const receiver = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => void alerts.push(JSON.stringify(request.headers), chunk.toString()));
    request.on('end', () => response.end());
  });
  const answers: string[] = [];
  const printed: string[] = [];

  /** As a person sees it, and as a machine does. */
  async function command(...args: string[]): Promise<void> {
    for (const form of [[], ['--json']]) {
      const { code, text } = await quietly(() => runCli([...args, ...form, '--config', bot.configFile]));
      printed.push(text);
      // 1 = the answer is no, 4 = a plan has changes.
      expect({ args, form, text, isTold: [0, 1, 4].includes(code) && text !== '' }).toEqual({
        args,
        form,
        text,
        isTold: true,
      });
    }
  }

  const ask = async <T>(path: string, query: Record<string, string | number> = {}): Promise<T> => {
    const answer = await bot.reach.get<T>(path, query);
    answers.push(JSON.stringify(answer));
    return answer;
  };
  const rowsOf = async <Row>(...asked: Parameters<typeof ask>): Promise<Row[]> =>
    (await ask<{ rows: Row[] }>(...asked)).rows;
  const runs = (rule: string): Promise<RunReport[]> => rowsOf<RunReport>('/v1/runs', { rule, limit: 50 });
  const reached = (rule: string, state: IntentState): Promise<void> =>
    until(async () => (await runs(rule)).some(({ intents }) => intents.some((intent) => intent.state === state)));

  async function post(secret: string, header: string, body = JSON.stringify(sampleBody('push'))): Promise<void> {
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    const headers = {
      'content-type': 'application/json',
      'x-gitea-event': 'push',
      'x-gitea-event-type': 'push',
      'x-gitea-delivery': 'd',
      'x-gitea-signature': signature,
      authorization: header,
    };
    const answer = await fetch(`${bot.url}/webhooks/acme`, { method: 'POST', headers, body });
    answers.push(JSON.stringify([...answer.headers]) + (await answer.text()));
  }

  beforeAll(async () => {
    forge = await aForge({ org: 'acme' });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const isDistributed = deployment === 'distributed';
    database = isDistributed ? await createTestDatabase() : null;
    redis = isDistributed ? await watchRedis(await freshRedisUrl()) : null;
    const servers: Record<string, string> =
      database && redis ? { DATABASE_URL: database.url, REDIS_URL: redis.url } : {};
    const token = { env: 'FORGE_TOKEN' };
    bot = await aBot({
      roles: isDistributed ? ['web', 'scheduler', 'worker'] : ['all'],
      config: {
        forges: [
          {
            id: 'main',
            base_url: forge.apiUrl,
            auth: isDistributed
              ? { type: 'basic', username: forge.botLogin, password: token }
              : { type: 'token', token },
            rate_per_s: 200,
          },
        ],
        orgs: [
          {
            name: 'acme',
            forge: 'main',
            hooks: [
              {
                id: 'acme',
                secret: [{ env: 'HOOK_SECRET' }, { env: 'OLD_HOOK_SECRET' }],
                authorization: { env: 'HOOK_HEADER' },
              },
            ],
            rules: { path: 'rules' },
            trusted: true, // its policy is new to the store, and nobody approves its first plan
            mirror_hosts: ['mirror.example.org'],
            secrets: { mirror_password: { env: 'MIRROR_PASSWORD' }, unused: { env: 'UNUSED_SECRET' } },
            feed: { every_s: 0.2 },
          },
        ],
        store: { url: isDistributed ? { env: 'DATABASE_URL' } : 'embedded:./data' },
        ...(isDistributed ? { queue: { url: { env: 'REDIS_URL' } }, metrics: { listen: '127.0.0.1:0' } } : {}),
        server: { host: '127.0.0.1', port: 0, public_url: 'https://bot.example.org' },
        alerts: {
          url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/alerts`,
          secret: { env: 'ALERT_SECRET' },
        },
        keys: { data: { env: 'DATA_KEY' } },
        log: { level: 'debug' },
      },
      files: { 'rules/r.yaml': RULES },
      env: {
        ...servers,
        FORGE_TOKEN: forge.botToken,
        HOOK_SECRET,
        OLD_HOOK_SECRET,
        HOOK_HEADER,
        MIRROR_PASSWORD,
        UNUSED_SECRET,
        ALERT_SECRET,
        DATA_KEY,
      },
    });
    const ours = {
      HOOK_SECRET,
      OLD_HOOK_SECRET,
      HOOK_HEADER,
      MIRROR_PASSWORD,
      UNUSED_SECRET,
      ALERT_SECRET,
      DATA_KEY,
      VARIABLE,
      USER_VARIABLE,
    };
    canaries = new Map(
      Object.entries({
        forgeToken: forge.botToken,
        ...ours,
        ...TOLD,
        ...GUESSED,
        forgePassword: forge.sandbox.admin.password,
      }),
    );
    await forge.control('/_sandbox/hooks', {
      org: 'acme',
      url: `${bot.url}/webhooks/acme`,
      secret: HOOK_SECRET,
      authorization_header: HOOK_HEADER,
      events: ['push', 'create', 'repository', 'release'],
    });
  });

  afterAll(async () => {
    await bot?.close();
    await forge?.close();
    receiver.close();
    await redis?.close();
    await database?.drop();
  });

  it('uses every one of them', async () => {
    await forge.act('repository.create', { repo: 'acme/app' });
    await reached('mirrored', 'done');
    await forge.act('push', { repo: 'acme/app', commits: [{ message: 'more', files: { 'a.txt': 'a' } }] });
    await reached('variable', 'done');
    await forge.act('release.publish', { repo: 'acme/app', tag: 'v1.0.0', name: '1.0' });
    await until(async () => (await runs('footing')).length > 0);

    const sent = forge.tap.seen.map(({ text }) => text).join('\n');
    const shown =
      deployment === 'distributed'
        ? Buffer.from(`${forge.botLogin}:${forge.botToken}`).toString('base64')
        : forge.botToken;
    for (const used of [shown, JSON.stringify(MIRROR_PASSWORD), VARIABLE]) expect(sent).toContain(used);
    expect((await ask<StatusReport>('/v1/status')).intents.done).toBeGreaterThanOrEqual(2);
  });

  it('hears those of others', async () => {
    forge.tap.answer = ({ method, path }) => {
      const known = method === 'GET' ? ANSWERS.find((answer) => answer.path.test(path)) : undefined;
      return known ? { status: 200, body: known.body } : null;
    };
    await post(OLD_HOOK_SECRET, HOOK_HEADER);
    await forge.act('branch.create', { repo: 'acme/app', branch: 'told' });
    await until(async () => (await runs('told')).length > 0);
    const [run] = await runs('told');
    const explained = await ask<RunReport>(`/v1/runs/${run?.run.id}`);
    forge.tap.answer = () => null;

    // All four were read, and held what they should not tell.
    expect(Object.keys(explained.run.lookups).sort()).toEqual(['held', 'hooks', 'mirrors', 'tokens']);
    expect(canaries.size).toBeGreaterThanOrEqual(25);
  });

  it('is shown those of nobody', async () => {
    const headers = {
      'content-type': 'application/json',
      'x-gitea-event': 'push',
      'x-gitea-signature': GUESSED.GUESSED_SIGNATURE,
      authorization: GUESSED.GUESSED_HEADER,
      cookie: `session=${GUESSED.GUESSED_COOKIE}`,
      'x-gitlab-token': GUESSED.GUESSED_TOKEN_HEADER,
    };
    const basic = `Basic ${Buffer.from(`me:${GUESSED.GUESSED_BASIC}`).toString('base64')}`;
    for (const [path, more] of [
      [`/webhooks/acme?access_token=${GUESSED.GUESSED_QUERY}`, {}],
      [`/webhooks/${GUESSED.GUESSED_QUERY}`, {}],
      ['/webhooks/acme', { authorization: basic }],
      [`/anything/${GUESSED.GUESSED_QUERY}`, { authorization: basic }],
    ] as const) {
      const answer = await fetch(bot.url + path, { method: 'POST', headers: { ...headers, ...more }, body: '{}' });
      answers.push(JSON.stringify([...answer.headers]) + (await answer.text()).replaceAll(path, ''));
      expect(answer.status).toBeGreaterThanOrEqual(400);
    }
  });

  it('meets every kind of trouble with them', async () => {
    await post('wrong', HOOK_HEADER);
    await post(HOOK_SECRET, 'wrong');
    await post(HOOK_SECRET, HOOK_HEADER, 'not json');
    await post(
      HOOK_SECRET,
      HOOK_HEADER,
      JSON.stringify({
        ...sampleBody('push'),
        repository: { id: 1, name: 'x', full_name: 'x/x', owner: { id: 1, login: 'x' } },
      }),
    );
    // A forge that repeats what it was sent, as git does in its complaints about a mirror. What other rules still have under way was sent none.
    forge.tap.answer = ({ method, text }) =>
      method === 'GET' || !text.includes(MIRROR_PASSWORD)
        ? null
        : {
            status: 422,
            body: JSON.stringify({
              message: `cannot do this: ${text} https://bot:${MIRROR_PASSWORD}@mirror.example.org/`,
            }),
          };
    await forge.act('repository.create', { repo: 'acme/refused' });
    await reached('mirrored', 'refused');
    forge.tap.answer = ({ method, text }) => (method === 'GET' ? null : { status: 500, body: `<html>${text}</html>` });
    await forge.act('repository.create', { repo: 'acme/waits' });
    await reached('mirrored', 'unknown');
    forge.tap.answer = ({ text }) => ({ status: 401, body: JSON.stringify({ message: `not authorized: ${text}` }) });
    await until(() => bot.log().includes('poll.failed'));
    forge.tap.answer = () => null;
    bot.write(
      'rules/broken.yaml',
      'version: 1\norg: acme\nrules: [{ id: broken, on: push, do: { nothing.known: {} } }]\n',
    );
    await until(async () => (await ask<StatusReport>('/v1/status')).rows[0]!.heldBack.length > 0);
    await until(() => alerts.length > 0);

    expect((await ask<StatusReport>('/v1/status')).intents).toMatchObject({ refused: 1 });
  });

  it('prints what it knows, in every command that shows what is stored', async () => {
    forge.tap.answer = ({ method, path }) => {
      const known = method === 'GET' ? ANSWERS.find((answer) => answer.path.test(path)) : undefined;
      return known ? { status: 200, body: known.body } : null;
    };
    await command('status');
    bot.write('rules/broken.yaml', 'version: 1\norg: acme\nrules: []\n');
    await until(async () => (await ask<StatusReport>('/v1/status')).rows[0]!.heldBack.length === 0);
    const all = await rowsOf<RunReport>('/v1/runs', { limit: 1000 });
    await command('doctor', '--fresh');
    await command('doctor');
    await command('doctor', '--operations');
    await command('hook', 'install', '--dry-run');
    await command('deliveries', '--limit', '1000');
    await command('gaps', '--limit', '1000');
    await command('runs', '--limit', '1000');
    await command('runs', '--shadow');
    // One of each rule and state, and of each the first effect.
    const kinds = [
      ...new Map(all.map((one) => [`${one.run.rule} ${one.run.state} ${one.intents[0]?.state}`, one])).values(),
    ];
    for (const { run, intents } of kinds) {
      await command('runs', run.id);
      await command('explain', intents[0]?.id ?? run.id);
    }
    const events = new Set(kinds.flatMap(({ run }) => (run.cause.kind === 'event' ? [run.cause.eventId] : [])));
    for (const eventId of events) await command('explain', '--event', eventId);
    await command('backtest', '--since', '1d');
    await command('plan');
    await command('approve');
    await command('housekeeping', 'list');
    for (const job of [
      'token.audit',
      'hooks.audit',
      'mirrors.audit',
      'repositories.inventory',
      'work.stuck',
      'audit.seal',
      'dead-letters.digest',
    ])
      await command('housekeeping', 'run', job);
    await command('findings', '--ended');
    await command('audit');
    forge.tap.answer = () => null;

    expect(printed.join('')).toContain('second-mirror');
    expect(printed.length).toBeGreaterThan(50);
  }, 300_000);

  it('shows none of them, in any form, in logs, answers, commands, metrics, alerts, the queue or the store', async () => {
    for (const { run } of await rowsOf<RunReport>('/v1/runs', { limit: 1000 })) await ask(`/v1/runs/${run.id}`);
    const deliveries = await rowsOf<{ id: string }>('/v1/deliveries', { limit: 1000 });
    for (const { id } of deliveries) answers.push(JSON.stringify(await bot.reach.post(`/v1/deliveries/${id}/replay`)));
    const metrics = await fetchMetrics(bot);
    const log = bot.log();
    const { store } = bot.reach.config;
    const queue = redis ? { queue: await redis.everything() } : {};
    await bot.stop();
    const places = new Map(
      Object.entries({
        log,
        answers: answers.join('\n'),
        commands: printed.join('\n'),
        metrics,
        alerts: alerts.join('\n'),
        tables: await dumpTables(store),
        files: readAll(bot.dir),
        ...queue,
      }),
    );

    const hits = [...places].flatMap(([place, text]) =>
      [...canaries].flatMap(([name, value]) =>
        formsOf(value).flatMap((form) => (text.includes(form) ? [`${name} as ${form} in ${place}`] : [])),
      ),
    );

    // The rings of the receiver went through the queue.
    if (redis) expect(places.get('queue')).toContain('line-');
    expect([...places].filter(([, text]) => text.length < 500).map(([place]) => place)).toEqual([]);
    expect(hits).toEqual([]);
  });
});

async function fetchMetrics(bot: TestBot): Promise<string> {
  const { Agent, request } = await import('undici');
  const answer = await request('http://localhost/metrics', {
    dispatcher: new Agent({ connect: { socketPath: bot.reach.config.control.socket! } }),
  });
  const texts = [await answer.body.text()];
  for (const place of bot.places.filter((one) => one.startsWith('metrics ')))
    texts.push(await (await fetch(new URL('/metrics', place.slice('metrics '.length)))).text());
  return texts.join('\n');
}

function readAll(dir: string): string {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)).toString('latin1'))
    .join('\n');
}
