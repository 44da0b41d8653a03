import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { InvalidFile } from '../core/errors.js';
import type { Secret } from '../core/secret.js';
import { parseConfig, readConfig } from './read-config.js';
import type { ConfigReader } from './secrets-of-role.js';

const ENV = {
  FORGE_TOKEN: 'canary-forge-token',
  HOOK: 'canary-hook-secret',
  EMPTY: ' ',
  CONTROL: 'c'.repeat(32),
  KEY: 'k'.repeat(32),
};

const GOOD = `
forges: [{ id: main, base_url: http://127.0.0.1:4000/api/v1/, auth: { type: token, token: { env: FORGE_TOKEN } } }]
orgs:
  - name: acme
    forge: main
    hooks: [{ id: acme, secret: { env: HOOK } }]
    rules: { path: rules/acme }
store: { url: "embedded:./data" }
`;

function problems(text: string): string[] {
  try {
    parseConfig('/etc/forgehand.yaml', text, { env: ENV });
  } catch (error) {
    if (error instanceof InvalidFile)
      return error.problems.map((p) => `${p.line}:${p.col}: ${p.message}${p.hint ? ` (${p.hint})` : ''}`);
    throw error;
  }
  return [];
}

const frozen = (freeze: string): string => GOOD.replace('    rules:', `    freeze: [${freeze}]\n    rules:`);

describe('config/read-config', () => {
  it('fills in defaults and resolves paths against the folder of the file', () => {
    const config = parseConfig('/etc/forgehand.yaml', GOOD, { env: ENV });

    expect(config.forges[0]?.baseUrl).toBe('http://127.0.0.1:4000/api/v1');
    expect(config.orgs[0]?.rules.path).toBe('/etc/rules/acme');
    expect(config.store).toEqual({ kind: 'embedded', dir: '/etc/data', group: null });
    expect(config.queue).toEqual({ kind: 'embedded', sweepS: 1 });
    expect(config.server).toEqual({
      host: '0.0.0.0',
      port: 8080,
      maxBodyBytes: 5_242_880,
      publicUrl: null,
      trustedProxies: [],
      unverified: { bytes: 41_943_040, bytesPerAddress: 20_971_520 },
      undecided: { bytes: 1_073_741_824, bytesPerHook: 268_435_456 },
    });
    expect(config.control.socket).toBe('/etc/data/run/control.sock');
    expect(Object.isFrozen(config.orgs[0])).toBe(true);
  });

  it('names a hundred organizations in metrics, unless it says how many', () => {
    const maxOrgs = (metrics: string) =>
      parseConfig('/etc/forgehand.yaml', `${GOOD}metrics: ${metrics}\n`, { env: ENV }).metrics?.maxOrgs;

    expect([maxOrgs('{ listen: 9091 }'), maxOrgs('{ listen: 9091, max_orgs: 0 }')]).toEqual([100, 0]);
  });

  it.each<[ConfigReader, string | null, string | null]>([
    ['web', '127.0.0.1:9091', null],
    ['worker', '0.0.0.0:9092', '127.0.0.1:9090'],
    ['scheduler', null, '127.0.0.1:9089'],
    ['all', null, null],
    ['command', '0.0.0.0:9092', '127.0.0.1:9090'],
  ])('%s => metrics at %s, control at %s of the addresses by role', (reader, metrics, control) => {
    const text = `${GOOD}metrics: { listen: { web: 9091, worker: "0.0.0.0:9092" }, token: { env: CONTROL } }
control: { listen: { scheduler: 9089, worker: 9090 }, token: { env: CONTROL } }
`;
    const config = parseConfig('/etc/forgehand.yaml', text, { env: ENV, reader });

    expect([config.metrics?.listen ?? null, config.control.listen]).toEqual([metrics, control]);
  });

  it.each<[ConfigReader, string]>([
    ['web', '/etc/run/web.sock'],
    ['worker', '/run/worker.sock'],
    ['command', '/run/worker.sock'],
    ['all', '/etc/data/run/control.sock'],
  ])('%s => the socket %s of the sockets by role', (reader, socket) => {
    const text = `${GOOD}control: { socket: { web: run/web.sock, worker: /run/worker.sock } }\n`;

    expect(parseConfig('/etc/forgehand.yaml', text, { env: ENV, reader }).control.socket).toBe(socket);
  });

  it('refuses the same socket for two roles', () => {
    const text = `${GOOD}control: { socket: { web: run/a.sock, worker: ./run/a.sock } }\n`;

    expect(() => parseConfig('/etc/forgehand.yaml', text, { env: ENV })).toThrow(
      'control.socket gives worker and web the same address',
    );
  });

  it('refuses the same address for two roles', () => {
    const text = `${GOOD}metrics: { listen: { web: 9091, worker: "127.0.0.1:9091" } }\n`;

    expect(() => parseConfig('/etc/forgehand.yaml', text, { env: ENV })).toThrow(
      'metrics.listen gives worker and web the same address',
    );
  });

  it('never prints a secret', () => {
    const config = parseConfig('/etc/forgehand.yaml', GOOD, { env: ENV });

    expect(inspect(config, { depth: Infinity, showHidden: true }) + JSON.stringify(config)).not.toContain('canary');
  });

  it.each([
    [
      'an unknown key => named with what was meant',
      GOOD.replace('rules:', 'ruels:'),
      ['7:5: unknown key "ruels" (did you mean "rules"?)', '4:5: orgs.0.rules is missing'],
    ],
    [
      'a key of another part of the file => told so',
      GOOD.replace('rules:', 'url:'),
      ['7:5: unknown key "url" (there is such a key in another part of the file)', '4:5: orgs.0.rules is missing'],
    ],
    [
      'a secret written out => refused',
      GOOD.replace('{ env: HOOK }', 'hunter2'),
      [
        '6:33: orgs.0.hooks.0.secret: a secret is given as { env: NAME }, { file: PATH } or { credential: NAME }, never as its value',
      ],
    ],
    [
      'an empty secret => refused',
      GOOD.replace('env: HOOK', 'env: EMPTY'),
      ['6:33: orgs.0.hooks.0.secret: EMPTY is empty: an empty secret protects nothing'],
    ],
    [
      'a missing variable => named',
      GOOD.replace('env: HOOK', 'env: NOPE'),
      [
        '6:33: orgs.0.hooks.0.secret: the environment has no NOPE: set it, or write the line NOPE=… into forgehand.env (chmod 600)',
      ],
    ],
    [
      'an unknown forge => named',
      GOOD.replace('forge: main', 'forge: mian'),
      ['5:12: there is no forge "mian" (did you mean "main"?)'],
    ],
    [
      'a hook with nothing to check => refused',
      GOOD.replace(', secret: { env: HOOK }', ''),
      ['6:13: hook "acme" names neither a secret nor an authorization (secret: { env: NAME } is the usual one)'],
    ],
    [
      'a store of another kind => refused',
      GOOD.replace('embedded:./data', 'mysql://x'),
      ['8:15: store.url is neither embedded:DIR nor postgres://…'],
    ],
    ['a key twice => refused', GOOD + 'store: { url: "embedded:x" }\n', ['9:1: Map keys must be unique']],
    [
      'a limit that does not parse => refused',
      GOOD + 'server: { port: many }\n',
      ['9:17: server.port must be a number'],
    ],
    [
      'a list that is none => refused',
      GOOD.replace(/^orgs:[^]*?(?=^store)/m, 'orgs: acme\n'),
      ['3:7: orgs must be a list'],
    ],
    [
      'a control port without a token => refused',
      GOOD + 'control: { listen: 9000 }\n',
      ['9:10: control.listen needs a control.token of at least 32 characters (make one with: openssl rand -hex 32)'],
    ],
  ])('%s', (_situation, text, expected) => {
    const found = problems(text);

    for (const line of expected) expect(found).toContain(line);
    expect(found).toHaveLength(expected.length);
  });

  it.each([
    [
      'days',
      '{ from: 2026-12-24, to: 2027-01-01, tz: Europe/Paris, reason: holidays }',
      {
        kind: 'once',
        fromWallMs: Date.UTC(2026, 11, 24),
        toWallMs: Date.UTC(2027, 0, 2),
        tz: 'Europe/Paris',
        reason: 'holidays',
      },
    ],
    [
      'times',
      '{ from: 2026-12-24T18:00, to: 2026-12-25T06:30, reason: x }',
      {
        kind: 'once',
        fromWallMs: Date.UTC(2026, 11, 24, 18),
        toWallMs: Date.UTC(2026, 11, 25, 6, 30),
        tz: 'UTC',
        reason: 'x',
      },
    ],
    [
      'a time that comes again',
      '{ cron: "0 17 * * 5", for: 62h, reason: weekend }',
      { kind: 'again', cron: '0 17 * * 5', forS: 62 * 3600, tz: 'UTC', reason: 'weekend' },
    ],
  ])('reads a freeze of %s', (_what, freeze, expected) => {
    expect(parseConfig('/etc/forgehand.yaml', frozen(freeze), { env: ENV }).orgs[0]?.freeze).toEqual([expected]);
  });

  it.each([
    [
      '{ from: 2026-12-24, reason: x }',
      '7:14: a freeze is from and to, or cron and for ({ from: 2026-12-24, to: 2027-01-02, reason: … } or { cron: "0 17 * * 5", for: 62h, reason: … })',
    ],
    ['{ from: 2026-12-24, to: 2026-12-20, reason: x }', '7:38: "2026-12-20" is not after "2026-12-24"'],
    ['{ from: 2026-02-30, to: 2026-12-20, reason: x }', '7:22: there is no time "2026-02-30"'],
    [
      '{ from: soon, to: 2026-12-20, reason: x }',
      '7:22: orgs.0.freeze.0.from: a day (2026-12-24) or a time (2026-12-24T18:00), on the clock of tz',
    ],
    [
      '{ cron: "0 17 * *", for: 62h, reason: x }',
      '7:22: a cron expression has five fields, this has 4 (minute hour day month weekday: "30 2 * * *" is every night at half past two)',
    ],
    [
      '{ cron: "0 17 * * 5", for: 800h, reason: x }',
      '7:41: "800h" is no length of a freeze (a duration from 1m to 744h, like 62h)',
    ],
    [
      '{ from: 2026-12-24, to: 2026-12-25, tz: Mars, reason: x }',
      '7:54: there is no time zone "Mars" (names are like Europe/Paris)',
    ],
    ['{ from: 2026-12-24, to: 2026-12-25 }', '7:14: orgs.0.freeze.0.reason is missing'],
  ])('refuses the freeze %s', (freeze, expected) => {
    expect(problems(frozen(freeze))).toEqual([expected]);
  });

  it.each([
    ['{}', null],
    ['{ max_age: 7d }', 7 * 86_400_000],
    ['{ max_age: 36h }', 36 * 3_600_000],
    ['{ max_age: 3650d }', 3650 * 86_400_000],
  ])('reads the greatest age of an act from the retention %s', (retention, expected) => {
    expect(
      parseConfig('/etc/forgehand.yaml', `${GOOD}retention: ${retention}\n`, { env: ENV }).retention.maxAgeMs,
    ).toBe(expected);
  });

  it.each(['0d', '59m', '3651d', '7', '7 days', '1d2h', '-7d', 'never'])('refuses the greatest age %s', (age) => {
    expect(problems(`${GOOD}retention: { max_age: "${age}" }\n`)).toEqual([
      `9:23: "${age}" is no age of an act (a duration from 1h to 3650d, like 7d)`,
    ]);
  });

  it('keeps acts of people for ever unless told, and never for less than 400 days', () => {
    const actsDays = (retention: string): number | null =>
      parseConfig('/etc/forgehand.yaml', `${GOOD}retention: ${retention}\n`, { env: ENV }).retention.actsDays;

    expect([actsDays('{}'), actsDays('{ acts_days: 400 }')]).toEqual([null, 400]);
    expect(problems(`${GOOD}retention: { acts_days: 399 }\n`)).toEqual([expect.stringContaining('400')]);
  });

  it('recognizes a delivery that comes again for ever, or as long as a greatest age allows to forget it', () => {
    const days = (retention: string): number | null =>
      parseConfig('/etc/forgehand.yaml', `${GOOD}retention: ${retention}\n`, { env: ENV }).retention.repeatDays;
    expect(days('{}')).toBe(null);
    expect(days('{ repeat_days: 7, max_age: 7d }')).toBe(7);

    for (const retention of ['{ repeat_days: 7 }', '{ max_age: 8d, repeat_days: 7 }'])
      expect(problems(`${GOOD}retention: ${retention}\n`)).toEqual([
        expect.stringMatching(
          /^9:\d+: retention\.repeat_days needs a retention\.max_age that is not longer: .*at most 7d\)$/,
        ),
      ]);
  });

  it('refuses a secret file that others can read', () => {
    const folder = mkdtempSync(join(tmpdir(), 'forgehand-config-'));
    writeFileSync(join(folder, 'secret'), 'canary', { mode: 0o644 });
    const file = join(folder, 'forgehand.yaml');
    writeFileSync(file, GOOD.replace('{ env: HOOK }', '{ file: secret }'));

    expect(() => readConfig(file, { env: ENV })).toThrow(/can be read by others: chmod 600/);
    chmodSync(join(folder, 'secret'), 0o600);
    expect(readConfig(file, { env: ENV }).orgs[0]?.hooks[0]?.secrets[0]?.reveal()).toBe('canary');
  });
});

/** With PostgreSQL, Redis and everything that may hold a secret. */
const WHOLE = `
forges: [{ id: main, base_url: https://git.test/api/v1, auth: { type: token, token: { env: FORGE_TOKEN } }, oauth: { client_id: 2c1f, client_secret: { env: LOGIN } } }]
orgs:
  - name: acme
    forge: main
    hooks: [{ id: acme, secret: { env: HOOK } }]
    rules: { path: rules/acme }
    secrets: { mirror: { env: MIRROR } }
store: { url: { env: DATABASE_URL } }
queue: { url: { env: REDIS_URL } }
keys: { data: { env: KEY } }
control: { listen: 9090, token: { env: CONTROL } }
metrics: { listen: "0.0.0.0:9091", token: { env: METRICS } }
alerts: { url: https://alerts.test/in, secret: { env: Alerts } }
`;

const WHOLE_ENV = {
  FORGE_TOKEN: 'canary-forge',
  LOGIN: 'canary-login',
  HOOK: 'h'.repeat(32),
  MIRROR: 'canary-mirror',
  DATABASE_URL: 'postgres://bot:pw@db/forgehand',
  REDIS_URL: 'redis://queue',
  KEY: 'k'.repeat(32),
  CONTROL: 'c'.repeat(32),
  METRICS: 'm'.repeat(32),
  Alerts: 'a'.repeat(32),
};

describe('config/read-config by role', () => {
  const only = (...names: Array<keyof typeof WHOLE_ENV>): NodeJS.ProcessEnv =>
    Object.fromEntries(names.map((name) => [name, WHOLE_ENV[name]]));
  const missing = (reader: ConfigReader, env: NodeJS.ProcessEnv): string[] => {
    try {
      parseConfig('/etc/forgehand.yaml', WHOLE, { env, reader });
      return [];
    } catch (error) {
      return (error as InvalidFile).problems.map(
        ({ message }) => /environment has no (\w+)/.exec(message)?.[1] ?? message,
      );
    }
  };

  it('web starts with its hook secrets and the address of the store alone, and opens nothing that needs more', () => {
    const config = parseConfig('/etc/forgehand.yaml', WHOLE, { env: only('HOOK', 'DATABASE_URL'), reader: 'web' });

    expect(config.orgs[0]?.hooks[0]?.secrets[0]?.reveal()).toBe(WHOLE_ENV.HOOK);
    expect(config.queue.kind).toBe('embedded');
    expect([config.control.listen, config.alerts]).toEqual([null, null]);
  });

  it('web never holds what acts at a forge or opens sealed values, even where the environment has it', () => {
    const { forges, orgs, keys } = parseConfig('/etc/forgehand.yaml', WHOLE, { env: WHOLE_ENV, reader: 'web' });

    const auth = forges[0]?.auth;
    for (const secret of [auth?.type === 'token' && auth.token, orgs[0]?.secrets.mirror, keys.data])
      expect(() => (secret as Secret).reveal()).toThrow(/is not for a process of the role web/);
  });

  it.each<ConfigReader>(['web', 'worker', 'scheduler'])('%s never holds the secret of the login', (reader) => {
    const { forges } = parseConfig('/etc/forgehand.yaml', WHOLE, { env: WHOLE_ENV, reader });

    expect(forges[0]?.oauth?.clientId).toBe('2c1f');
    expect(() => forges[0]?.oauth?.clientSecret.reveal()).toThrow(`is not for a process of the role ${reader}`);
  });

  it.each<[ConfigReader, string[]]>([
    ['web', ['HOOK', 'DATABASE_URL']],
    ['worker', ['FORGE_TOKEN', 'MIRROR', 'DATABASE_URL', 'REDIS_URL', 'KEY', 'CONTROL', 'METRICS', 'Alerts']],
    ['scheduler', ['FORGE_TOKEN', 'MIRROR', 'DATABASE_URL', 'REDIS_URL', 'KEY', 'CONTROL', 'METRICS', 'Alerts']],
    ['console', Object.keys(WHOLE_ENV).filter((name) => name !== 'HOOK')],
    ['all', Object.keys(WHOLE_ENV)],
    ['command', []],
  ])('%s is refused without each of %j, and without no other', (reader, expected) => {
    expect(missing(reader, {}).sort()).toEqual([...expected].sort());
    expect(missing(reader, only(...(expected as Array<keyof typeof WHOLE_ENV>)))).toEqual([]);
  });

  it('reads a credential that systemd hands over', () => {
    const folder = mkdtempSync(join(tmpdir(), 'forgehand-credentials-'));
    writeFileSync(join(folder, 'hook'), `${'h'.repeat(40)}\n`, { mode: 0o440 });
    const text = GOOD.replace('{ env: HOOK }', '{ credential: hook }');

    const config = parseConfig('/etc/forgehand.yaml', text, { env: { ...ENV, CREDENTIALS_DIRECTORY: folder } });

    expect(config.orgs[0]?.hooks[0]?.secrets[0]?.reveal()).toBe('h'.repeat(40));
    expect(problems(text)).toEqual([
      '6:33: orgs.0.hooks.0.secret: there is no credential hook: CREDENTIALS_DIRECTORY is not set (systemd sets it for LoadCredential=)',
    ]);
    expect(problems(text.replace('credential: hook', 'credential: ../hook')).join()).toContain('orgs.0.hooks.0.secret');
  });
});

describe('config/read-config: addresses and short secrets', () => {
  const of = (...pairs: Array<[string, string]>): string[] =>
    problems(pairs.reduce((text, [from, to]) => text.replace(from, to), GOOD));

  it.each<[string, string[], string | null]>([
    [
      'a forge by plain http',
      ['http://127.0.0.1:4000/api/v1/', 'http://git.test/api/v1'],
      'forges.0.base_url is http: what is sent there can be read and changed on the way',
    ],
    [
      'with a reason',
      ['http://127.0.0.1:4000/api/v1/,', 'http://git.test/api/v1, insecure_http: "same host network",'],
      null,
    ],
    [
      'a host in place of an API',
      ['http://127.0.0.1:4000/api/v1/', 'http://127.0.0.1:4000'],
      'forges.0.base_url does not end in /api/v1: it is no address of an API (write http://127.0.0.1:4000/api/v1)',
    ],
    ['the same with a slash', ['http://127.0.0.1:4000/api/v1/', 'http://127.0.0.1:4000/'], 'does not end in /api/v1'],
    [
      'the page of an organization',
      ['http://127.0.0.1:4000/api/v1/', 'http://127.0.0.1:4000/acme'],
      '(write http://127.0.0.1:4000/api/v1, or http://127.0.0.1:4000/acme/api/v1 if the server itself lives below /acme)',
    ],
    [
      'an API with a query',
      ['http://127.0.0.1:4000/api/v1/', '"http://127.0.0.1:4000/api/v1?x=1"'],
      '(write http://127.0.0.1:4000/api/v1)',
    ],
    [
      'a path of one call',
      ['http://127.0.0.1:4000/api/v1/', 'http://127.0.0.1:4000/gitea/api/v1/version'],
      '(write http://127.0.0.1:4000/api/v1, or http://127.0.0.1:4000/gitea/api/v1 if the server itself lives below /gitea)',
    ],
    [
      'the API without its version',
      ['http://127.0.0.1:4000/api/v1/', 'http://127.0.0.1:4000/api'],
      '(write http://127.0.0.1:4000/api/v1)',
    ],
    ['a server below a path', ['http://127.0.0.1:4000/api/v1/', 'http://127.0.0.1:4000/gitea/api/v1'], null],
    ['this machine by another name', ['127.0.0.1:4000', 'localhost:4000'], null],
    [
      'a name that only begins like this machine',
      ['127.0.0.1:4000', '127.0.0.1.git.test:4000'],
      'forges.0.base_url is http',
    ],
    [
      'a password in the address',
      ['http://127.0.0.1:4000', 'https://me:pw@git.test'],
      'forges.0.base_url holds a password',
    ],
    [
      'a token in the address',
      ['http://127.0.0.1:4000', 'https://0123abcd@git.test'],
      'forges.0.base_url holds a user or token',
    ],
    [
      'a token in a parameter',
      ['http://127.0.0.1:4000/api/v1/', '"https://git.test/api/v1?token=x"'],
      'forges.0.base_url holds the parameter token',
    ],
    ['a password of the database', ['"embedded:./data"', '"postgres://bot:pw@db/x"'], 'store.url holds a password'],
    [
      'a password of a database on a socket',
      ['"embedded:./data"', '"postgres://bot:pw@/x?host=/run/postgresql"'],
      'store.url holds a password',
    ],
    [
      'a parameter of a database on a socket',
      ['"embedded:./data"', '"postgres://bot@/x?password=pw"'],
      'store.url holds the parameter password',
    ],
    [
      'a password of one database of several',
      ['"embedded:./data"', '"postgres://bot:pw@db1:5432,db2:5432/x"'],
      'store.url holds a password',
    ],
    [
      'a password of a proxy',
      ['api/v1/,', 'api/v1/, proxy: "http://me:pw@proxy:3128",'],
      'forges.0.proxy holds a password',
    ],
    ['a proxy as a secret', ['api/v1/,', 'api/v1/, proxy: { env: FORGE_TOKEN },'], null],
  ])('%s', (_situation, [from = '', to = ''], expected) => {
    const found = of([from, to]).filter((line) => !line.includes('keys.data'));

    if (expected === null) expect(found).toEqual([]);
    else expect(found).toEqual([expect.stringContaining(expected)]);
  });

  it('names a way out that the place takes', () => {
    const alerts = `${GOOD}alerts: { url: "https://alerts.test?token=x", secret: { env: CONTROL } }\n`;

    expect(of(['http://127.0.0.1:4000', 'https://me:pw@git.test'])[0]).toContain(
      '(take it away: auth says how the bot signs in)',
    );
    expect(problems(alerts)[0]).toContain(
      '(take it away: the receiver knows an alert by its signature (alerts.secret))',
    );
    expect(of(['"embedded:./data"', '"postgres://bot:pw@db/x"'])[0]).toContain(
      '(give the whole address as { env: NAME })',
    );
  });

  it('says what to write in place of a value of the wrong kind, and what is missing', () => {
    expect(of(['store: { url: "embedded:./data" }', 'store: { url: 5, group: staff }'])).toEqual([
      '8:15: store.url: an address, or one that holds a secret as { env: NAME }, { file: PATH } or { credential: NAME }',
      '8:25: store.group: the number of a group (getent group NAME shows it)',
    ]);
    expect(of(['url: "embedded:./data"', ''])).toEqual([
      '8:8: store.url is missing (an address, or one that holds a secret as { env: NAME }, { file: PATH } or { credential: NAME })',
    ]);
    expect(problems(`${GOOD}control: { listen: "127.0.0.1:70000", token: { env: CONTROL } }\n`)).toEqual([
      '9:20: control.listen: a port is 65535 at most',
    ]);
    expect(of(['type: token,', 'kind: token,'])).toEqual([
      expect.stringMatching(/^\d+:\d+: forges\.0\.auth\.type is missing \(token or basic\)$/),
    ]);
    expect(of(['type: token,', 'type: tokn,'])).toEqual([
      expect.stringMatching(/^\d+:\d+: forges\.0\.auth\.type: token or basic$/),
    ]);
  });

  it.each<[string, string | null]>([
    [
      'control: { listen: "0.0.0.0:9090", token: { env: CONTROL } }',
      'control.listen 0.0.0.0:9090 can be reached from other machines',
    ],
    ['control: { listen: "0.0.0.0:9090", token: { env: CONTROL }, tls: { cert_file: c.pem, key_file: k.pem } }', null],
    ['control: { listen: 9090, token: { env: CONTROL } }', null],
    [
      'metrics: { listen: "0.0.0.0:9091" }',
      'metrics.listen 0.0.0.0:9091 can be reached from other machines and needs a token',
    ],
    ['metrics: { listen: "0.0.0.0:9091", token: { env: CONTROL } }', null],
    ['metrics: { listen: 9091 }', null],
    ['alerts: { url: "http://alerts.test", secret: { env: CONTROL } }', 'alerts.url is http'],
    ['alerts: { url: "http://alerts.test", secret: { env: CONTROL }, insecure_http: "one rack" }', null],
    ['alerts: { url: "https://alerts.test" }', 'alerts.secret is missing'],
    ['alerts: { format: slack, url: "https://alerts.test/hooks/x" }', null],
    ['alerts: { format: slack, url: { env: CONTROL } }', 'alerts.url is no http or https address'],
    ['alerts: { format: matrix, url: "https://alerts.test/rooms/x" }', 'alerts.secret is missing'],
    ['alerts: { format: mail }', 'alerts.mail is missing'],
    ['alerts: { format: slack, url: "https://alerts.test", secret: { env: CONTROL } }', 'alerts.secret means nothing'],
    ['alerts: { format: mail, mail: { host: smtp.test, from: bot@example.org, to: [ann@example.org] } }', null],
    ['alerts: { format: mail, mail: { host: smtp.test, from: bot, to: [ann@example.org] } }', 'a plain mail address'],
    [
      'alerts: { format: mail, mail: { host: smtp.test, from: b@example.org, to: ["a@b.org\\nBcc: c@d.org"] } }',
      'a plain',
    ],
  ])('%s', (line, expected) => {
    const found = problems(`${GOOD}${line}\n`);

    if (expected === null) expect(found).toEqual([]);
    else expect(found).toEqual([expect.stringContaining(expected)]);
  });

  it('warns of secrets that are shorter than 32 characters, and takes them', () => {
    const text = `${GOOD}alerts: { url: https://alerts.test, secret: { env: FORGE_TOKEN } }\nmetrics: { listen: 9091, token: { env: FORGE_TOKEN } }\n`;

    const { warnings } = parseConfig('/etc/forgehand.yaml', text, { env: ENV });

    expect(warnings.map(({ line, message }) => `${line}: ${message}`)).toEqual([
      '6: orgs.0.hooks.0.secret is shorter than 32 characters; the next version refuses it',
      '10: metrics.token is shorter than 32 characters; the next version refuses it',
      '9: alerts.secret is shorter than 32 characters; the next version refuses it',
    ]);
    expect(parseConfig('/etc/forgehand.yaml', GOOD, { env: { ...ENV, HOOK: 'h'.repeat(32) } }).warnings).toEqual([]);
  });
});

describe('config/forgehand.example.yaml', () => {
  it('is read without a complaint', () => {
    const env = { FORGE_TOKEN: 'x', ACME_HOOK_SECRET: 'x', ACME_MIRROR_TOKEN: 'x' };

    expect(readConfig('config/forgehand.example.yaml', { env }).orgs[0]?.name).toBe('acme');
  });

  it.each([
    [
      '{ unverified_bytes: 1000000 }',
      'server.unverified_bytes: 1000000 bytes are less than four largest deliveries (4 x 5242880)',
    ],
    [
      '{ unverified_bytes_per_address: 1000000 }',
      'server.unverified_bytes_per_address: 1000000 bytes are less than four largest deliveries (4 x 5242880)',
    ],
    [
      '{ max_body_bytes: 50000000, unverified_bytes: 100000000 }',
      'server.unverified_bytes: 100000000 bytes are less than four largest deliveries (4 x 50000000)',
    ],
    [
      '{ public_url: "https://bot.example.org/in?x=1" }',
      'server.public_url has a query: the forge could not reach the paths behind it (write https://bot.example.org/in)',
    ],
    ['{ trusted_proxies: [proxy.example] }', 'an address or a range of addresses, like 10.0.0.7 or 10.0.0.0/8'],
  ])('server: %s => refused', (server, message) => {
    expect(problems(`${GOOD}\nserver: ${server}\n`).join('\n')).toContain(message);
  });
});
