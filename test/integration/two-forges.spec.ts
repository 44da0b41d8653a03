import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RunReport, StatusReport } from '../../src/api/operations/answers.js';
import type { ArrivalSummary } from '../../src/pipeline/inbox-store.port.js';
import { sampleBody } from '../builders/sample-bodies.js';
import { until } from '../services/until.js';
import { aBot, type TestBot } from './support/a-bot.js';
import { aForge, type TestForge } from './support/a-forge.js';

/** Both organizations have a repository of one name and, since both forges are new, of one number. */
const REPO = 'app';

const rules = (org: string): string => `version: 1
org: ${org}
rules:
  - { id: greet, on: repository.created, do: { label.ensure: { name: "of-${org}", color: "#00aabb" } } }
`;

const orgConfig = (org: string, forge: string) => ({
  name: org,
  forge,
  hooks: [{ id: org, secret: { env: `${org.toUpperCase()}_HOOK` } }],
  rules: { path: `rules/${org}` },
  feed: { every_s: 0.2 },
  tasks: { calls_per_poll: 0 },
});

const SECRETS = { ACME_HOOK: 'the secret of acme', BUTLER_HOOK: 'the secret of butler' };

const POSTED_ID = 'd';

describe('integration/two-forges', () => {
  let gitea: TestForge;
  let forgejo: TestForge;
  let bot: TestBot;

  beforeAll(async () => {
    [gitea, forgejo] = await Promise.all([
      aForge({ org: 'acme', profile: 'gitea', botLogin: 'bot-g' }),
      aForge({ org: 'butler', profile: 'forgejo', botLogin: 'bot-f' }),
    ]);
    bot = await aBot({
      config: {
        forges: [
          { id: 'one', base_url: gitea.apiUrl, auth: { type: 'token', token: { env: 'TOKEN_ONE' } }, rate_per_s: 200 },
          {
            id: 'two',
            base_url: forgejo.apiUrl,
            auth: { type: 'token', token: { env: 'TOKEN_TWO' } },
            rate_per_s: 200,
          },
        ],
        orgs: [orgConfig('acme', 'one'), orgConfig('butler', 'two')],
        store: { url: 'embedded:./data' },
        server: { host: '127.0.0.1', port: 0 },
      },
      files: { 'rules/acme/r.yaml': rules('acme'), 'rules/butler/r.yaml': rules('butler') },
      env: { ...SECRETS, TOKEN_ONE: gitea.botToken, TOKEN_TWO: forgejo.botToken },
    });
    await gitea.hook(`${bot.url}/webhooks/acme`, SECRETS.ACME_HOOK);
    await forgejo.hook(`${bot.url}/webhooks/butler`, SECRETS.BUTLER_HOOK);
  });

  afterAll(async () => {
    await bot?.close();
    await Promise.all([gitea?.close(), forgejo?.close()]);
  });

  const labels = async (forge: TestForge): Promise<string[]> =>
    (await forge.get<Array<{ name: string }>>(`/repos/${forge.org}/${REPO}/labels`)).map(({ name }) => name);
  const arrivals = (): Promise<ArrivalSummary[]> => bot.reach.rows<ArrivalSummary>('/v1/deliveries', { limit: 100 });
  /** Of those that `post` sends: rows of the feed come when they come. */
  const posted = async (): Promise<number> =>
    (await arrivals()).filter(({ deliveryId }) => deliveryId === POSTED_ID).length;

  async function post(hook: string, org: string, secret: string, event = 'push'): Promise<number> {
    const forge = org.toLowerCase() === forgejo.org ? forgejo : gitea;
    const { id } = await forge.get<{ id: number }>(`/orgs/${forge.org}`);
    const body = JSON.stringify({
      ...sampleBody(event),
      repository: {
        id: 1,
        name: REPO,
        full_name: `${org}/${REPO}`,
        owner: { id: org.toLowerCase() === hook ? id : id + 1_000, login: org },
      },
    });
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    const headers = {
      'content-type': 'application/json',
      'x-gitea-event': event,
      'x-gitea-event-type': event,
      'x-gitea-delivery': POSTED_ID,
      'x-gitea-signature': signature,
    };
    return (await fetch(`${bot.url}/webhooks/${hook}`, { method: 'POST', headers, body })).status;
  }

  it('acts on each forge by the rules of its own organization', async () => {
    await Promise.all([
      gitea.act('repository.create', { repo: `acme/${REPO}` }),
      forgejo.act('repository.create', { repo: `butler/${REPO}` }),
    ]);

    await until(async () => (await labels(gitea)).length > 0 && (await labels(forgejo)).length > 0);
    await until(async () => {
      const { intents, backlog } = await bot.reach.get<StatusReport>('/v1/status');
      return backlog.arrivals + backlog.events + intents.planned + intents.claimed + intents.sent === 0;
    });

    expect([await labels(gitea), await labels(forgejo)]).toEqual([['of-acme'], ['of-butler']]);
  });

  it('knows the two accounts, and tells each arrival by its organization', async () => {
    const { forges } = await bot.reach.get<StatusReport>('/v1/status');
    const byOrg = new Map((await arrivals()).map(({ org, hook }) => [org, hook]));

    expect(forges.map(({ id, product, self }) => [id, product, self])).toEqual([
      ['one', 'gitea', 'bot-g'],
      ['two', 'forgejo', 'bot-f'],
    ]);
    expect([...byOrg.keys()].sort()).toEqual(['acme', 'butler']);
  });

  it.each([
    [
      "another organization's body, signed with the hook's own secret, to be quarantined",
      202,
      'acme',
      'butler',
      SECRETS.ACME_HOOK,
    ],
    ["another organization's body, signed with that one's secret", 401, 'acme', 'butler', SECRETS.BUTLER_HOOK],
    ["the hook's own body, signed with the other's secret", 401, 'acme', 'acme', SECRETS.BUTLER_HOOK],
    ["the hook's own body, in other letters", 202, 'butler', 'BUTLER', SECRETS.BUTLER_HOOK],
  ])('%s => %i', async (_what, status, hook, org, secret) => {
    const before = await posted();

    expect(await post(hook, org, secret)).toBe(status);

    expect((await posted()) - before).toBe(status === 202 ? 1 : 0);
  });

  it("quarantines what names another organization than the hook's, with a code", async () => {
    const quarantined = async (): Promise<ArrivalSummary[]> =>
      (await arrivals()).filter(({ state }) => state === 'quarantined');
    await until(async () => (await quarantined()).length > 0);

    expect(await quarantined()).toMatchObject([
      { org: 'acme', hook: 'acme', code: 'tenant_other_owner', eventKinds: [] },
    ]);
  });

  it('never sends the credentials of one forge, nor anything about its organization, to the other', () => {
    const told = (forge: TestForge): string => forge.tap.seen.map(({ text }) => text).join('\n');

    expect([told(gitea), told(forgejo)].map((text) => text.length > 0)).toEqual([true, true]);
    for (const [own, other] of [
      [gitea, forgejo],
      [forgejo, gitea],
    ] as const) {
      expect(told(own)).toContain(own.botToken);
      for (const foreign of [other.botToken, other.org, ...Object.values(SECRETS)])
        expect(told(own)).not.toContain(foreign);
    }
  });
});

describe('integration/two-forges: one name on both', () => {
  const HOOKS = { one: 'the secret of the first acme', two: 'the secret of the other acme' };
  const forges = new Map<string, TestForge>();
  let bot: TestBot;

  const acme = (forge: string) => ({
    ...orgConfig('acme', forge),
    hooks: [{ id: `acme-${forge}`, secret: { env: `HOOK_${forge.toUpperCase()}` } }],
    rules: { path: `rules/${forge}` },
  });
  const forgeOf = (id: string): TestForge => {
    const forge = forges.get(id);
    if (!forge) throw new Error(`no forge ${id}`);
    return forge;
  };
  const labels = async (id: string): Promise<string[]> =>
    (await forgeOf(id).get<Array<{ name: string }>>(`/repos/acme/${REPO}/labels`)).map(({ name }) => name);

  beforeAll(async () => {
    for (const [id, profile] of [
      ['one', 'gitea'],
      ['two', 'forgejo'],
    ] as const)
      forges.set(id, await aForge({ org: 'acme', profile }));
    bot = await aBot({
      config: {
        forges: ['one', 'two'].map((id) => ({
          id,
          base_url: forgeOf(id).apiUrl,
          auth: { type: 'token', token: { env: `TOKEN_${id.toUpperCase()}` } },
          rate_per_s: 200,
        })),
        orgs: [acme('one'), acme('two')],
        store: { url: 'embedded:./data' },
        server: { host: '127.0.0.1', port: 0 },
      },
      files: Object.fromEntries(
        ['one', 'two'].map((id) => [`rules/${id}/r.yaml`, rules('acme').replace('of-acme', `of-${id}`)]),
      ),
      env: {
        HOOK_ONE: HOOKS.one,
        HOOK_TWO: HOOKS.two,
        TOKEN_ONE: forgeOf('one').botToken,
        TOKEN_TWO: forgeOf('two').botToken,
      },
    });
    for (const id of ['one', 'two'] as const) await forgeOf(id).hook(`${bot.url}/webhooks/acme-${id}`, HOOKS[id]);
    for (const forge of forges.values()) await forge.act('repository.create', { repo: `acme/${REPO}` });
    await until(async () => (await labels('one')).length > 0 && (await labels('two')).length > 0);
  });

  afterAll(async () => {
    await bot?.close();
    for (const forge of forges.values()) await forge.close();
  });

  it('each acts by its own rules, and its arrivals and runs are its own', async () => {
    expect([await labels('one'), await labels('two')]).toEqual([['of-one'], ['of-two']]);
    for (const id of ['one', 'two']) {
      const org = `${id}/acme`;
      const arrivals = await bot.reach.rows<ArrivalSummary>('/v1/deliveries', { org, limit: 100 });
      expect(new Set(arrivals.map((one) => one.org))).toEqual(new Set([org]));
      expect(new Set(arrivals.flatMap(({ hook }) => hook ?? []))).toEqual(new Set([`acme-${id}`]));
      const runs = await bot.reach.rows<RunReport>('/v1/runs', { org, limit: 100 });
      expect(new Set(runs.map(({ run }) => [run.org, run.forge].join(' ')))).toEqual(new Set([`${org} ${id}`]));
    }
  });

  it('is shown with its forge, and the name alone is refused with both', async () => {
    const { rows } = await bot.reach.get<StatusReport>('/v1/status');
    expect(rows.map(({ name, forge }) => [name, forge]).sort()).toEqual([
      ['one/acme', 'one'],
      ['two/acme', 'two'],
    ]);
    await expect(bot.reach.get('/v1/status', { org: 'acme' })).rejects.toMatchObject({
      code: 'AMBIGUOUS_ORG',
      message: 'several organizations are called acme: say which of one/acme, two/acme',
    });
    await expect(bot.reach.get('/v1/status', { org: 'One/ACME' })).resolves.toMatchObject({
      rows: [{ name: 'one/acme' }],
    });
  });

  it('a pause of one holds nothing of the other', async () => {
    await bot.reach.post('/v1/pause', { org: 'two/acme', reason: 'the other one' });
    expect((await bot.reach.get<StatusReport>('/v1/status')).paused).toMatchObject([{ org: 'two/acme' }]);
    await forgeOf('two').act('repository.create', { repo: 'acme/lib' });
    await forgeOf('one').act('repository.create', { repo: 'acme/lib' });
    const libOf = async (id: string): Promise<string[]> =>
      (await forgeOf(id).get<Array<{ name: string }>>('/repos/acme/lib/labels')).map(({ name }) => name);
    await until(async () => (await libOf('one')).includes('of-one'));
    await until(async () => (await bot.reach.get<StatusReport>('/v1/status')).intents.planned > 0);
    expect(await libOf('two')).toEqual([]);
    await bot.reach.post('/v1/resume', { org: 'two/acme' });
    await until(async () => (await libOf('two')).includes('of-two'));
  });

  it('a delivery of one is nothing to the hook of the other', async () => {
    const { id } = await forgeOf('two').get<{ id: number }>('/orgs/acme');
    const body = JSON.stringify({
      ...sampleBody('push'),
      repository: { id: 1, name: REPO, full_name: `acme/${REPO}`, owner: { id: id + 1_000, login: 'acme' } },
    });
    const signature = createHmac('sha256', HOOKS.two).update(body).digest('hex');
    const headers = { 'content-type': 'application/json', 'x-gitea-event': 'push', 'x-gitea-signature': signature };
    const send = async (hook: string): Promise<number> =>
      (await fetch(`${bot.url}/webhooks/${hook}`, { method: 'POST', headers, body })).status;
    expect([await send('acme-one'), await send('acme-two')]).toEqual([401, 202]);
  });
});
