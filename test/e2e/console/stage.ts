import { readFileSync } from 'node:fs';
import { freePort } from '../../services/processes.mjs';
import { createTestDatabase, POSTGRES_URL } from '../../services/test-stores.js';
import { freshRedisUrl, REDIS_URL } from '../../services/test-redis.js';
import { until } from '../../services/until.js';
import { anApplication } from '../../integration/support/a-forge-login.js';
import { acmeConfig } from '../support/acme-config.js';
import { aForge, type Forge } from '../support/a-forge.js';
import { aPlace, type Place } from '../support/a-place.js';
import { startBot, type Bot } from '../support/bot.js';
import { requireBuild } from '../support/built.js';
import { askJson, untilAnswer } from '../support/forgehand.js';
import type { Person } from './browser.js';

export const DEPLOYMENTS = ['embedded', ...(POSTGRES_URL && REDIS_URL ? (['distributed'] as const) : [])] as const;
export type Deployment = (typeof DEPLOYMENTS)[number];

/** Texts that would be something else than text, if a page let them. */
export const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  '</script><script>alert(2)</script>',
  '"><svg/onload=alert(3)>',
  "'-alert(4)-'",
  'javascript:alert(5)',
  '{{constructor.constructor("alert(6)")()}}',
  '\u202Etxt.exe\u202C',
  '</textarea></style></title><b>7',
] as const;

/** The same in other places than titles; each is made of what its place allows. */
export const HOSTILE_PLACES = {
  label: '"><img src=x onerror=alert(10)>',
  branch: 'x"><img/src=x/onerror=alert(11)>',
  effect: '<script>alert(12)</script>',
} as const;

const RULES = `version: 1
org: acme
rules:
  - id: greet
    on: issue.opened
    if:
      is_bug: event.issue.title.startsWith("bug")
    do: { label.ensure: { name: greeted, color: "#00aabb" } }
  - id: every-repository
    on: repository.created
    do: { label.ensure: { name: triage, color: "#aa00bb" } }
  - id: hostile
    # </script><img src=x onerror=alert(8)>
    on: issue.opened
    if:
      says: event.issue.title.contains("<script>alert(9)</script>")
    do: { label.ensure: { name: never, color: "#000000" } }
  - id: hostile-effect
    on: push
    if:
      odd: event.ref.contains("onerror")
    do: { label.ensure: { name: "${HOSTILE_PLACES.effect}", color: "#000000" } }
  - id: hostile-label
    on: issue.labeled
    if:
      none: size(event.labels) == 0
    do: { label.ensure: { name: never, color: "#000000" } }
`;

/** A second file: tried together with the first. */
const POLICIES = `version: 1
org: acme
policies:
  - id: house-labels
    schedule: "0 0 29 2 *"
    approval: required
    subjects: { repos: ["acme/*"] }
    labels: [{ name: kind/bug, color: "#d73a4a" }]
`;

/** Rita is no owner: she may write to acme/app, once it is there. */
const WRITERS = {
  team: 'writers',
  org: 'acme',
  permission: 'write',
  members: ['rita'],
  units: ['repo.code', 'repo.issues'],
};

/** A bot at work on an organization that lives, and its Console. */
export interface Stage {
  readonly forge: Forge;
  readonly place: Place;
  /** Of the Console. */
  readonly url: string;
  /** Of the process that takes deliveries. */
  readonly receiver: string;
  /** A link that logs one browser in as the owner of the bot. */
  link(): Promise<string>;
  /** Log somebody in by the pages of the forge. */
  logIn(person: Person, login: string): Promise<import('playwright-core').Page>;
  /** Ask the control API. */
  ask<T>(path: string): Promise<T>;
  close(): Promise<void>;
}

/** @param lives with a few repositories and issues, hostile texts among them; without, the forge is empty */
export async function aStage(deployment: Deployment, { lives = true } = {}): Promise<Stage> {
  requireBuild();
  const forge = await aForge();
  for (const user of ['wes', 'rita']) await forge.control('POST', '/_sandbox/given', { user });
  await forge.control('POST', '/_sandbox/given', WRITERS);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { clientId, clientSecret } = await anApplication(forge.sandbox, [`${url}/login/callback/main`]);
  const database = deployment === 'distributed' ? await createTestDatabase() : null;
  const place = aPlace({
    config: acmeConfig(forge.apiUrl, {
      forge: { rate_per_s: 200, oauth: { client_id: clientId, client_secret: { env: 'CONSOLE_SECRET' } } },
      org: { trusted: false },
      keys: { data: { env: 'DATA_KEY' } },
      console: { listen: port },
      ...(database
        ? {
            store: { url: { env: 'DATABASE_URL' } },
            queue: { url: { env: 'REDIS_URL' }, sweep_s: 1 },
            control: { socket: 'run/control.sock' },
          }
        : {}),
    }),
    files: { 'rules/rules.yaml': RULES, 'rules/tidy.yaml': POLICIES },
    env: {
      FORGE_TOKEN: forge.botToken,
      HOOK_SECRET: 'the secret of the hook',
      CONSOLE_SECRET: clientSecret.reveal(),
      DATA_KEY: 'k'.repeat(64),
      ...(database ? { DATABASE_URL: database.url, REDIS_URL: await freshRedisUrl() } : {}),
    },
  });
  const bots: Bot[] = [];
  let receiver = '';
  const close = async (): Promise<void> => {
    await Promise.all(bots.map((bot) => bot.kill()));
    await forge.close();
    await database?.drop();
    place.remove();
  };
  try {
    // The role whose control socket commands find is started with the config itself.
    const others = database ? (['web', 'worker', 'scheduler'] as const) : [];
    for (const role of others) {
      const file = place.write(
        `${role}.yaml`,
        JSON.stringify({
          ...JSON.parse(configText(place)),
          console: { enabled: false },
          control: { socket: `run/${role}.sock` },
        }),
      );
      bots.push(await startBot(place, role, file));
    }
    bots.push(await startBot(place, database ? 'console' : 'all'));
    receiver = bots.find(({ url: of }) => of !== '')?.url ?? '';
    await forge.hook(receiver, 'the secret of the hook');
    if (lives) await live(forge);
  } catch (error) {
    await close();
    throw error;
  }
  const stage: Stage = {
    forge,
    place,
    url,
    receiver,
    link: async () => (await askJson<{ url: string }>(place, 'console', 'open', '--config', place.configFile)).url,
    logIn: async (person, login) => {
      const page = await person.open(`${url}/login`);
      await page.getByRole('link', { name: 'Log in through main' }).click();
      const { password = '' } = forge.sandbox.parts.world.userByName(login) ?? {};
      await page.locator('input[name="user_name"]').fill(login);
      await page.locator('input[name="password"]').fill(password);
      await page.keyboard.press('Enter');
      const allow = page.locator('button[name="granted"][value="true"]');
      await Promise.race([allow.waitFor(), page.waitForURL(`${url}/**`)]);
      if (await allow.isVisible()) await allow.click();
      await page.waitForURL(`${url}/`);
      return page;
    },
    ask: (path) => untilAnswer<never>(place, path, () => true),
    close,
  };
  if (lives) await until(async () => (await stage.ask<{ rows: unknown[] }>('/v1/runs?limit=100')).rows.length >= 10);
  return stage;
}

function configText({ configFile }: Place): string {
  return readFileSync(configFile, 'utf8');
}

/** The newest is what people see first: texts that are hostile come before the others. */
async function live(forge: Forge): Promise<void> {
  const { world } = forge.sandbox.parts;
  for (const name of ['app', 'web'])
    await forge.act('repository.create', { repo: `acme/${name}`, description: HOSTILE[0], private: name === 'web' });
  const writers = [...world.teams.values()].find(({ name }) => name === WRITERS.team);
  for (const { id, name } of world.repos.values()) if (name === 'app') writers?.repos.add(id);
  const { label, branch } = HOSTILE_PLACES;
  await forge.control('POST', '/_sandbox/given', { label, repo: 'acme/app', color: '#000000' });
  for (const title of HOSTILE) await forge.act('issue.open', { repo: 'acme/app', title, body: title });
  await forge.act('issue.label', { repo: 'acme/app', number: 1, labels: [label] });
  await forge.act('push', {
    repo: 'acme/app',
    branch,
    commits: [{ message: HOSTILE[0], files: { 'a.md': HOSTILE[1] } }],
  });
  await forge.act('comment.create', { repo: 'acme/app', number: 1, body: HOSTILE[2] });
  await forge.act('issue.open', { repo: 'acme/app', title: 'bug: it crashes', body: 'It crashes.' });
  await forge.act('issue.open', { repo: 'acme/web', title: 'a question', body: 'How?' });
}
