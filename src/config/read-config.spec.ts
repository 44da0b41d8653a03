import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { InvalidFile } from '../core/errors.js';
import { parseConfig, readConfig } from './read-config.js';

const ENV = { FORGE_TOKEN: 'canary-forge-token', HOOK: 'canary-hook-secret', EMPTY: ' ', CONTROL: 'c'.repeat(32), KEY: 'k'.repeat(32) };

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
    if (error instanceof InvalidFile) return error.problems.map((p) => `${p.line}:${p.col}: ${p.message}${p.hint ? ` (${p.hint})` : ''}`);
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
    expect(config.store).toEqual({ kind: 'embedded', dir: '/etc/data' });
    expect(config.queue).toEqual({ kind: 'embedded', sweepS: 2 });
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
      ['6:33: orgs.0.hooks.0.secret: a secret is given as { env: NAME } or { file: PATH }, never as its value'],
    ],
    ['an empty secret => refused', GOOD.replace('env: HOOK', 'env: EMPTY'), ['6:33: orgs.0.hooks.0.secret: EMPTY is empty: an empty secret protects nothing']],
    ['a missing variable => named', GOOD.replace('env: HOOK', 'env: NOPE'), ['6:33: orgs.0.hooks.0.secret: the environment has no NOPE']],
    ['an unknown forge => named', GOOD.replace('forge: main', 'forge: mian'), ['5:12: there is no forge "mian" (did you mean "main"?)']],
    [
      'a hook with nothing to check => refused',
      GOOD.replace(', secret: { env: HOOK }', ''),
      ['6:13: hook "acme" names neither a secret nor an authorization (secret: { env: NAME } is the usual one)'],
    ],
    ['a store of another kind => refused', GOOD.replace('embedded:./data', 'mysql://x'), ['8:15: store.url is neither embedded:DIR nor postgres://…']],
    ['a key twice => refused', GOOD + 'store: { url: "embedded:x" }\n', ['9:1: Map keys must be unique']],
    ['a limit that does not parse => refused', GOOD + 'server: { port: many }\n', ['9:17: server.port: Invalid input: expected number, received string']],
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
      { kind: 'once', fromWallMs: Date.UTC(2026, 11, 24), toWallMs: Date.UTC(2027, 0, 2), tz: 'Europe/Paris', reason: 'holidays' },
    ],
    [
      'times',
      '{ from: 2026-12-24T18:00, to: 2026-12-25T06:30, reason: x }',
      { kind: 'once', fromWallMs: Date.UTC(2026, 11, 24, 18), toWallMs: Date.UTC(2026, 11, 25, 6, 30), tz: 'UTC', reason: 'x' },
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
    ['{ from: soon, to: 2026-12-20, reason: x }', '7:22: orgs.0.freeze.0.from: a day (2026-12-24) or a time (2026-12-24T18:00), on the clock of tz'],
    [
      '{ cron: "0 17 * *", for: 62h, reason: x }',
      '7:22: a cron expression has five fields, this has 4 (minute hour day month weekday: "30 2 * * *" is every night at half past two)',
    ],
    ['{ cron: "0 17 * * 5", for: 800h, reason: x }', '7:41: "800h" is no length of a freeze (a duration from 1m to 744h, like 62h)'],
    ['{ from: 2026-12-24, to: 2026-12-25, tz: Mars, reason: x }', '7:54: there is no time zone "Mars" (names are like Europe/Paris)'],
    ['{ from: 2026-12-24, to: 2026-12-25 }', '7:14: orgs.0.freeze.0.reason is missing'],
  ])('refuses the freeze %s', (freeze, expected) => {
    expect(problems(frozen(freeze))).toEqual([expected]);
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

describe('config/forgehand.example.yaml', () => {
  it('is read without a complaint', () => {
    const env = { FORGE_TOKEN: 'x', ACME_HOOK_SECRET: 'x', ACME_MIRROR_TOKEN: 'x' };

    expect(readConfig('config/forgehand.example.yaml', { env }).orgs[0]?.name).toBe('acme');
  });

  it.each([
    ['{ unverified_bytes: 1000000 }', 'server.unverified_bytes: 1000000 bytes are less than four largest deliveries (4 x 5242880)'],
    ['{ unverified_bytes_per_address: 1000000 }', 'server.unverified_bytes_per_address: 1000000 bytes are less than four largest deliveries (4 x 5242880)'],
    [
      '{ max_body_bytes: 50000000, unverified_bytes: 100000000 }',
      'server.unverified_bytes: 100000000 bytes are less than four largest deliveries (4 x 50000000)',
    ],
    ['{ trusted_proxies: [proxy.example] }', 'an address or a range of addresses, like 10.0.0.7 or 10.0.0.0/8'],
  ])('server: %s => refused', (server, message) => {
    expect(problems(`${GOOD}\nserver: ${server}\n`).join('\n')).toContain(message);
  });
});
