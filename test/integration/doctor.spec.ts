import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DeliveryReport, DoctorPage, StatusReport } from '../../src/api/operations/answers.js';
import type { HookReport } from '../../src/housekeeping/doctor/install-hook.js';
import type { JobRun } from '../../src/housekeeping/jobs/job-runner.js';
import { reachBot } from '../../src/cli/reach-bot.js';
import type { ProfileName } from '../../src/sandbox/profiles.js';
import { until } from '../services/until.js';
import { acmeConfig } from './support/acme-config.js';
import { aBot, type TestBot } from './support/a-bot.js';
import { byPath } from './support/by-path.js';
import { aForge, type TestForge } from './support/a-forge.js';

const SECRET = 'the-secret-of-the-hook-5d1f';
const PROXY = 'Bearer asked-for-by-a-proxy-77';
const RULES = `version: 1
org: acme
rules:
  - { id: labels, on: repository.created, do: { label.ensure: { name: bug, color: "#d73a4a" } } }
  - { id: pushes, on: push, do: { milestone.ensure: { title: next } } }
  - { id: talk, on: [issue.labeled, review.approved], do: { milestone.ensure: { title: talk } } }
`;
/** `acme/app` and `olga` exist. */
const NAMES = `version: 1
org: acme
rules:
  - { id: labels, on: repository.created, where: { repo: [app, appp] }, do: { label.ensure: { name: bug, color: "#d73a4a" } } }
  - { id: pushes, on: push, where: { actor: [olga, nobody-at-all] }, do: { milestone.ensure: { title: next } } }
`;
/** What these rules need, and what installing a webhook needs beside it. */
const SCOPES = ['write:issue', 'read:repository', 'read:user', 'write:organization'];

/** What the bot asks all the time. */
const POLLS = ['listOrgFeed', 'listActionTasks', 'listOrgRuns', 'getOrg'];

interface Listed {
  id: number;
  active: boolean;
  branch_filter: string;
  events: string[];
  authorization_header: string;
  config: Record<string, string>;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const foundIn = ({ rows: checks }: DoctorPage): string[] =>
  checks.filter(({ state }) => state === 'warning' || state === 'problem').map(({ check }) => check);

describe.each<[ProfileName]>([['gitea'], ['forgejo']])('integration/doctor on %s', (profile) => {
  let forge: TestForge;
  let bot: TestBot;
  let url: string;
  const config = (at: { apiUrl: string }): object => ({
    ...acmeConfig(at, { org: { feed: { every_s: 1 } }, server: { port: Number(new URL(url).port), public_url: url } }),
    // Audits begin at some minute of each hour: they would ask the forge in the midst of what is counted here.
    housekeeping: { audits: false },
  });
  const account = async (login: string, scopes: string[], team: string): Promise<string> =>
    String(
      (await forge.control('/_sandbox/accounts', { login, org: 'acme', team, token: `${login}s own`, scopes })).token,
    );
  let token: string;
  const aBotWith = (own: string, rules = RULES): Promise<TestBot> => {
    token = own;
    // Embedded, since a test opens the store again with another config.
    return aBot({
      config: config(forge),
      files: { 'rules/r.yaml': rules },
      env: { FORGE_TOKEN: token, HOOK: SECRET },
      store: 'embedded',
    });
  };
  const doctor = (operations = false): Promise<DoctorPage> =>
    bot.reach.get<DoctorPage>('/v1/doctor', { fresh: 'true', operations: String(operations), limit: 1_000 });
  const install = (orders: object = {}): Promise<HookReport> =>
    bot.reach.post<HookReport>('/v1/orgs/acme/hook', orders);
  const lacking = async (): Promise<readonly string[]> =>
    (await bot.reach.get<StatusReport>('/v1/status')).rows[0]?.lacking ?? [];
  const hooks = (): Promise<Listed[]> => forge.get<Listed[]>('/orgs/acme/hooks');
  const writesOfHooks = (): number =>
    forge.sandbox.parts.ledger.entries.filter(({ path, applied }) => path.includes('/hooks') && applied.length > 0)
      .length;

  beforeAll(async () => {
    forge = await aForge({ org: 'acme', profile });
    url = `http://127.0.0.1:${await freePort()}`;
    bot = await aBotWith(await account('helper', SCOPES, 'Owners'));
  });

  afterAll(async () => {
    await bot?.close();
    await forge?.close();
  });

  it('finds that there is no webhook, and says what to type', async () => {
    const report = await doctor();

    expect(foundIn(report)).toEqual(['hook.there']);
    expect(report.rows.find(({ check }) => check === 'hook.there')?.fix[0]).toBe(
      'type: forgehand hook install --org acme',
    );
    expect(report.forges).toMatchObject([
      {
        id: 'main',
        product: profile,
        self: { login: 'helper' },
        isSiteAdmin: false,
        pages: { default: 30, most: 50 },
        scopes: expect.any(Array),
      },
    ]);
    expect(Math.abs(report.forges[0]?.clockAheadMs ?? Infinity)).toBeLessThan(60_000);
  });

  it('makes the webhook once: not on a dry run, and not a second time', async () => {
    const dry = await install({ dryRun: true });
    const none = await hooks();
    const unsent = await lacking();
    const first = await install();
    const second = await install();

    expect([dry.does, dry.written, none]).toEqual(['create', false, []]);
    expect(first).toMatchObject({
      does: 'create',
      written: true,
      notes: [],
      later: expect.arrayContaining(['fork']),
    });
    expect([unsent.some((line) => line.includes('no active hook')), await lacking()]).toEqual([true, []]);
    expect([dry.later, first.later?.includes('repository')]).toEqual([first.later, false]);
    expect(second).toEqual({ org: 'acme', does: 'nothing', hook: first.hook, changes: [], written: false, notes: [] });
    expect(writesOfHooks()).toBe(1);
    expect(JSON.stringify([dry, first])).not.toContain(SECRET);
    expect(await hooks()).toMatchObject([
      { active: true, config: { url: `${url}/webhooks/acme`, content_type: 'json' } },
    ]);
  });

  it('finds nothing wrong once deliveries come', async () => {
    await forge.act('repository.create', { repo: 'acme/app' });
    await until(async () =>
      (await doctor()).rows.some(({ check, state }) => check === 'delivery.arrives' && state === 'ok'),
    );

    const report = await doctor();

    expect(foundIn(report)).toEqual([]);
    expect(report.rows.filter(({ check }) => check.startsWith('hook.')).map(({ state }) => state)).toEqual(
      Array(7).fill('ok'),
    );
  });

  it('is told of a new branch by a delivery too, though no rule asks for it: what polling alone found would be a gap', async () => {
    expect((await hooks())[0]?.events).toEqual(expect.arrayContaining(['create', 'delete']));
    await forge.act('branch.create', { repo: 'acme/app', branch: 'made' });
    await forge.act('branch.delete', { repo: 'acme/app', branch: 'made' });

    const sourcesOf = async (kind: string): Promise<string[]> =>
      (await bot.reach.rows<DeliveryReport>('/v1/deliveries', { limit: 100 }))
        .filter(({ eventKinds }) => eventKinds.some((one) => one === kind))
        .map(({ source }) => source)
        .sort();
    for (const kind of ['branch.created', 'branch.deleted'])
      await until(async () => (await sourcesOf(kind)).join() === 'feed,webhook');
  });

  it('names a mistake in the newest rule files, and that the rules of before stay active', async () => {
    const file = join(bot.dir, 'rules/r.yaml');
    const good = readFileSync(file, 'utf8');
    const broken = async () => (await doctor()).rows.find(({ check }) => check === 'rules.files');
    writeFileSync(file, good.replace('on: push', 'on: pushed'));
    await until(async () => (await broken()) !== undefined);

    expect(await broken()).toMatchObject({
      state: 'problem',
      said: expect.stringMatching(
        /^the rule files have errors, and the rules of before stay active: .*r\.yaml:\d+.*pushed/,
      ),
      fix: [expect.stringContaining('forgehand check')],
    });
    expect(foundIn(await doctor())).toEqual(['rules.files']);
    writeFileSync(file, good);
    await until(async () => (await broken()) === undefined);
  });

  it('finds everything that somebody broke, repairs it, and leaves what is not its affair', async () => {
    const [{ id } = { id: 0 }] = await hooks();
    const basic = Buffer.from(`${forge.sandbox.admin.login}:${forge.sandbox.admin.password}`).toString('base64');
    const broken = {
      active: false,
      branch_filter: 'main',
      events: ['wiki', 'issues_only'],
      authorization_header: PROXY,
      config: { content_type: 'form' },
    };
    const headers = { authorization: `Basic ${basic}`, 'content-type': 'application/json' };
    await fetch(`${forge.sandbox.apiUrl}/orgs/acme/hooks/${id}`, {
      method: 'PATCH',
      headers,
      body: JSON.stringify(broken),
    });

    const before = await doctor();
    const dry = await install({ dryRun: true });
    const [untouched] = await hooks();
    const repaired = await install();
    const after = await doctor();

    expect(foundIn(before)).toEqual(['hook.active', 'hook.content_type', 'hook.events', 'hook.branch_filter']);
    expect([dry.does, untouched?.active]).toEqual(['repair', false]);
    expect(repaired).toMatchObject({ does: 'repair', hook: String(id), written: true, notes: [] });
    expect(repaired.changes.map(({ field }) => field)).toEqual(['active', 'content_type', 'events', 'branch_filter']);
    expect(foundIn(after)).toEqual([]);
    const [hook] = await hooks();
    expect(hook).toMatchObject({
      id,
      active: true,
      branch_filter: '*',
      authorization_header: PROXY,
      config: { url: `${url}/webhooks/acme`, content_type: 'json' },
    });
    expect(hook?.events).toEqual(expect.arrayContaining(['wiki', 'issues', 'push', 'repository', 'issue_label']));
    // Polling finds assignments too: without their delivery each would be a gap. It never finds a fork.
    expect(hook?.events).toContain('issue_assign');
    expect(hook?.events).not.toContain('fork');
    expect(JSON.stringify([before, repaired])).not.toContain(PROXY);
  });

  it('makes a new webhook in the place of the old one, for another secret', async () => {
    const [old] = await hooks();

    const report = await install({ recreate: true });

    const all = await hooks();
    expect(report).toMatchObject({ does: 'replace', hook: String(all[0]?.id), notes: [] });
    expect(all).toHaveLength(1);
    expect(all[0]?.id).not.toBe(old?.id);
    expect([...(all[0]?.events ?? [])].sort()).toEqual([...(old?.events ?? [])].sort());
    expect(all[0]?.authorization_header).toBe(PROXY);
  });

  it('answers from what is known, with its age and without a call', async () => {
    const fresh = await doctor();
    const known = (): Promise<DoctorPage> => bot.reach.get<DoctorPage>('/v1/doctor', { limit: 1_000 });

    const report = await known();
    const seen: string[][] = [];
    for (let n = 0; n < 3; n++) {
      const before = forge.sandbox.parts.ledger.entries.length;
      await known();
      seen.push(forge.sandbox.parts.ledger.entries.slice(before).map(({ operation, path }) => operation ?? path));
    }

    // The bot's own work asks now and then; an answer that asks would ask each time.
    expect(seen.flat().filter((one) => !POLLS.includes(one) && seen.every((asked) => asked.includes(one)))).toEqual([]);
    expect(report.rows.map(({ code }) => code)).toEqual(fresh.rows.map(({ code }) => code));
    const ages = new Map(report.rows.map(({ check, ageS }) => [check, ageS]));
    expect([ages.get('hook.there'), ages.get('token.scopes'), ages.get('org.number'), ages.get('forge.slash')]).toEqual(
      Array(4).fill(expect.any(Number)),
    );
    expect([ages.get('rules.active'), ages.get('delivery.arrives')]).toEqual([null, null]);
  });

  it('asks about every operation without changing anything', async () => {
    const before = forge.sandbox.parts.ledger.entries.length;

    const { forges } = await doctor(true);

    const asked = forge.sandbox.parts.ledger.entries.slice(before);
    expect(asked.filter(({ applied }) => applied.length > 0)).toEqual([]);
    expect(forges[0]?.operations).toMatchObject({
      createMilestone: 'there',
      // Op 5 is a read that needs to write: it is a POST.
      getFiles: profile === 'gitea' ? 'scope' : 'missing',
      getFilesByQuery: profile === 'gitea' ? 'there' : 'missing',
      createRelease: 'scope',
      adminCreateRepo: 'scope',
    });
  });

  it.each<[string, string[], string]>([
    ['hooks.audit', ['listOrgHooks'], 'things looked at'],
    ['token.audit', ['getVersion', 'getApiSettings', 'getSelf', 'getOwnToken', 'listTokens'], 'things looked at'],
  ])('%s asks for what it tells of, and for nothing else', async (job, wanted, told) => {
    const seen: string[][] = [];
    for (let n = 0; n < 3; n++) {
      const before = forge.sandbox.parts.ledger.entries.length;
      const { runs } = await bot.reach.post<{ runs: JobRun[] }>(`/v1/housekeeping/${job}/run`, {});
      expect(runs).toMatchObject([{ error: null, outcome: { summary: expect.stringContaining(told) } }]);
      seen.push(forge.sandbox.parts.ledger.entries.slice(before).map(({ operation, path }) => operation ?? path));
    }

    // Polls ask meanwhile: some things each time, others now and then. An audit would ask each time.
    const isOfPolls = (operation: string): boolean =>
      ['listOrgFeed', 'listActionTasks', 'listOrgRuns'].includes(operation) ||
      !seen.every((one) => one.includes(operation));
    for (const asked of seen) {
      expect(asked.filter((operation) => !wanted.includes(operation) && !isOfPolls(operation))).toEqual([]);
      expect(asked).toContain(wanted.at(-1));
    }
  });

  it('holds back rules that the token may not, and says why', async () => {
    await bot.close();
    bot = await aBotWith(await account('narrow', ['read:repository', 'read:user', 'read:organization'], 'Owners'));

    const report = await doctor();

    expect(foundIn(report)).toEqual(expect.arrayContaining(['token.scopes', 'rule.held']));
    expect(report.rows.filter(({ check }) => check === 'rule.held').map(({ said }) => said)).toEqual([
      expect.stringMatching(
        /^labels is held back: .*r\.yaml:4:\d+: labels needs .*createLabel.* for label\.ensure, for which the token lacks write:issue$/,
      ),
      expect.stringMatching(/^pushes is held back: /),
      expect.stringMatching(/^talk is held back: /),
    ]);
  });

  it('warns about names that the forge does not have', async () => {
    await bot.close();
    bot = await aBotWith(await account('reader', SCOPES, 'Owners'), NAMES);

    const { rows: checks } = await doctor();

    const named = checks.filter(({ check }) => check === 'rule.names');
    expect(named.map(({ code, said, fix }) => [code, said.replace(/^.*(?=r\.yaml)/, ''), fix])).toEqual([
      ['rule.names.unknown', 'r.yaml:4:64: the bot sees no repository "appp" at the forge', ['did you mean "app"?']],
      [
        'rule.names.unknown',
        'r.yaml:5:52: the bot sees no user "nobody-at-all" at the forge',
        ['create the user, or name another in the rules'],
      ],
    ]);
  });

  it('holds back nothing of an account that may write, and says that owners alone see webhooks', async () => {
    await bot.close();
    bot = await aBotWith(await account('writer', SCOPES, 'writers'));

    const report = await doctor();

    expect(foundIn(report)).not.toContain('rule.held');
    expect(report.rows.find(({ check }) => check === 'hook.there')).toMatchObject({
      state: 'note',
      said: 'the webhooks of acme are shown to its owners alone',
    });
    await expect(install()).rejects.toThrow(/owners' affair/);
  });

  it('says once what to write in a proxy that keeps names with a slash from the forge, until they reach it', async () => {
    const ofSlashes = ({ rows }: DoctorPage): unknown[] =>
      rows.filter(({ check }) => check === 'forge.slash').map(({ code, fix }) => [code, ...fix]);
    const lost = [['forge.slash.lost', expect.stringMatching(/Apache/), expect.stringMatching(/nginx/)]];
    const passed = [['forge.slash.passed']];
    expect(ofSlashes(await doctor())).toEqual(passed);
    forge.tap.answer = ({ path }) =>
      /%2f/i.test(path) ? { status: 404, type: 'text/html', body: '<html><h1>Not Found</h1></html>' } : null;
    // What was seen of a forge within the last seconds is not asked again.
    let seen = passed as unknown[];
    const changes = async (): Promise<boolean> => {
      const before = seen;
      seen = ofSlashes(await doctor());
      return !isDeepStrictEqual(before, seen);
    };

    await until(changes);
    expect(seen).toEqual(lost);
    expect(ofSlashes(await bot.reach.get<DoctorPage>('/v1/doctor', { limit: 1_000 }))).toEqual(lost);
    forge.tap.answer = () => null;
    await until(changes);
    expect(seen).toEqual(passed);
  });

  it('tells, without a bot, what was learned while the forge is away', async () => {
    await bot.stop();
    bot.write('away.yaml', JSON.stringify(config({ apiUrl: 'http://127.0.0.1:9/api/v1' })));
    const before = { FORGE_TOKEN: process.env.FORGE_TOKEN, HOOK: process.env.HOOK };
    Object.assign(process.env, { FORGE_TOKEN: token, HOOK: SECRET });
    const alone = byPath(await reachBot(join(bot.dir, 'away.yaml')));

    const report = await alone.get<DoctorPage>('/v1/doctor', { operations: 'false' });

    await alone.close();
    for (const [name, value] of Object.entries(before)) if (value === undefined) delete process.env[name];
    expect(alone.running).toBe(false);
    expect(foundIn(report)).toContain('forge.reached');
    expect(report.forges).toMatchObject([
      { product: profile, self: { login: 'writer' }, operations: { createMilestone: 'there' } },
    ]);
  });
});
