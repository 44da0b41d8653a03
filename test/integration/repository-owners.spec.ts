import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RunReport } from '../../src/api/operations/answers.js';
import type { JsonObject } from '../../src/core/json.js';
import { userNamed } from '../../src/sandbox/control/read.js';
import { transferRepository } from '../../src/sandbox/resources/repository-edit.js';
import type { Repository } from '../../src/sandbox/world.js';
import { sampleBody } from '../builders/sample-bodies.js';
import { until } from '../services/until.js';
import { aBot, type TestBot } from './support/a-bot.js';
import { aForge, type TestForge } from './support/a-forge.js';
import { deleteRepository } from '../../src/sandbox/resources/repository.js';

const SECRETS = {
  acme: 'the hook secret of acme, long enough',
  other: 'the hook secret of other, long enough',
} as const;
/** Stands in the private repository of acme. */
const CANARY = 'canary-of-acme';

const RULES = `version: 1
org: other
rules:
  - id: steal
    on: [issue.opened]
    lookup: { labels: { use: labels.list } }
    do: { org_variable.set: { name: LOOT, value: "\${{ lookups.labels.map(l, l.name).join(',') }}" } }
  - id: deface
    on: [issue.opened]
    do: { label.ensure: { name: pwned, color: "#d73a4a" } }
  - id: ask
    on: [push]
    do: [{ id: tagged, use: label.ensure, with: { name: approved, color: "#d73a4a" }, approval: owners }]
  - id: told
    on: [repository.deleted]
    do:
      org_variable.set: { name: GONE, value: "\${{ event.repo.name }}" }
  - id: mourn
    on: [repository.deleted]
    do: { label.ensure: { name: gone, color: "#d73a4a" } }
`;

interface Named {
  readonly id: number;
  readonly name: string;
  readonly full_name: string;
  readonly owner: { readonly id: number };
}

// Whole bots with their stores: slow to start on a busy machine, and nothing here depends on how slow.
/** Two organizations on one bot account. `other` has its own hook secret and its own rules, and is after what `acme` has. */
describe('integration/repository-owners', () => {
  let forge: TestForge;
  let bot: TestBot;
  let vault: Named;
  let own: Named;
  let count = 0;

  beforeAll(async () => {
    forge = await aForge({ org: 'acme' });
    for (const given of [{ user: 'eve' }, { org: 'other', owner: 'eve' }])
      await forge.control('/_sandbox/given', given);
    await forge.control('/_sandbox/accounts', { login: forge.botLogin, org: 'other', team: 'Owners' });
    for (const given of [
      { repo: 'acme/vault', private: true, auto_init: true },
      { repo: 'other/app', auto_init: true },
      { label: CANARY, repo: 'acme/vault', color: '#112233' },
      { label: 'own', repo: 'other/app', color: '#112233' },
    ])
      await forge.control('/_sandbox/given', given);
    vault = await forge.get('/repos/acme/vault');
    own = await forge.get('/repos/other/app');
    const org = (name: 'acme' | 'other'): object => ({
      name,
      forge: 'main',
      hooks: [{ id: name, secret: { env: `HOOK_${name}` } }],
      rules: { path: `rules-${name}` },
      feed: { every_s: 3600 },
      tasks: { calls_per_poll: 0 },
      lists: { every_s: 0 },
    });
    bot = await aBot({
      config: {
        forges: [
          {
            id: 'main',
            base_url: forge.apiUrl,
            auth: { type: 'token', token: { env: 'FORGE_TOKEN' } },
            rate_per_s: 500,
          },
        ],
        orgs: [org('acme'), org('other')],
        store: { url: 'embedded:./data' },
        queue: { sweep_s: 0.2 },
        server: { host: '127.0.0.1', port: 0 },
      },
      files: { 'rules-acme/r.yaml': 'version: 1\norg: acme\nrules: []\n', 'rules-other/r.yaml': RULES },
      env: { FORGE_TOKEN: forge.botToken, HOOK_acme: SECRETS.acme, HOOK_other: SECRETS.other },
    });
  });

  afterAll(async () => {
    await bot?.close();
    await forge?.close();
  });

  /** A body of `other`'s making, with a signature that is right. @returns when it was decided */
  async function claims(event: string, repository: JsonObject, over: JsonObject = {}): Promise<void> {
    count += 1;
    const sample = sampleBody(event);
    const issue = { ...(sample['issue'] as JsonObject), number: count, id: 1000 + count };
    const body = JSON.stringify({
      ...sample,
      ...(event === 'issues' ? { number: count, issue } : {}),
      ...over,
      n: count,
      repository,
    });
    const headers = {
      'content-type': 'application/json',
      'x-gitea-event': event,
      'x-gitea-event-type': event,
      'x-gitea-delivery': `d${count}`,
      'x-gitea-signature': createHmac('sha256', SECRETS.other).update(body).digest('hex'),
    };
    const { status } = await fetch(`${bot.url}/webhooks/other`, { method: 'POST', headers, body });
    expect(status).toBe(202);
    await settled();
  }

  const settled = (): Promise<void> =>
    until(async () => {
      const { intents, backlog } = await bot.reach.get<{
        intents: Record<string, number>;
        backlog: { arrivals: number; events: number };
      }>('/v1/status');
      return (
        backlog.arrivals +
          backlog.events +
          (intents['planned'] ?? 0) +
          (intents['claimed'] ?? 0) +
          (intents['sent'] ?? 0) ===
        0
      );
    });
  const newest = async (rule: string): Promise<RunReport | undefined> =>
    (await bot.reach.rows<RunReport>('/v1/runs', { rule, limit: 1 }))[0];
  const labels = async (repo: string): Promise<string[]> =>
    (await forge.get<Array<{ name: string }>>(`/repos/${repo}/labels`)).map(({ name }) => name);
  const variable = async (name: string): Promise<string | undefined> =>
    (await forge.get<{ data?: string }>(`/orgs/other/actions/variables/${name}`)).data;
  const inWorld = ({ id }: Pick<Named, 'id'>): Repository => {
    const found = [...forge.sandbox.parts.world.repos.values()].find((one) => Number(one.id) === id);
    if (!found) throw new Error(`no repository ${id}`);
    return found;
  };
  const ownBody = (over: JsonObject = {}): JsonObject => ({
    id: own.id,
    name: 'app',
    full_name: 'other/app',
    owner: { id: own.owner.id, login: 'other' },
    ...over,
  });

  it('reads and changes its own repository', async () => {
    await claims('issues', ownBody());

    expect(await variable('LOOT')).toContain('own');
    expect(await labels('other/app')).toContain('pwned');
  });

  it.each<[string, (victim: Named) => JsonObject]>([
    [
      "the victim's number under our own name",
      ({ id }) => ({ id, name: 'app', full_name: 'other/app', owner: { id: own.owner.id, login: 'other' } }),
    ],
    [
      "our own number under the victim's name",
      () => ({ id: own.id, name: 'vault', full_name: 'acme/vault', owner: { id: own.owner.id, name: 'other' } }),
    ],
    [
      "the victim's number and name, with our own owner",
      ({ id }) => ({ id, name: 'vault', full_name: 'acme/vault', owner: { id: own.owner.id, name: 'other' } }),
    ],
    [
      "the victim's name alone, in our own organization",
      ({ id }) => ({ id, name: 'vault', full_name: 'other/vault', owner: { id: own.owner.id, login: 'other' } }),
    ],
  ])('gets nothing of another organization by claiming %s', async (_claim, claim) => {
    const before = await labels('acme/vault');

    await claims('issues', claim(vault));

    expect(await variable('LOOT')).not.toContain(CANARY);
    expect(await labels('acme/vault')).toEqual(before);
    expect(JSON.stringify(await bot.reach.get('/v1/runs', { org: 'other', limit: 50 }))).not.toContain(CANARY);
  });

  it("says by a code why a claimed number is refused, and not whose it is; it stands in no order of its owner's", async () => {
    await claims('issues', ownBody({ id: vault.id }));

    const [stolen, defaced] = [await newest('steal'), await newest('deface')];

    expect(stolen?.run).toMatchObject({ state: 'error', reason: expect.stringContaining('repository_elsewhere') });
    expect(defaced?.intents).toMatchObject([{ state: 'refused', result: { code: 'repository_elsewhere' } }]);
    expect(defaced?.intents[0]?.orderKey).not.toBe(`main/repository/${vault.id}`);
    expect(defaced?.intents[0]?.effectKey).not.toContain(`repository ${vault.id} |`);
    expect(JSON.stringify([stolen?.run.reason, defaced?.intents[0]?.reason])).not.toMatch(/acme|vault/);
  });

  it('waits while the forge is down, and is not lost', async () => {
    forge.tap.answer = ({ path }) => (path.includes('/repositories/') ? { status: 503, body: '{}' } : null);
    await forge.control('/_sandbox/given', { repo: 'other/late', auto_init: true });
    const { id } = await forge.get<Named>('/repos/other/late');
    const claimed = claims('issues', ownBody({ id, name: 'late', full_name: 'other/late' }));
    await until(() => forge.tap.seen.some(({ path }) => path.endsWith(`/repositories/${id}`)));
    expect(await labels('other/late')).toEqual([]);

    forge.tap.answer = () => null;
    await claimed;

    expect(await labels('other/late')).toContain('pwned');
  });

  it('refuses a step that waited for consent while its repository went to another owner', async () => {
    await claims('push', ownBody());
    await until(async () => ((await newest('ask'))?.intents ?? []).some(({ state }) => state === 'waiting'));
    const [waiting] = (await newest('ask'))?.intents ?? [];
    const { world, admin } = forge.sandbox.parts;
    transferRepository(world, admin, inWorld(own), userNamed(forge.sandbox.parts, 'olga'));

    await bot.reach.post(`/v1/approvals/${waiting?.id ?? ''}`);
    await settled();

    expect((await newest('ask'))?.intents).toMatchObject([
      { state: 'refused', result: { code: 'repository_elsewhere' } },
    ]);
    expect(await labels('olga/app')).not.toContain('approved');
  });

  it('keeps the event of a repository that is gone: its rules are asked, the organization is reached, the repository is refused', async () => {
    const { id } = await forge.get<Named>('/repos/other/late');
    const { world, admin } = forge.sandbox.parts;
    deleteRepository(world, admin, inWorld({ id }));

    const organization = { id: own.owner.id, login: 'other', username: 'other', name: 'other' };
    await claims('repository', ownBody({ id, name: 'late', full_name: 'other/late' }), {
      action: 'deleted',
      organization,
    });

    expect(await variable('GONE')).toBe('late');
    expect((await newest('mourn'))?.intents).toMatchObject([{ state: 'refused', result: { code: 'repository_gone' } }]);
  });
});
