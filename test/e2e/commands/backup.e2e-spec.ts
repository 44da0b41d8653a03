import { copyFileSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RunReport } from '../../../src/api/operations/answers.js';
import { openStores } from '../../../src/store/open-stores.js';
import { until } from '../../services/until.js';
import { aForge, type Forge } from '../support/a-forge.js';
import { aPlace, type Place } from '../support/a-place.js';
import { startBot, type Bot } from '../support/bot.js';
import { FORGEHAND, requireBuild } from '../support/built.js';
import { Child } from '../support/child.js';
import { askJson, forgehand, type CommandResult, untilRows } from '../support/forgehand.js';
import { tell } from '../support/tell.js';

const SECRET = 'the secret of the hook';
const RULES =
  'version: 1\norg: acme\nrules:\n  - { id: bug-label, on: repository.created, do: { label.ensure: { name: bug, color: "#d73a4a" } } }\n';

interface Report {
  readonly rows: number;
  readonly tables: ReadonlyArray<{ name: string; rows: number }>;
  readonly pauseMs: number;
}

let forge: Forge;
let place: Place;
let bot: Bot;
let other: string;

const run = (...args: string[]): Promise<CommandResult> => forgehand(place, ...args);
const hasLabel = async (repo: string): Promise<boolean> =>
  ((await forge.get<Array<{ name: string }>>(`/repos/acme/${repo}/labels`)) ?? []).some(({ name }) => name === 'bug');

function configOf(data: string): object {
  return {
    forges: [
      { id: 'main', base_url: forge.apiUrl, auth: { type: 'token', token: { env: 'FORGE_TOKEN' } }, rate_per_s: 50 },
    ],
    orgs: [
      {
        name: 'acme',
        forge: 'main',
        hooks: [{ id: 'acme', secret: { env: 'HOOK_SECRET' } }],
        rules: { path: 'rules' },
        feed: { every_s: 2 },
        tasks: { calls_per_poll: 0 },
      },
    ],
    store: { url: `embedded:./${data}` },
    server: { host: '127.0.0.1', port: 0 },
    console: { enabled: false },
  };
}

beforeAll(async () => {
  requireBuild();
  forge = await aForge();
  place = aPlace({
    config: configOf('data'),
    files: { 'rules/rules.yaml': RULES },
    env: { FORGE_TOKEN: forge.botToken, HOOK_SECRET: SECRET },
  });
  other = place.write('other.yaml', JSON.stringify(configOf('data2')));
  bot = await startBot(place);
  await forge.hook(bot.url, SECRET);
});

afterAll(async () => {
  await bot?.kill();
  await forge?.close();
  place?.remove();
});

describe('e2e/commands: a backup of a running embedded bot', () => {
  it('is made while deliveries come in, and leaves nothing beside the file', async () => {
    let isOver = false;
    const acting = (async () => {
      for (let n = 0; !isOver && n < 200; n += 1) await forge.act('repository.create', { repo: `acme/during-${n}` });
    })();
    await until(async () => hasLabel('during-0'));

    const report = await askJson<Report>(place, 'backup', 'store.backup', '--config', place.configFile);
    isOver = true;
    await acting;
    const again = await run('backup', 'store.backup', '--config', place.configFile);
    const human = await run('backup', 'second.backup', '--config', place.configFile);

    tell(`the bot waited ${report.pauseMs} ms for a backup of ${report.rows} rows`);
    expect(report.tables.find(({ name }) => name === 'arrivals')?.rows).toBeGreaterThan(0);
    expect(report.pauseMs).toEqual(expect.any(Number));
    expect(statSync(join(place.dir, 'store.backup')).mode & 0o777).toBe(0o600);
    expect(again).toMatchObject({ code: 3, stderr: expect.stringContaining('already exists') });
    expect(human).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/next: keep the data key too, .*data\/data\.key\n$/),
      stderr: expect.stringContaining('reading arrivals\n'),
    });
    expect(readdirSync(join(place.dir, 'data')).filter((name) => name.startsWith('backup-'))).toEqual([]);
    expect(readdirSync(place.dir).filter((name) => name.includes('.new-'))).toEqual([]);
  });

  it('is verified without a store, and says where it is damaged', async () => {
    const whole = readFileSync(join(place.dir, 'store.backup'));
    writeFileSync(join(place.dir, 'cut.backup'), whole.subarray(0, whole.length / 2));

    expect(await run('backup', '--verify', 'store.backup')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/every count and digest holds\n$/),
    });
    expect(await run('backup', '--verify', 'cut.backup')).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/error .*cut\.backup is damaged in table \w+.*before byte \d+ of \d+/),
    });
    expect(await run('restore', 'cut.backup', '--config', other)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('is damaged'),
    });
    expect(readdirSync(place.dir)).not.toContain('data2');
  });

  it('is restored into an empty store alone, and a bot goes on with it: nothing is done twice', async () => {
    expect(await run('restore', 'store.backup', '--config', place.configFile)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('a bot already runs on this data'),
    });
    await until(async () => hasLabel('during-0'));
    await bot.stop();
    expect(await run('restore', 'store.backup', '--config', place.configFile)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('the target is not empty'),
    });
    const writesBefore = forge.botWrites().length;
    const labelled = (await forge.get<Array<{ name: string }>>('/orgs/acme/repos')) ?? [];

    const restored = await run('restore', 'store.backup', '--config', other);
    copyFileSync(join(place.dir, 'data', 'data.key'), join(place.dir, 'data2', 'data.key'));
    const audit = await run('audit', '--config', other);
    bot = await startBot(place, 'all', other);
    await forge.hook(bot.url, SECRET);
    await forge.act('repository.create', { repo: 'acme/after' });
    await until(async () => hasLabel('after'));
    await untilRows<RunReport>({ configFile: other }, '/v1/runs?state=open', (open) => open.length === 0);

    expect(restored).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/next: put the data key of the old store into .*data2\/data\.key/),
    });
    expect(audit).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ok acme: \d+ links hold/) });
    const made = forge.botWrites().filter(({ method, path }) => method === 'POST' && path.endsWith('/labels'));
    const byPath = new Map<string, number>();
    for (const { path } of made) byPath.set(path, (byPath.get(path) ?? 0) + 1);
    expect([...byPath].filter(([, count]) => count > 1)).toEqual([]);
    expect([labelled.length > 0, made.length, writesBefore > 0]).toEqual([true, byPath.size, true]);
  });

  it('needs no bot: the command opens the store itself, and refuses one that a newer version made', async () => {
    await bot.stop();
    expect(await run('backup', 'third.backup', '--config', other)).toMatchObject({
      code: 0,
      stdout: expect.not.stringContaining('the bot waited'),
    });
    const stores = await openStores({ kind: 'embedded', dir: join(place.dir, 'data2') });
    await stores.dataSource.query(`INSERT INTO migrations (timestamp, name) VALUES (9999999999999, 'FromTheFuture')`);
    await stores.close();

    const start = new Child([FORGEHAND, 'start', '--config', other], place.env, place.dir);
    const refused =
      /made by a newer version \(FromTheFuture is not known to .*\): start that version, or restore a backup/;

    expect(await start.ended).toMatchObject({ code: 3 });
    expect(start.stdout + start.stderr).toMatch(refused);
    for (const command of [['status'], ['runs'], ['backup', 'fourth.backup']])
      expect(await run(...command, '--config', other)).toMatchObject({
        code: 3,
        stderr: expect.stringMatching(refused),
      });
  });
});
