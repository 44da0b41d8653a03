import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ConsoleSession } from '../../../src/api/session-store.port.js';
import { freePort } from '../../services/processes.mjs';
import { aPlace, type Place } from '../support/a-place.js';
import { acmeConfig } from '../support/acme-config.js';
import { startBot, type Bot } from '../support/bot.js';
import { hasTerminal, Terminal } from '../support/a-terminal.js';
import { FORGEHAND, requireBuild } from '../support/built.js';
import { Outputs } from './outputs.js';

const RULES = 'version: 1\norg: acme\nrules: []\n';
const outputs = new Outputs();

let place: Place;
let port: number;
let bot: Bot;

const run = (...args: string[]) => outputs.run(place, ...args, '--config', place.configFile);

beforeAll(async () => {
  requireBuild();
  port = await freePort();
  place = aPlace({
    // Nobody listens there.
    config: acmeConfig('http://127.0.0.1:9/api/v1', { console: { listen: port } }),
    files: { 'rules/rules.yaml': RULES },
    env: { FORGE_TOKEN: 'forge-token', HOOK_SECRET: 'h'.repeat(40) },
  });
  bot = await startBot(place);
});

afterAll(async () => {
  await bot?.kill();
  place?.remove();
});

describe('the commands of the Console', () => {
  it('print a link that logs in once, list the session, and end it', async () => {
    const { code, stdout } = await run('console', 'open');
    const link = stdout.trim();
    expect([code, link]).toEqual([
      0,
      expect.stringMatching(new RegExp(`^http://127\\.0\\.0\\.1:${port}/login#[A-Za-z0-9_-]{22}$`)),
    ]);

    const cookie = await follow(link);
    expect((await get('/', cookie)).status).toBe(200);
    expect(await follow(link)).toBe('');

    const listed = await run('console', 'sessions', '--json');
    const [session] = JSON.parse(listed.stdout) as ConsoleSession[];
    expect(session).toMatchObject({ kind: 'local', name: expect.stringMatching(/^console:/), endedAt: null });

    expect((await run('console', 'end', session!.id)).code).toBe(0);
    expect((await get('/', cookie)).status).toBe(303);
    expect((await run('console', 'end', session!.id)).code).toBe(3);
  });

  it('serve scripts and style that the build made', async () => {
    const { text } = await get('/login', '');
    const files = [...text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path);

    expect(files.map((path) => path.replace(/-[0-9a-f]+\./, '.')).sort()).toEqual([
      '/assets/login.js',
      '/assets/page.js',
      '/assets/theme.css',
    ]);
    for (const path of files) expect((await get(path, '')).status).toBe(200);
  });

  it('print nothing of a link to a log', async () => {
    const { code, stdout, stderr } = await run('console', 'open');
    const secret = new URL(stdout.trim()).hash.slice(1);

    expect([code, stderr]).toEqual([0, expect.not.stringContaining(secret)]);
    expect(bot.child.stdout + bot.child.stderr).not.toContain(secret);
  });
});

(hasTerminal ? describe : describe.skip)('a bot that a person starts on a terminal', () => {
  it('prints a link there, which logs in', async () => {
    await bot.stop();
    const terminal = new Terminal(`node ${FORGEHAND} start --config ${place.configFile}`, place.dir, place.env);
    try {
      await terminal.see('Open the Console within a minute: ');
      await terminal.see('(later: npx forgehand console)');
      const link = /http:\/\/127\.0\.0\.1:\d+\/login#[\w-]{22}/.exec(terminal.shown)?.[0] ?? '';

      expect((await get('/', await follow(link))).status).toBe(200);
    } finally {
      await terminal.interrupt();
    }
  });
});

/** What the page's script does. @returns the cookie of the session; '' when it was refused */
async function follow(link: string): Promise<string> {
  const { hash, origin } = new URL(link);
  const form = new URLSearchParams({ code: hash.slice(1) }).toString();
  const type = 'application/x-www-form-urlencoded';
  const { status, cookies } = await ask('POST', '/login/link', { origin, 'content-type': type }, form);
  return status === 200 ? cookies.map((one) => one.split(';')[0]).join('; ') : '';
}

const get = (path: string, cookie: string) => ask('GET', path, { cookie });

function ask(
  method: string,
  path: string,
  headers: Record<string, string>,
  body = '',
): Promise<{ status: number; text: string; cookies: string[] }> {
  return new Promise((resolve, reject) => {
    const asking = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (answer) => {
      let text = '';
      answer.on('data', (part: Buffer) => (text += part.toString()));
      answer.once('end', () =>
        resolve({ status: answer.statusCode ?? 0, text, cookies: answer.headers['set-cookie'] ?? [] }),
      );
    });
    asking.once('error', reject);
    asking.end(body);
  });
}
