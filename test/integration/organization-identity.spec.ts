import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RunReport, StatusReport } from '../../src/api/operations/answers.js';
import type { JsonObject } from '../../src/core/json.js';
import type { DoctorPage } from '../../src/api/operations/answers.js';
import type { ReloadReport } from '../../src/housekeeping/reload/reload-report.js';
import type { ArrivalSummary } from '../../src/pipeline/inbox-store.port.js';
import { userNamed } from '../../src/sandbox/control/read.js';
import { makeOrganization } from '../../src/sandbox/resources/organization.js';
import { makeRepository } from '../../src/sandbox/resources/repository.js';
import { renameOwner } from '../../src/sandbox/resources/user.js';
import { createTestDatabase, describeOnPostgres, type TestDatabase } from '../services/test-stores.js';
import { freshRedisUrl, REDIS_URL } from '../services/test-redis.js';
import { until } from '../services/until.js';
import { aBot, type TestBot } from './support/a-bot.js';
import { acmeConfig } from './support/acme-config.js';
import { aForge, type TestForge } from './support/a-forge.js';

const SECRET = 'the hook secret of acme, long enough';
const RULES = (org: string): string => `version: 1
org: ${org}
rules:
  - { id: welcome, on: repository.created, do: { label.ensure: { name: ours, color: "#d73a4a" } } }
policies:
  - id: base
    schedule: { cron: "0 0 1 1 *" }
    subjects: { repos: ["*"] }
    labels: [{ name: everywhere, color: "#112233" }]
`;

interface Stage {
  readonly forge: TestForge;
  readonly database: TestDatabase | null;
  readonly bot: TestBot;
  close(): Promise<void>;
}

async function aStage(kind: 'embedded' | 'postgres'): Promise<Stage> {
  const forge = await aForge({ org: 'acme' });
  await forge.control('/_sandbox/given', { user: 'eve' });
  const database = kind === 'postgres' ? await createTestDatabase() : null;
  const bot = await start(forge, database, 'acme');
  await forge.hook(`${bot.url}/webhooks/acme`, SECRET);
  await forge.act('repository.create', { repo: 'acme/app' });
  await until(async () => (await labelsOf(forge, 'acme/app')).includes('ours'));
  return {
    forge,
    database,
    bot,
    close: async () => {
      await bot.close();
      await forge.close();
      await database?.drop();
    },
  };
}

async function start(forge: TestForge, database: TestDatabase | null, org: string): Promise<TestBot> {
  const config = acmeConfig(forge, { org: { name: org } }) as JsonObject;
  return aBot({
    config: database
      ? {
          ...config,
          store: { url: { env: 'DATABASE_URL' } },
          queue: { url: { env: 'REDIS_URL' }, sweep_s: 0.5 },
          keys: { data: { env: 'DATA_KEY' } },
        }
      : config,
    files: { 'rules/r.yaml': RULES(org) },
    env: {
      FORGE_TOKEN: forge.botToken,
      HOOK: SECRET,
      ...(database ? { DATABASE_URL: database.url, REDIS_URL: await freshRedisUrl(), DATA_KEY: 'd'.repeat(64) } : {}),
    },
  });
}

async function labelsOf(forge: TestForge, repository: string): Promise<string[]> {
  return (await forge.get<Array<{ name: string }>>(`/repos/${repository}/labels`)).map(({ name }) => name);
}

/** Somebody else registers the name, and adds the bot to the owners. */
async function takeName({ sandbox, control }: TestForge): Promise<string> {
  const { world } = sandbox.parts;
  const eve = userNamed(sandbox.parts, 'eve');
  const taken = makeOrganization(world, { name: 'acme', owner: eve });
  await control('/_sandbox/accounts', { login: 'bot', org: 'acme', team: 'Owners' });
  makeRepository(world, eve, { owner: taken, name: 'app' });
  return String(taken.id);
}

function alertsOf({ alerts }: StatusReport): string[] {
  return alerts.map(({ code }) => code);
}

const STORES = [
  ['embedded', describe],
  ['postgres', REDIS_URL ? describeOnPostgres : describe.skip],
] as const;

for (const [kind, describeIt] of STORES) {
  describeIt(`integration/organization-identity: another organization takes the name (${kind})`, () => {
    let stage: Stage;
    let number: string;
    let taken: string;
    /** Requests of the bot from then on. */
    let from: number;
    /** What the bot decided for the first one. */
    let runsBefore: string[];

    beforeAll(async () => {
      stage = await aStage(kind);
      const { forge, bot } = stage;
      const { world } = forge.sandbox.parts;
      const acme = world.orgByName('acme');
      if (!acme) throw new Error('no acme');
      number = String(acme.id);
      runsBefore = (await bot.reach.rows<RunReport>('/v1/runs', { org: 'acme', limit: 50 })).map(({ run }) => run.id);
      expect(runsBefore).not.toEqual([]);
      renameOwner(world, acme, 'acme-old');
      // What was looked at within the last ten seconds still counts for writes.
      await until(async () => alertsOf(await bot.reach.get('/v1/status')).includes('org.renamed'));
      from = forge.botCalls().length;
      taken = await takeName(forge);
      await until(async () => alertsOf(await bot.reach.get('/v1/status')).includes('org.other-number'));
    });
    afterAll(() => stage?.close());

    it('reads and changes nothing of it beyond asking whose the name is', async () => {
      const { forge, bot } = stage;
      await bot.reach.post('/v1/plans', { org: 'acme', policy: 'base' }).catch(() => undefined);
      const calls = forge
        .botCalls()
        .slice(from)
        .map(({ path }) => path.split('?')[0]);
      expect(calls.filter((path) => path?.startsWith('/api/v1/repos/acme/'))).toEqual([]);
      expect(await labelsOf(forge, 'acme/app')).toEqual([]);
      const changed = forge
        .botCalls()
        .slice(from)
        .filter(({ applied }) => applied.length > 0);
      expect(changed).toEqual([]);
    });

    it('says so in the alert and in doctor, with the name that the organization has now and what to do', async () => {
      const { bot } = stage;
      const { alerts } = await bot.reach.get<StatusReport>('/v1/status');
      expect(alerts.find(({ code }) => code === 'org.other-number')?.message).toMatch(
        new RegExp(
          `^acme is another organization now \\(number ${taken}, not ${number}\\).*forgehand orgs accept acme --number ${taken}.*called acme-old now`,
        ),
      );
      const { rows: checks } = await bot.reach.get<DoctorPage>('/v1/doctor', { org: 'acme' });
      expect(checks.find(({ check }) => check === 'org.number')).toMatchObject({
        code: 'org.number.other',
        state: 'problem',
        fix: [
          expect.stringContaining('orgs[].name: acme-old'),
          expect.stringContaining(`forgehand orgs accept acme --number ${taken}`),
        ],
      });
    });

    it('refuses a signed delivery of the other organization by itself', async () => {
      const { bot, forge } = stage;
      const owner = { id: Number(taken), login: 'acme', username: 'acme' };
      const repository = { id: 999_001, name: 'app', full_name: 'acme/app', owner };
      const body = { action: 'created', repository, organization: owner, sender: { id: 1, login: 'eve' } };
      await deliver(bot, 'repository', body);
      await until(() => bot.log().includes('tenant_other_number'));
      expect(await labelsOf(forge, 'acme/app')).toEqual([]);
    });

    it('refuses to accept yet another one, and says which number the name has now', async () => {
      const { bot, forge } = stage;
      const { world } = forge.sandbox.parts;
      const eves = world.orgByName('acme');
      if (!eves) throw new Error('no acme');
      renameOwner(world, eves, 'eves');
      const third = makeOrganization(world, { name: 'acme', owner: userNamed(forge.sandbox.parts, 'eve') });
      await forge.control('/_sandbox/accounts', { login: 'bot', org: 'acme', team: 'Owners' });
      await expect(bot.reach.post('/v1/orgs/acme/accept')).rejects.toMatchObject({
        code: 'OTHER_NUMBER',
        message: expect.stringMatching(
          new RegExp(
            `number ${third.id} now, and it was number ${taken} when .* orgs accept acme --number ${third.id}$`,
          ),
        ),
      });
      await expect(bot.reach.post('/v1/orgs/acme/accept', { number: taken })).rejects.toMatchObject({
        code: 'OTHER_NUMBER',
      });
      renameOwner(world, third, 'third');
      renameOwner(world, eves, 'acme');
    });

    it('works for it when the owner of the host accepts it, and keeps that as an act', async () => {
      const { bot, forge } = stage;
      await expect(bot.reach.post('/v1/orgs/ACME/accept')).resolves.toEqual({
        org: 'acme',
        number: taken,
        before: number,
      });
      await expect(bot.reach.post('/v1/orgs/acme/accept')).rejects.toMatchObject({ code: 'NOTHING_TO_ACCEPT' });
      await forge.control('/_sandbox/act', { as: 'eve', act: 'repository.create', repo: 'acme/lib' });
      await until(async () => (await labelsOf(forge, 'acme/lib')).includes('ours'));
      expect(alertsOf(await bot.reach.get('/v1/status'))).not.toContain('org.other-number');
      // Nothing that was kept of the other one is shown as its own.
      const runs = await bot.reach.rows<RunReport>('/v1/runs', { org: 'acme', limit: 50 });
      expect(new Set(runs.map(({ run }) => run.org))).toEqual(new Set(['acme']));
      expect(runs.filter(({ run }) => runsBefore.includes(run.id))).toEqual([]);
      const all = await bot.reach.rows<RunReport>('/v1/runs', { limit: 50 });
      expect(all.filter(({ run }) => run.org === 'acme (before)').map(({ run }) => run.id)).toEqual(
        expect.arrayContaining(runsBefore),
      );
      const acts = await bot.reach.rows<{ operation: string; outcome: string }>('/v1/acts');
      expect(acts).toEqual(expect.arrayContaining([expect.objectContaining({ operation: 'acceptOrg' })]));
    });
  });
}

async function deliver(bot: TestBot, type: string, body: JsonObject): Promise<void> {
  const text = JSON.stringify(body);
  const signature = createHmac('sha256', SECRET).update(text).digest('hex');
  const answer = await fetch(`${bot.url}/webhooks/acme`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gitea-event': type,
      'x-gitea-event-type': type,
      'x-gitea-delivery': crypto.randomUUID(),
      'x-gitea-signature': signature,
    },
    body: text,
  });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
}

describe('integration/organization-identity: the organization is renamed', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await aStage('embedded');
    const { world } = stage.forge.sandbox.parts;
    const acme = world.orgByName('acme');
    if (!acme) throw new Error('no acme');
    renameOwner(world, acme, 'newname');
    // A delivery under the new name, and whatever polling finds.
    await stage.forge.act('issue.open', { repo: 'newname/app', title: 'after' });
    await until(async () => alertsOf(await stage.bot.reach.get('/v1/status')).includes('org.renamed'));
  });
  afterAll(() => stage?.close());

  it('the alert and doctor say what it is called now, and nobody is suspected', async () => {
    const { bot } = stage;
    await until(async () => {
      const arrivals = await bot.reach.rows<ArrivalSummary>('/v1/deliveries', { limit: 20 });
      return arrivals.some(({ code }) => code === 'tenant_renamed');
    });
    const status = await bot.reach.get<StatusReport>('/v1/status');
    expect(status.alerts.find(({ code }) => code === 'org.renamed')?.message).toBe(
      'acme is called newname now: correct orgs[].name in the config',
    );
    expect(alertsOf(status)).not.toContain('security.tenant_mismatch');
    expect(alertsOf(status)).not.toContain('poller.failing');
    const { rows: checks } = await bot.reach.get<DoctorPage>('/v1/doctor', { org: 'acme' });
    expect(checks.find(({ check }) => check === 'org.number')).toMatchObject({
      code: 'org.number.renamed',
      said: 'acme is called newname now: correct orgs[].name',
    });
  });

  it('goes on with all that is kept of it once the config has the new name, and the name means nobody then', async () => {
    const { bot, forge } = stage;
    await bot.reach.post('/v1/pause', { org: 'acme', rule: 'welcome', reason: 'before' });
    bot.write('forgehand.yaml', JSON.stringify(renamed(bot)));
    bot.write('rules/r.yaml', RULES('newname'));
    const { here } = await bot.reach.post<ReloadReport>('/v1/config/reload');
    expect(here).toMatchObject({ added: [], removed: [], changed: ['newname'] });
    await until(async () => !alertsOf(await bot.reach.get('/v1/status')).includes('org.renamed'));

    // A pause and the history go on; people see the name of now.
    const { rows, paused } = await bot.reach.get<StatusReport>('/v1/status');
    expect(rows.map(({ name }) => name)).toEqual(['newname']);
    expect(paused).toMatchObject([{ org: 'newname', rule: 'welcome' }]);
    const runs = await bot.reach.rows<RunReport>('/v1/runs', { org: 'newname', limit: 50 });
    expect(runs.map(({ about }) => about.repo)).toContain('acme/app');
    await expect(bot.reach.rows('/v1/runs', { org: 'acme' })).rejects.toMatchObject({ code: 'NO_SUCH_ORG' });

    await bot.reach.post('/v1/resume', { org: 'newname', rule: 'welcome' });
    await forge.act('repository.create', { repo: 'newname/lib' });
    await until(async () => (await labelsOf(forge, 'newname/lib')).includes('ours'));

    // Somebody registers the old name: nothing of it is read or changed.
    const from = forge.botCalls().length;
    await takeName(forge);
    await until(async () => forge.botCalls().length > from + 2);
    expect(await labelsOf(forge, 'acme/app')).toEqual([]);
    expect(
      forge
        .botCalls()
        .slice(from)
        .filter(({ path }) => /\/(?:orgs|repos)\/acme[/?]/.test(path)),
    ).toEqual([]);
  });
});

/** The config of the bot, with the organization under its new name. */
function renamed({ configFile }: TestBot): JsonObject {
  const config = JSON.parse(readFileSync(configFile, 'utf8')) as { orgs: Array<Record<string, unknown>> };
  return { ...config, orgs: config.orgs.map((org) => ({ ...org, name: 'newname' })) } as unknown as JsonObject;
}
