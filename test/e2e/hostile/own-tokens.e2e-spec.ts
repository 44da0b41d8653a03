import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DoctorPage } from '../../../src/api/operations/answers.js';
import type { JsonObject } from '../../../src/core/json.js';
import { until } from '../../services/until.js';
import { aForge, type Forge } from '../support/a-forge.js';
import { aPlace, type Place } from '../support/a-place.js';
import { startBot, type Bot } from '../support/bot.js';
import { requireBuild } from '../support/built.js';
import { forgehand } from '../support/forgehand.js';

/** Each organization, its owner, and the account that works for it alone. */
const ORGS = [
  { org: 'acme', owner: 'olga', account: 'bot-acme' },
  { org: 'other', owner: 'oscar', account: 'bot-other' },
] as const;

const rules = (org: string): string => `version: 1
org: ${org}
rules:
  - id: note
    on: issue.opened
    lookup:
      note: { use: files.read, with: { files: [NOTE.md] } }
    do:
      - label.ensure: { name: "seen-\${{ event.number }}", color: "#00aabb" }
      - org_variable.set: { name: NOTE, value: "\${{ lookups.note[0].content }}" }
`;

/** A real process with two organizations on one forge. Each has an account and a token of its own; nobody may use the token of the other. */
describe('e2e/hostile: own tokens', () => {
  let forge: Forge;
  let apart: Place;
  let shared: Place;
  let bot: Bot;
  const idOf: Record<string, string> = {};

  beforeAll(async () => {
    requireBuild();
    forge = await aForge();
    await forge.control('POST', '/_sandbox/given', { user: 'oscar' });
    await forge.control('POST', '/_sandbox/given', { org: 'other', owner: 'oscar' });
    // The shared account works for both; it belongs to the forge of the config.
    await forge.control('POST', '/_sandbox/accounts', { login: 'bot', org: 'other', team: 'Owners' });
    const env: Record<string, string> = { FORGE_TOKEN: forge.botToken };
    for (const { org, account } of ORGS) {
      await forge.control('POST', '/_sandbox/given', { repo: `${org}/app`, private: true });
      await forge.control('POST', '/_sandbox/given', {
        file: 'NOTE.md',
        repo: `${org}/app`,
        content: `note of ${org}`,
      });
      const { token } = await forge.control('POST', '/_sandbox/accounts', { login: account, org, team: 'Owners' });
      env[`${org.toUpperCase()}_TOKEN`] = String(token);
      env[`${org.toUpperCase()}_HOOK`] = `the secret of the hook of ${org}, which nobody else has`;
      idOf[org] = String((await forge.get<JsonObject>(`/repos/${org}/app`))?.id);
    }
    const place = (hasOwn: boolean): Place =>
      aPlace({
        config: {
          forges: [
            {
              id: 'main',
              base_url: forge.apiUrl,
              auth: { type: 'token', token: { env: 'FORGE_TOKEN' } },
              rate_per_s: 200,
            },
          ],
          orgs: ORGS.map(({ org }) => ({
            name: org,
            forge: 'main',
            hooks: [{ id: org, secret: { env: `${org.toUpperCase()}_HOOK` } }],
            rules: { path: `rules/${org}` },
            feed: { every_s: 0.5 },
            ...(hasOwn ? { auth: { type: 'token', token: { env: `${org.toUpperCase()}_TOKEN` } } } : {}),
          })),
          store: { url: 'embedded:./data' },
          server: { host: '127.0.0.1', port: 0 },
        },
        files: Object.fromEntries(ORGS.map(({ org }) => [`rules/${org}/rules.yaml`, rules(org)])),
        env,
      });
    apart = place(true);
    shared = place(false);
    bot = await startBot(apart);
    for (const { org } of ORGS) {
      const secret = env[`${org.toUpperCase()}_HOOK`] ?? '';
      await forge.control('POST', '/_sandbox/hooks', {
        org,
        url: `${bot.url}/webhooks/${org}`,
        secret,
        events: ['issues'],
      });
    }
  });

  afterAll(async () => {
    await bot?.kill();
    await forge?.close();
    apart?.remove();
    shared?.remove();
  });

  const note = async (org: string): Promise<string | null> =>
    (await forge.get<{ data: string }>(`/orgs/${org}/actions/variables/NOTE`))?.data ?? null;

  /** Who asked about the organization, or about its repository by name or number. */
  function callersAbout(org: string): { caller: string | null; method: string }[] {
    const names = new RegExp(`/(?:orgs|repos)/${org}(?:[/?]|$)|/repositories/${idOf[org]}(?:[/?]|$)`);
    return forge.sandbox.parts.ledger.entries.filter(
      ({ caller, path }) => caller !== forge.sandbox.admin.login && names.test(path),
    );
  }

  /** Organizations for which the doctor reports that their credential reaches others. */
  async function findingsOf(place: Place): Promise<Array<string | null>> {
    const { code, stdout, stderr } = await forgehand(
      place,
      'doctor',
      '--fresh',
      '--config',
      place.configFile,
      '--json',
    );
    if (code !== 0 && code !== 1) throw new Error(`forgehand doctor ended with ${code}: ${stderr}`);
    const { rows: checks } = JSON.parse(stdout) as DoctorPage;
    return checks.filter(({ check }) => check === 'token.shared').map(({ org }) => org);
  }

  it('uses for each organization its own token alone, in lookups, effects, polls and the doctor', async () => {
    for (const { org, owner } of ORGS)
      await forge.act('issue.open', { repo: `${org}/app`, title: `an issue of ${org}` }, owner);
    await until(async () => (await note('acme')) !== null && (await note('other')) !== null);
    expect(await findingsOf(apart)).toEqual([]);

    expect([await note('acme'), await note('other')]).toEqual(['note of acme', 'note of other']);
    for (const { org, account } of ORGS) {
      const calls = callersAbout(org);
      expect([org, [...new Set(calls.map(({ caller }) => caller))]]).toEqual([org, [account]]);
      expect(calls.filter(({ method }) => method !== 'GET').length).toBeGreaterThanOrEqual(2);
    }
  });

  it('is told by the doctor where one token serves both', async () => {
    expect(await findingsOf(shared)).toEqual([null]);
  });
});
