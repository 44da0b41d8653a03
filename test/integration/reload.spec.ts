import { createHmac } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { StatusReport } from '../../src/api/operations/answers.js';
import type { ReloadReport } from '../../src/housekeeping/reload/reload-report.js';
import { describeOnPostgres } from '../services/test-stores.js';
import { until } from '../services/until.js';
import { acmeConfig } from './support/acme-config.js';
import { aBot, type BotOptions, type TestBot } from './support/a-bot.js';
import { aForge, type TestForge } from './support/a-forge.js';

const HOOK = 'the secret of each hook, which is long enough';

const rules = (org: string, label = 'bug'): string => `version: 1
org: ${org}
rules:
  - { id: labels, on: repository.created, do: { label.ensure: { name: ${label}, color: "#d73a4a" } } }
`;

const orgFile = (name: string, more: object = {}): string =>
  JSON.stringify({
    name,
    hooks: [{ id: name, secret: { env: 'HOOK' } }],
    rules: { path: `rules/${name}` },
    ...more,
  });

let forge: TestForge;
let bot: TestBot;

async function start(more: Partial<BotOptions> = {}): Promise<void> {
  const { orgs, ...config } = acmeConfig(forge, { org: { rules: { path: 'rules/acme' } } }) as { orgs: object[] };
  bot = await aBot({
    config: { ...config, orgs, defaults: { forge: 'main', trusted: true, feed: { every_s: 0.5 } } },
    files: { 'rules/acme/r.yaml': rules('acme'), 'rules/beta/r.yaml': rules('beta', 'of-beta') },
    env: { FORGE_TOKEN: forge.botToken, HOOK },
    ...more,
  });
}

const reload = (): Promise<ReloadReport> => bot.reach.post<ReloadReport>('/v1/config/reload');
const status = (): Promise<StatusReport> => bot.reach.get<StatusReport>('/v1/status');
const orgs = async (): Promise<string[]> => (await status()).rows.map(({ name }) => name).sort();

/** The answer of the webhook endpoint to a signed delivery. */
async function deliver(hook: string): Promise<number> {
  const body = JSON.stringify({ zen: hook });
  const signature = createHmac('sha256', HOOK).update(body).digest('hex');
  const headers = { 'content-type': 'application/json', 'x-gitea-event': 'push', 'x-gitea-signature': signature };
  return (await fetch(`${bot.url}/webhooks/${hook}`, { method: 'POST', headers, body })).status;
}

async function labelsOf(repo: string): Promise<string[]> {
  return (await forge.get<Array<{ name: string }>>(`/repos/${repo}/labels`)).map(({ name }) => name);
}

beforeEach(async () => {
  forge = await aForge({ org: 'acme' });
  await forge.control('/_sandbox/given', { org: 'beta', owner: 'olga' });
  const { token } = await forge.control('/_sandbox/accounts', { login: 'bot', org: 'beta', team: 'Owners' });
  Object.assign(forge, { botToken: token });
});

afterEach(async () => {
  await bot?.close();
  await forge?.close();
});

describe('integration/reload', () => {
  it('an organization comes: its hook, its polls and its rules work; and goes: none of them do', async () => {
    await start();
    expect(await deliver('beta')).toBe(401);

    bot.write('orgs.d/beta.yaml', orgFile('beta'));
    const { here } = await reload();

    expect(here).toEqual({ added: ['beta'], removed: [], changed: [], needsRestart: [] });
    expect(await orgs()).toEqual(['acme', 'beta']);
    expect(await deliver('beta')).toBe(202);
    // No webhook of the forge tells it: the feed does.
    await forge.control('/_sandbox/act', { as: 'olga', act: 'repository.create', repo: 'beta/app' });
    await until(async () => (await labelsOf('beta/app')).includes('of-beta'));

    rmSync(join(bot.dir, 'orgs.d/beta.yaml'));
    const after = await reload();
    const calls = (): number => forge.botCalls().filter(({ path }) => path.includes('/orgs/beta')).length;
    const before = calls();
    await forge.control('/_sandbox/act', { as: 'olga', act: 'repository.create', repo: 'acme/app' });
    await until(async () => (await labelsOf('acme/app')).includes('bug'));

    expect(after.here).toMatchObject({ removed: ['beta'] });
    expect(await orgs()).toEqual(['acme']);
    expect([await deliver('beta'), await deliver('acme')]).toEqual([401, 202]);
    // A poll may have been under way.
    expect(calls() - before).toBeLessThanOrEqual(3);
  });

  it('an organization says something else: it holds from then on, and the others go on as they are', async () => {
    await start({
      files: {
        'rules/acme/r.yaml': rules('acme'),
        'rules/beta/r.yaml': `${rules('beta')}  - { id: topics, on: push, do: { topics.ensure: { add: [a] } } }\n`,
        'orgs.d/beta.yaml': orgFile('beta'),
      },
    });
    const held = async (): Promise<readonly string[]> =>
      (await status()).rows.find(({ name }) => name === 'beta')?.heldBack ?? [];
    expect(await held()).toEqual([expect.stringContaining('topics.ensure')]);
    const before = bot.log().split('"revision.active"').length;

    bot.write('orgs.d/beta.yaml', orgFile('beta', { powers: ['topics.ensure'] }));
    const { here } = await reload();

    expect(here).toMatchObject({ added: [], removed: [], changed: ['beta'] });
    expect(await held()).toEqual([]);
    // That of beta alone was loaded.
    expect(bot.log().split('"revision.active"').length).toBe(before + 1);
  });

  it('a file that is broken changes nothing, says where, and is told until a reload succeeds', async () => {
    await start();
    bot.write('orgs.d/beta.yaml', orgFile('beta'));
    bot.write('orgs.d/gamma.yaml', 'name: gamma\nrules: { path: rules/gamma }\nfeed: { every_s: often }\n');

    await expect(reload()).rejects.toThrow(/orgs\.d\/gamma\.yaml:3:18: feed\.every_s must be a number/);

    expect(await orgs()).toEqual(['acme']);
    expect([await deliver('acme'), await deliver('beta')]).toEqual([202, 401]);
    expect((await status()).alerts).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ code: 'config.broken', message: expect.stringContaining('gamma.yaml:3:18') }),
      ]),
    );
    const metrics = async (): Promise<string> => (await bot.reach.send('GET', '/metrics')).text;
    expect(await metrics()).toContain('forgehand_config_last_reload_successful 0');

    rmSync(join(bot.dir, 'orgs.d/gamma.yaml'));
    await reload();

    expect(await orgs()).toEqual(['acme', 'beta']);
    expect((await status()).alerts.filter(({ code }) => code === 'config.broken')).toEqual([]);
    expect(await metrics()).toContain('forgehand_config_last_reload_successful 1');
  });

  it('what a reload cannot change is named, and stays as it is; the organizations change all the same', async () => {
    await start();
    const written = JSON.parse(readFileSync(bot.configFile, 'utf8')) as Record<string, object>;
    bot.write(
      'forgehand.yaml',
      JSON.stringify({ ...written, server: { ...written['server'], port: 1 }, log: { level: 'warn' } }),
    );
    bot.write('orgs.d/beta.yaml', orgFile('beta'));

    const { here } = await reload();

    expect(here).toMatchObject({ added: ['beta'], needsRestart: ['server.port', 'log.level'] });
    expect(await deliver('beta')).toBe(202);
  });

  it('an organization of a forge that was not there at the start changes nothing', async () => {
    await start();
    const written = JSON.parse(readFileSync(bot.configFile, 'utf8')) as { forges: object[] };
    bot.write(
      'forgehand.yaml',
      JSON.stringify({ ...written, forges: [...written.forges, { ...written.forges[0], id: 'other' }] }),
    );
    bot.write('orgs.d/beta.yaml', orgFile('beta', { forge: 'other' }));

    await expect(reload()).rejects.toThrow(/beta is at the forge "other".*Start the bot again/);

    expect(await orgs()).toEqual(['acme']);
  });
});

describeOnPostgres('integration/reload of a distributed bot', () => {
  it('every role follows, told by one of them; one whose file is broken says so and goes on', async () => {
    await start({ roles: ['web', 'worker', 'scheduler'] });
    bot.write('orgs.d/beta.yaml', orgFile('beta'));
    const { elsewhere } = await reload();

    expect(elsewhere).toBe(true);
    await until(async () => (await deliver('beta')) === 202, 100);
    // The scheduler polls, the worker decides and writes.
    await forge.control('/_sandbox/act', { as: 'olga', act: 'repository.create', repo: 'beta/app' });
    await until(async () => (await labelsOf('beta/app')).includes('of-beta'));
    expect(bot.log().split('"config.reloaded"').length - 1).toBe(3);

    // Each of these processes has a config file of its own beside the same orgs.d.
    bot.write('web.yaml', 'orgs: {}\n');
    rmSync(join(bot.dir, 'orgs.d/beta.yaml'));
    await reload();
    await until(async () => (await status()).alerts.some(({ code }) => code === 'config.broken'), 100);

    expect(await deliver('beta')).toBe(202);
    expect(await orgs()).toEqual(['acme']);
  });
});
