import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { StatusReport } from '../../src/api/operations/answers.js';
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
