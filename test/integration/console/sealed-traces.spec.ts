import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RunReport } from '../../../src/api/operations/answers.js';
import { makeHook } from '../../../src/sandbox/resources/hook.js';
import { until } from '../../services/until.js';
import { aBot, type TestBot } from '../support/a-bot.js';
import { Browser, consoleOf } from '../support/a-browser.js';
import { anApplication, PersonAtBrowser } from '../support/a-forge-login.js';
import { aForge, type TestForge } from '../support/a-forge.js';
import { acmeConfig } from '../support/acme-config.js';

/** A chat gave it out: whoever knows it writes there. */
const CHAT = 'canary-chat-7f31';
/** Only owners are told who is in which team. */
const TEAM = 'canary-team-52c8';
const SECRET = 'h'.repeat(40);
const FIRST = 'lookups.hooks.filter(one, one.config.url.contains("chat"))[0].config.url';

const RULES = `version: 1
org: acme
rules:
  - id: met
    on: issue.opened
    lookup: { hooks: { use: hooks.list } }
    if: { says: '${FIRST} != ""' }
    do: { label.ensure: { name: met, color: "#112233" } }
  - id: unmet
    on: issue.opened
    lookup: { hooks: { use: hooks.list } }
    if: { says: '${FIRST} == ""' }
    do: { label.ensure: { name: unmet, color: "#112233" } }
  - id: condition-fails
    on: issue.opened
    lookup: { hooks: { use: hooks.list } }
    if: { says: '{"a": 1}[${FIRST}] == 1' }
    do: { label.ensure: { name: fails, color: "#112233" } }
  - id: value-fails
    on: issue.opened
    lookup: { hooks: { use: hooks.list } }
    do: { label.ensure: { name: fails, color: '\${{ ${FIRST} }}' } }
  - id: rights-of-command
    on: comment.created
    where: { command: hush }
    do: { issue.label: { number: '\${{ event.issue.number }}', add: [hushed] } }
  - id: rights-read
    on: comment.created
    lookup: { who: { use: actor.rights, with: { login: '\${{ event.actor.login }}' } } }
    if: { is_in_team: 'lookups.who.teams.exists(team, team.startsWith("canary"))' }
    do: { label.ensure: { name: spoke, color: "#112233" } }
policies:
  - id: expectation-fails
    subjects: { repos: [open] }
    lookup: { hooks: { use: hooks.list } }
    expect: { says: '{"a": 1}[${FIRST}] == 1' }
`;
const IDS = ['met', 'unmet', 'condition-fails', 'value-fails', 'expectation-fails'];
const IDS_OF_RIGHTS = ['rights-of-command', 'rights-read'];

let forge: TestForge;
let bot: TestBot;
const people: Record<string, Browser> = {};

/** A public repository that wes writes to, in an organization of olga with a webhook to a chat. */
beforeAll(async () => {
  forge = await aForge({ org: 'acme' });
  for (const given of [
    { user: 'wes' },
    { user: 'rita' },
    { team: TEAM, org: 'acme', permission: 'read', members: ['rita'], includes_all_repositories: true },
    { repo: 'acme/open' },
    { team: 'writers', org: 'acme', permission: 'write', members: ['wes'], includes_all_repositories: true },
  ])
    await forge.control('/_sandbox/given', given);
  const { world, profile } = forge.sandbox.parts;
  for (const team of world.teams.values()) for (const repo of world.repos.values()) team.repos.add(repo.id);
  makeHook(world, profile.telling, {
    orgId: world.orgByName('acme')?.id ?? 0n,
    type: 'slack',
    config: { url: `http://127.0.0.1:1/chat/${CHAT}`, content_type: 'json' },
    events: ['wiki'],
    isActive: true,
  });
  const application = await anApplication(forge.sandbox, ['http://127.0.0.1/later']);
  const {
    forges: [main],
    ...rest
  } = acmeConfig(forge) as { forges: object[] };
  bot = await aBot({
    config: {
      ...rest,
      forges: [{ ...main, oauth: { client_id: application.clientId, client_secret: { env: 'SECRET' } } }],
      keys: { data: { env: 'DATA_KEY' } },
      console: { listen: 0 },
    },
    files: { 'rules/r.yaml': RULES },
    env: {
      HOOK: SECRET,
      FORGE_TOKEN: forge.botToken,
      SECRET: application.clientSecret.reveal(),
      DATA_KEY: 'a key of the store that is long enough',
    },
  });
  const url = consoleOf(bot);
  for (const one of world.oauthApplications.values()) one.redirectUris = [`${url}/login/callback/main`];
  await forge.hook(`${bot.url}/webhooks/acme`, SECRET);
  await forge.act('issue.open', { repo: 'acme/open', title: 'one' });
  await forge.act('comment.create', { as: 'rita', repo: 'acme/open', number: 1, body: '/hush' });
  await until(async () => {
    const decided = (await runs()).map(({ run }) => run.rule);
    return [...IDS, ...IDS_OF_RIGHTS].every((id) => decided.includes(id));
  });
  for (const login of ['olga', 'wes']) {
    const browser = new Browser(url);
    const begun = await browser.get('/login/forge/main');
    const back = await new PersonAtBrowser(forge.sandbox, login).visit(begun.headers.location ?? '');
    await browser.get(back.pathname + back.search, { 'sec-fetch-site': 'cross-site' });
    people[login] = browser;
  }
});

afterAll(async () => {
  await bot?.close();
  await forge?.close();
});

const runs = (): Promise<RunReport[]> => bot.reach.rows<RunReport>('/v1/runs', { limit: 50 });

/** All pages about one decision. */
async function pagesOf(login: string, rule: string): Promise<string> {
  const run = (await runs()).find((one) => one.run.rule === rule)?.run;
  const { cause } = run ?? {};
  // A policy is decided for a plan as well.
  const ofEvent = cause?.kind === 'event' ? [`/events/${cause.eventId}`, `/events/${cause.eventId}/rules/${rule}`] : [];
  const paths = [`/runs/${run?.id}`, ...ofEvent, '/activity?all=yes'];
  const texts: string[] = [];
  for (const path of [...paths, `/rules/acme/${rule}`]) {
    const { status, text } = (await people[login]?.get(path)) ?? { status: 0, text: '' };
    expect([path, status]).toEqual([path, 200]);
    texts.push(...text.split('\n').map((line) => `${path} ${line}`));
  }
  return texts.join('\n');
}

const whereIn = (text: string, canary = CHAT): string[] => text.match(new RegExp(`.{0,160}${canary}`, 'g')) ?? [];

describe('integration/console: traces of what only owners may read', () => {
  it.each(IDS)('show a writer no address of a webhook: %s', async (rule) => {
    expect(whereIn(await pagesOf('wes', rule))).toEqual([]);
  });

  it.each(IDS_OF_RIGHTS)('show a writer nothing of the rights of somebody else: %s', async (rule) => {
    expect(whereIn(await pagesOf('wes', rule), `${TEAM}|permission read|they have`)).toEqual([]);
    expect(whereIn(await pagesOf('olga', rule), TEAM)).not.toEqual([]);
  });

  it.each(['met', 'unmet'])('show it to an owner: %s', async (rule) => {
    expect(whereIn(await pagesOf('olga', rule))).not.toEqual([]);
  });
});
