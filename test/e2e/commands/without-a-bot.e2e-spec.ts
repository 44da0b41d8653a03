import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startScriptedServer } from '../../fakes/scripted-server.js';
import { ROOT } from '../../services/with-services.mjs';
import type { Place } from '../support/a-place.js';
import { aPlace } from '../support/a-place.js';
import { FORGEHAND, requireBuild } from '../support/built.js';
import { Child } from '../support/child.js';
import type { CommandResult } from '../support/forgehand.js';
import { Outputs } from './outputs.js';

const GOOD =
  'version: 1\norg: acme\nrules:\n  - { id: bug-label, on: repository.created, do: { label.ensure: { name: bug, color: "#d73a4a" } } }\n';
const BROKEN =
  'version: 1\norg: acme\nrules:\n  - id: bug-label\n    on: repository.creatd\n    do: { label.ensure: { name: bug, color: red } }\n';
const FORGE = {
  id: 'main',
  base_url: 'http://127.0.0.1:9/api/v1',
  auth: { type: 'token', token: { env: 'FORGE_TOKEN' } },
};
const ORG = {
  name: 'acme',
  forge: 'main',
  hooks: [{ id: 'acme', secret: { env: 'HOOK_SECRET' } }],
  rules: { path: 'rules' },
};
const CONFIG = {
  forges: [FORGE],
  orgs: [ORG],
  store: { url: 'embedded:./data' },
  server: { host: '127.0.0.1', port: 0 },
};
const SECRETS = { token: 'canary-token-77ac01', hook: 'canary-hook-2be19f-and-long-enough-for-nobody-to-guess' };

let place: Place;
const outputs = new Outputs();
const run = (...args: string[]): Promise<CommandResult> => outputs.run(place, ...args);

/** Each command and sub-command, as `--help` lists them, with its help. */
async function helps(...path: string[]): Promise<Array<{ name: string; help: CommandResult }>> {
  const help = await run(...path, '--help');
  const listed = help.stdout.split('\nCommands:\n')[1]?.split('\n\n')[0] ?? '';
  const names = [...listed.matchAll(/^ {2}([a-z]+)/gm)].flatMap(([, name]) => (name && name !== 'help' ? [name] : []));
  const below = await Promise.all(names.map((name) => helps(...path, name)));
  return [{ name: path.join(' '), help }, ...below.flat()];
}

beforeAll(() => {
  requireBuild();
  place = aPlace({
    config: CONFIG,
    files: { 'rules/rules.yaml': GOOD, 'broken/rules.yaml': BROKEN },
    env: { FORGE_TOKEN: SECRETS.token, HOOK_SECRET: SECRETS.hook, EMPTY: ' ' },
  });
});

afterAll(() => place.remove());

describe('e2e/commands without a bot', () => {
  it('ends as it would have when nobody reads what it prints', async () => {
    const child = spawn(process.execPath, [FORGEHAND, 'schema'], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    let told = '';
    child.stderr.on('data', (chunk: Buffer) => (told += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];

    expect({ code, told }).toEqual({ code: 0, told: '' });
  });

  it('every command tells its use', async () => {
    const commands = await helps();

    expect(commands.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'start',
        'sandbox',
        'demo',
        'check',
        'status',
        'deliveries',
        'runs',
        'replay',
        'retry',
        'resolve',
        'pause',
        'resume',
        'housekeeping',
        'housekeeping list',
        'housekeeping run',
        'housekeeping restore',
        'backup',
        'restore',
        'store',
        'store copy',
        'version',
      ]),
    );
    for (const { name, help } of commands)
      expect(help).toEqual({
        code: 0,
        stderr: '',
        stdout: expect.stringMatching(new RegExp(`^Usage: forgehand ${name}`)),
      });
  });

  it('version tells the version', async () => {
    const { version } = JSON.parse((await run('version', '--json')).stdout) as { version: string };

    expect(version).toMatch(/^\d+\.\d+\.\d+/);
    expect(await run('version')).toEqual({
      code: 0,
      stdout: `forgehand ${version} (node ${process.versions.node})\n`,
      stderr: '',
    });
    expect(await run('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it.each([
    ['in a pipe', {}, false],
    ['in a pipe, FORCE_COLOR', { FORCE_COLOR: '1' }, true],
    ['in a pipe, FORCE_COLOR=0', { FORCE_COLOR: '0' }, false],
    ['in a pipe, FORCE_COLOR and NO_COLOR', { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
  ])('%s => colours: %s', async (_where, env, isColoured) => {
    const child = new Child([FORGEHAND, 'check', '--config', 'nowhere.yaml'], { NO_COLOR: '', ...env }, place.dir);
    await child.ended;

    expect(child.stderr).toContain('nowhere.yaml');
    expect(child.stderr.includes('\u001b[31m')).toBe(isColoured);
  });

  it('completion and man print what the build has, and the organizations of the config', async () => {
    const scripts = [await run('completion', 'bash'), await run('completion', 'zsh'), await run('completion', 'fish')];
    const page = await run('man');

    for (const { stdout } of scripts) expect(stdout).toMatch(/ housekeeping run/);
    expect(page.stdout).toBe(readFileSync(join(ROOT, 'dist/man/forgehand.1'), 'utf8'));
    expect(await run('completion', 'orgs', '--config', place.configFile)).toEqual({
      code: 0,
      stdout: 'acme\n',
      stderr: '',
    });
  });

  it('notify test says what became of a message to each destination', async () => {
    const chat = await startScriptedServer(({ url }, reply) => void reply.writeHead(url === '/good' ? 200 : 404).end());
    const rule = (id: string, to: string): string =>
      `  - {id: ${id}, on: push, do: {notify: {to: "\${{ secrets.${to} }}", format: slack, text: "pushed"}}}\n`;
    const there = aPlace({
      config: {
        ...CONFIG,
        orgs: [{ ...ORG, notify_hosts: [chat.url], secrets: { good: { env: 'GOOD' }, gone: { env: 'GONE' } } }],
        alerts: { format: 'slack', url: `${chat.url}/good` },
      },
      files: {
        'rules/rules.yaml': `version: 1\norg: acme\nsecrets: [good, gone]\nrules:\n${rule('one', 'good')}${rule('two', 'gone')}${rule('again', 'good')}`,
      },
      env: {
        FORGE_TOKEN: SECRETS.token,
        HOOK_SECRET: SECRETS.hook,
        GOOD: `${chat.url}/good`,
        GONE: `${chat.url}/gone`,
      },
    });
    const test = (...args: string[]): Promise<CommandResult> =>
      outputs.run(there, 'notify', 'test', '--config', there.configFile, ...args);
    const all = await test('--json');
    const good = await test('--to', 'good');
    const alerts = await test('--to', 'alerts');
    const none = await test('--to', 'nobody');
    await chat.close();
    there.remove();

    const { destinations } = JSON.parse(all.stdout) as { destinations: Array<{ name: string; outcome: string }> };
    expect(destinations.map(({ name, outcome }) => [name, outcome])).toEqual([
      ['alerts', 'taken'],
      ['acme/good', 'taken'],
      ['acme/gone', 'refused'],
    ]);
    expect([all.code, good.code, alerts.code, none.code]).toEqual([1, 0, 0, 3]);
    expect(chat.seen.map(({ url }) => url)).toEqual(['/good', '/good', '/gone', '/good', '/good']);
    expect(none.stderr).toContain('there are alerts, acme/good, acme/gone');
    expect(all.stdout + good.stdout).not.toContain('http:');
  });

  it.each([
    ['no command', [], /^Usage: forgehand/],
    [
      'an unknown command',
      ['stat'],
      /^error: unknown command 'stat'\n(.*\n)?\(?Did you mean|^error: unknown command 'stat'/,
    ],
    ['an unknown option', ['status', '--jsn'], /^error: unknown option '--jsn'/],
    ['an argument too many', ['pause', 'everything'], /^error: too many arguments/],
    ['a missing argument', ['retry'], /^error: missing required argument 'intent'/],
    [
      'a missing option',
      ['store', 'copy', '--from', 'embedded:x'],
      /^error: required option '--to <store>' not specified/,
    ],
    [
      'a store of another kind',
      ['store', 'copy', '--from', 'mysql://x'],
      /^error: option '--from <store>' argument 'mysql:\/\/x' is invalid/,
    ],
    [
      'a value that does not parse',
      ['runs', '--limit', 'many'],
      /^error: option '-n, --limit <count>' argument 'many' is invalid/,
    ],
    [
      'a state that is none',
      ['runs', '--state', 'lost'],
      /^error: option '--state <state>' argument 'lost' is invalid/,
    ],
    ['a role that is none', ['start', '--role', 'king'], /^error: option '--role <role>' argument 'king' is invalid/],
    [
      'a config that is not there',
      ['status', '--config', 'nowhere.yaml'],
      /^error nowhere\.yaml:1:1: no such file \(give its path with --config, or make one: npx forgehand init\)\n$/,
    ],
    [
      'no config where it is looked for',
      ['start'],
      /^error config\/forgehand\.yaml:1:1: no such file \(give its path with --config, or make one: npx forgehand init\)\n$/,
    ],
  ])('%s => 2, and a sentence', async (_what, args, stderr) => {
    expect(await run(...args)).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(stderr) });
  });

  it.each([
    ['a command', ['check', 'acme.yaml', 'other.yaml'], '(npx forgehand check --help shows what it takes)\n'],
    [
      'a command inside another',
      ['store', 'copy', '--form', 'embedded:x'],
      '(npx forgehand store copy --help shows what it takes)\n',
    ],
    ['no command', ['--jsn'], '(npx forgehand --help shows the commands)\n'],
  ])('a wrong line of %s names the help that tells what it takes', async (_what, args, hint) => {
    const { code, stderr } = await run(...args);

    expect({ code, hint: stderr.slice(stderr.lastIndexOf('(')) }).toEqual({ code: 2, hint });
  });

  it.each<[string, object, RegExp]>([
    [
      'an unknown key',
      { ...CONFIG, sever: {} },
      /^error .*wrong\.yaml:\d+:\d+: unknown key "sever" \(did you mean "server"\?\)\n$/,
    ],
    [
      'two mistakes',
      { ...CONFIG, server: { port: 'x' }, queue: { sweep_s: 0 } },
      /wrong\.yaml:\d+:\d+: (queue\.sweep_s|server\.port).*\n.*wrong\.yaml:\d+:\d+: (queue\.sweep_s|server\.port)/,
    ],
    [
      'an organization on no forge',
      { ...CONFIG, orgs: [{ ...ORG, forge: 'mian' }] },
      /there is no forge "mian" \(did you mean "main"\?\)/,
    ],
    [
      'a secret written out',
      { ...CONFIG, orgs: [{ ...ORG, hooks: [{ id: 'acme', secret: SECRETS.hook }] }] },
      /a secret is given as \{ env: NAME \}, \{ file: PATH \} or \{ credential: NAME \}, never as its value/,
    ],
    [
      'a secret that is not there',
      { ...CONFIG, orgs: [{ ...ORG, hooks: [{ id: 'acme', secret: { env: 'NO_SUCH' } }] }] },
      /the environment has no NO_SUCH: set it, or write the line NO_SUCH=… into wrong\.env \(chmod 600\)\n$/,
    ],
    [
      'an empty secret',
      { ...CONFIG, orgs: [{ ...ORG, hooks: [{ id: 'acme', secret: { env: 'EMPTY' } }] }] },
      /EMPTY is empty: an empty secret protects nothing\n/,
    ],
    [
      'a secret file that others can read',
      { ...CONFIG, orgs: [{ ...ORG, hooks: [{ id: 'acme', secret: { file: 'open-secret' } }] }] },
      /open-secret can be read by others: chmod 600 it\n$/,
    ],
    [
      'PostgreSQL without a data key',
      { ...CONFIG, store: { url: 'postgres://127.0.0.1:9/x' } },
      /keys\.data is missing/,
    ],
    [
      'a control address without a token',
      { ...CONFIG, control: { listen: 9999 } },
      /control\.listen needs a control\.token of at least 32 characters/,
    ],
  ])('a config with %s => 2, file:line:col and the reason', async (_what, config, stderr) => {
    place.write('open-secret', SECRETS.hook, 0o644);
    const file = place.write('wrong.yaml', JSON.stringify(config, null, 2));

    const result = await run('start', '--config', file);

    expect(result).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(stderr) });
    expect(result.stderr).toMatch(/^(error .*wrong\.yaml:\d+:\d+: .+\n)+$/);
  });

  it('check passes good files and tells every problem of broken ones with its place', async () => {
    const where = ['--config', place.configFile, '--org', 'acme', '--rules', 'broken'];

    expect(await run('check', '--config', place.configFile)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^ok acme: 1 rule and 0 policies in /),
      stderr: '',
    });
    expect(JSON.parse((await run('check', '--config', place.configFile, '--json')).stdout)).toMatchObject({
      ok: true,
      orgs: [{ org: 'acme', rules: 1, policies: 0, problems: [] }],
    });
    expect(await run('check', ...where)).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /^error .*broken\/rules\.yaml:5:9: there is no event kind "repository\.creatd".*\nerror .*broken\/rules\.yaml:6:\d+: .*colou?r.*\nacme: 2 problems in /,
      ),
    });
    expect(await run('check', ...where, '--json')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/"ok": false/),
    });
    expect(await run('check', '--config', place.configFile, '--org', 'nobody')).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/^error the config has no organization nobody/),
    });
  });

  it('sandbox starts, answers and stops on SIGINT', async () => {
    const child = new Child(
      [FORGEHAND, 'sandbox', '--port', '0', '--profile', 'forgejo', '--seed', '5', '--json'],
      {},
      place.dir,
    );
    await child.line((line) => (line === '}' ? true : undefined));
    const facts = JSON.parse(child.stdout) as { api: string; url: string; control_token: string };

    const version = (await (await fetch(`${facts.api}/version`)).json()) as { version: string };
    const world = (await (
      await fetch(`${facts.url}/_sandbox/world`, { headers: { authorization: `Bearer ${facts.control_token}` } })
    ).json()) as {
      profile: string;
      orgs: Array<{ name: string }>;
    };

    expect(version.version).toMatch(/^\d+\./);
    expect(world).toMatchObject({ profile: 'forgejo', orgs: [{ name: 'acme' }] });
    expect((await fetch(`${facts.url}/_sandbox/world`)).status).toBe(401);
    expect(await child.end('SIGINT')).toEqual({ code: 0, signal: null });
    expect(child.stderr).toBe('');
  });

  it('sandbox says which port is taken', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;

    expect(await run('sandbox', '--port', String(port))).toEqual({
      code: 3,
      stdout: '',
      stderr: `error port ${port} is taken: give another with --port, or 0 for any free one\n`,
    });
    expect(await run('sandbox', '--profile', 'bitbucket')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^error: option '--profile <name>' argument 'bitbucket' is invalid/),
    });
    await new Promise((resolve) => server.close(resolve));
  });

  it('shows no stack trace and no secret anywhere', () => {
    outputs.prove(SECRETS);
  });
});
