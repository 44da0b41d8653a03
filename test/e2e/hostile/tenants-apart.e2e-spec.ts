import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ArrivalSummary } from '../../../src/pipeline/inbox-store.port.js';
import type { JsonObject } from '../../../src/core/json.js';
import { sampleBody } from '../../builders/sample-bodies.js';
import { until } from '../../services/until.js';
import { aForge, type Forge } from '../support/a-forge.js';
import { aPlace, type Place } from '../support/a-place.js';
import { startBot, type Bot } from '../support/bot.js';
import { requireBuild } from '../support/built.js';
import { askJson, untilRows } from '../support/forgehand.js';
import { readMetrics, sumOf } from '../support/metrics.js';

const ACME_SECRET = 'the secret of the hook of acme, which the attacker has not';
const OTHER_SECRET = 'the secret of the hook of other, which its owner has';

/** What the owner of `other` would like to happen to a repository that is not theirs. */
const RULES = `version: 1
org: other
rules:
  - id: steal
    on: [workflow.finished, package.created, push, issue.opened, release.published]
    lookup:
      secret: { use: files.read, with: { files: [SECRET.md] } }
    do:
      org_variable.set: { name: STOLEN, value: "\${{ lookups.secret[0].content }}" }
  - id: paint
    on: [workflow.finished, package.created, push, issue.opened, release.published]
    do:
      label.ensure: { name: "owned-\${{ event.kind }}", color: "#ff0000" }
`;

/** A real process with two organizations and one bot account; the owner of one posts bodies that name a private repository of the other. */
describe('e2e/hostile: tenants apart', () => {
  let forge: Forge;
  let place: Place;
  let bot: Bot;
  let vault: JsonObject;
  let ours: JsonObject;

  beforeAll(async () => {
    requireBuild();
    forge = await aForge();
    await forge.control('POST', '/_sandbox/given', { user: 'oscar' });
    await forge.control('POST', '/_sandbox/given', { org: 'other', owner: 'oscar' });
    await forge.control('POST', '/_sandbox/accounts', { login: 'bot', org: 'other', team: 'Owners' });
    await forge.control('POST', '/_sandbox/given', { repo: 'acme/vault', private: true });
    await forge.control('POST', '/_sandbox/given', { repo: 'other/app' });
    await forge.control('POST', '/_sandbox/given', {
      file: 'SECRET.md',
      repo: 'acme/vault',
      content: 'canary-of-the-vault',
    });
    await forge.control('POST', '/_sandbox/given', {
      file: 'SECRET.md',
      repo: 'other/app',
      content: 'text-of-the-attacker',
    });
    vault = (await forge.get<JsonObject>('/repos/acme/vault')) ?? {};
    ours = (await forge.get<JsonObject>('/repos/other/app')) ?? {};
    const org = (name: string) => ({
      name,
      forge: 'main',
      hooks: [{ id: name, secret: { env: `${name.toUpperCase()}_SECRET` } }],
      rules: { path: `rules/${name}` },
      feed: { every_s: 3600 },
      tasks: { calls_per_poll: 0 },
    });
    place = aPlace({
      config: {
        forges: [
          {
            id: 'main',
            base_url: forge.apiUrl,
            auth: { type: 'token', token: { env: 'FORGE_TOKEN' } },
            rate_per_s: 200,
          },
        ],
        orgs: [org('acme'), org('other')],
        store: { url: 'embedded:./data' },
        server: { host: '127.0.0.1', port: 0 },
        metrics: { listen: '127.0.0.1:0' },
      },
      files: { 'rules/acme/rules.yaml': 'version: 1\norg: acme\nrules: []\n', 'rules/other/rules.yaml': RULES },
      env: { FORGE_TOKEN: forge.botToken, ACME_SECRET, OTHER_SECRET },
    });
    bot = await startBot(place);
  });

  afterAll(async () => {
    await bot?.kill();
    await forge?.close();
    place?.remove();
  });

  async function post(eventType: string, body: JsonObject, isForm = false): Promise<number> {
    const text = JSON.stringify(body);
    const headers = {
      'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
      'x-gitea-event': eventType,
      'x-gitea-event-type': eventType,
      'x-gitea-delivery': `${eventType}-${isForm}`,
      'x-gitea-signature': createHmac('sha256', OTHER_SECRET).update(text).digest('hex'),
    };
    const answer = await fetch(`${bot.url}/webhooks/other`, {
      method: 'POST',
      headers,
      body: isForm ? `payload=${encodeURIComponent(text)}` : text,
    });
    return answer.status;
  }

  const deliveries = async (): Promise<ArrivalSummary[]> =>
    (await askJson<{ rows: ArrivalSummary[] }>(place, 'deliveries', '--config', place.configFile, '--limit', '50'))
      .rows;
  const untilDeliveries = (isWanted: (all: ArrivalSummary[]) => boolean): Promise<ArrivalSummary[]> =>
    untilRows<ArrivalSummary>(place, '/v1/deliveries?limit=50', isWanted);
  /** Calls about the repository of the victim; what the bot asks by itself about each organization is none. */
  const vaultCalls = (): string[] =>
    forge.sandbox.parts.ledger.entries
      .filter(({ caller }) => caller === 'bot')
      .filter(
        ({ path }) =>
          /vault|\/orgs\/acme\/(?:labels|actions)/.test(path) ||
          new RegExp(`/repositories/${String(vault.id)}(?:$|[/?])`).test(path),
      )
      .map(({ method, path }) => `${method} ${path}`);
  const mismatches = async (): Promise<number> =>
    sumOf(await readMetrics(bot), 'forgehand_security_events_total', 'class="tenant_mismatch"');
  const stolen = async (): Promise<string | null> =>
    (await forge.get<{ data: string }>('/orgs/other/actions/variables/STOLEN'))?.data ?? null;

  it('quarantines what is signed by another organization and names a repository of the victim, and makes no call for it', async () => {
    // What the start asks about each organization.
    const before = vaultCalls().length;
    const claimed = { ...vault, owner: { name: 'other' } };
    const run = { ...(sampleBody('action_run_success').run as JsonObject), repository: vault };
    const attacks: Array<[string, JsonObject, boolean?]> = [
      // A: a repository of the sender beside the run of the victim.
      ['action_run_success', { ...sampleBody('action_run_success'), run, repository: ours }],
      // B: a package of the sender, linked to a repository of the victim.
      [
        'package',
        {
          ...sampleBody('package'),
          organization: null,
          package: { ...(sampleBody('package').package as JsonObject), owner: ours.owner ?? null, repository: vault },
        },
      ],
      // C: two spellings of one owner.
      ['push', { ...sampleBody('push'), repository: claimed }],
      ['issues', { ...sampleBody('issues'), repository: claimed }, true],
      ['release', { ...sampleBody('release'), repository: vault }],
    ];

    const answers = await Promise.all(attacks.map(([eventType, body, isForm]) => post(eventType, body, isForm)));
    await untilDeliveries((all) => all.every(({ state }) => state !== 'stored'));
    const told = (await deliveries()).filter(({ org, kind }) => org === 'other' && kind === 'delivery');
    // Long enough for an effect, had one been planned: this delivery of the sender comes behind the others and is acted on.
    expect(await post('push', { ...sampleBody('push'), repository: ours })).toBe(202);
    await until(async () => (await stolen()) !== null);

    expect(vaultCalls().slice(before)).toEqual([]);
    expect(await stolen()).toBe('text-of-the-attacker');
    expect(await forge.get<unknown[]>('/repos/acme/vault/labels')).toEqual([]);
    expect(answers).toEqual([202, 202, 202, 202, 202]);
    expect(Object.fromEntries(told.map(({ eventType, state, code }) => [eventType, `${state} ${code}`]))).toEqual({
      action_run_success: 'quarantined tenant_other_owner',
      package: 'quarantined tenant_other_owner',
      push: 'quarantined tenant_contradiction',
      issues: 'quarantined tenant_contradiction',
      release: 'quarantined tenant_other_owner',
    });
    expect(told.flatMap(({ eventKinds }) => eventKinds)).toEqual([]);
  });

  it('records each of them in the security log', async () => {
    const lines = bot.child.stdout.split('\n').filter((line) => line.includes('tenant_mismatch'));

    expect(lines.length).toBeGreaterThanOrEqual(5);
    expect(await mismatches()).toBe(5);
  });

  it('binds a released delivery again, and quarantines it again', async () => {
    const id = (await deliveries()).find(({ eventType, org }) => eventType === 'release' && org === 'other')?.id ?? '';
    const before = vaultCalls().length;
    const known = await mismatches();

    expect(await askJson(place, 'release', id, '--config', place.configFile)).toEqual({ released: true });
    // It was quarantined before: a second record tells that it was bound again.
    await until(async () => (await mismatches()) > known);
    await untilDeliveries((all) => all.find((one) => one.id === id)?.state === 'quarantined');

    expect((await deliveries()).find((one) => one.id === id)).toMatchObject({
      code: 'tenant_other_owner',
      eventKinds: [],
    });
    expect(vaultCalls().slice(before)).toEqual([]);
  });
});
