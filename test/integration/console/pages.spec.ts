import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RunReport } from '../../../src/api/operations/answers.js';
import { until } from '../../services/until.js';
import { aBot, type TestBot } from '../support/a-bot.js';
import { acmeConfig } from '../support/acme-config.js';
import { aForge, type TestForge } from '../support/a-forge.js';
import { Browser, consoleOf } from '../support/a-browser.js';
import { anApplication, PersonAtBrowser } from '../support/a-forge-login.js';

const HOSTILE = `"><script>alert(1)</script><img src=x onerror=alert(2)>&lt;b>`;

const RULES = `version: 1
org: acme
rules:
  - id: greet
    on: repository.created
    do: { label.ensure: { name: greeted, color: "#00aabb" } }
  - id: only-docs
    on: repository.created
    if:
      docs_only: event.repo.name.startsWith("docs-") && event.repo.description != ${JSON.stringify(HOSTILE)}
    do: { label.ensure: { name: docs, color: "#00aabb" } }
  - id: waits
    on: repository.created
    do: { label.ensure: { name: waited, color: "#00aabb" }, approval: true }
  - { id: nightly, schedule: "0 0 29 2 *", where: { repo: "acme/*" }, limits: { effects_per_run: 5 }, do: { label.ensure: { name: nightly, color: "#00aabb" } } }
policies:
  - { id: labels, schedule: "0 0 29 2 *", subjects: { repos: "*" }, labels: [{ name: kind/bug, color: "#d73a4a", description: ${JSON.stringify(HOSTILE)} }] }
`;

let forge: TestForge;
let bot: TestBot;
let url: string;
let run: RunReport['run'];
const people: Partial<Record<'olga' | 'wes' | 'otto', Browser>> = {};

/** A bot on a forge with one repository that was just made, and three people: an owner, one who writes to another repository, an outsider. */
beforeAll(async () => {
  forge = await aForge({ org: 'acme' });
  for (const given of [
    { user: 'wes' },
    { user: 'otto' },
    { team: 'writers', org: 'acme', permission: 'write', members: ['wes'], includes_all_repositories: false },
  ])
    await forge.control('/_sandbox/given', given);
  const application = await anApplication(forge.sandbox, ['http://127.0.0.1/later']);
  const {
    forges: [main],
    ...rest
  } = acmeConfig(forge, { org: { trusted: false } }) as { forges: object[] };
  bot = await aBot({
    config: {
      ...rest,
      forges: [{ ...main, oauth: { client_id: application.clientId, client_secret: { env: 'SECRET' } } }],
      console: { listen: 0 },
    },
    files: { 'rules/r.yaml': RULES },
    env: { HOOK: 'h'.repeat(40), FORGE_TOKEN: forge.botToken, SECRET: application.clientSecret.reveal() },
  });
  url = consoleOf(bot);
  for (const one of forge.sandbox.parts.world.oauthApplications.values())
    one.redirectUris = [`${url}/login/callback/main`];
  await forge.hook(`${bot.url}/webhooks/acme`, 'h'.repeat(40));
  await forge.act('repository.create', { repo: 'acme/app' });
  await until(async () => {
    const runs = await bot.reach.rows<RunReport>('/v1/runs?rule=greet');
    const found = runs.find((one) => one.run.state === 'done');
    if (found) run = found.run;
    return found !== undefined;
  });
  for (const login of ['olga', 'wes', 'otto'] as const) {
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

const as = (login: keyof typeof people): Browser => people[login] ?? new Browser(url);
const page = async (login: keyof typeof people, path: string): Promise<string> => {
  const { status, text } = await as(login).get(path);
  expect([path, status]).toEqual([path, 200]);
  return text;
};
/** What a reader sees of a page. */
const textOf = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&amp;', '&');
const hrefOf = (html: string, pattern: RegExp): string => pattern.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';

async function send(login: keyof typeof people, path: string, form: Readonly<Record<string, string>>) {
  const browser = as(login);
  return browser.post(path, { csrf: await browser.csrf(), ...form });
}

describe('integration/console: pages', () => {
  it('leads from a label that did not appear to the clause, in four clicks', async () => {
    const overview = await page('olga', '/');
    const activity = hrefOf(overview, /<a href="(\/activity)"/);
    const timeline = await page('olga', `${activity}?repo=acme%2Fapp&all=yes`);
    const event = hrefOf(timeline, /<a href="(\/events\/[^"/]+)">repository\.created/);
    const rules = await page('olga', event);
    const decision = hrefOf(rules, /<a href="(\/events\/[^"]+\/rules\/only-docs)"/);
    const why = textOf(await page('olga', decision));

    expect(textOf(rules)).toMatch(/only-docs not-fired condition .docs_only.: event\.repo\.name\.startsWith/);
    expect(why).toContain('rules/r.yaml:10');
    expect(why).toMatch(/event\.repo\.name = "app"/);
    expect(await page('olga', decision)).toMatch(/<li class="line line-bad" value="10">/);
  });

  it('shows a run with its rule, its reasons, its effect and each attempt', async () => {
    const text = textOf(await page('olga', `/runs/${run.id}`));

    expect(text).toContain('label.ensure greeted done');
    expect(text).toContain('create a label');
    expect(text).not.toContain('createLabel');
    expect(text).toContain('- id: greet');
  });

  it('shows rules with what they did, and one with its text and coverage', async () => {
    const rules = textOf(await page('olga', '/rules'));
    const rule = textOf(await page('olga', '/rules/acme/only-docs'));

    expect(rules).toMatch(/greet \S+r\.yaml:4 live repository\.created 1 0 0 0/);
    expect(rules).toMatch(/only-docs \S+r\.yaml:7 live repository\.created 0 1 0 0 docs_only/);
    expect(rule).toContain('turned 1 event away');
  });

  it('approves an effect with a reason, and the forge has it', async () => {
    const [waiting] = await bot.reach.rows<{ id: string; runId: string }>('/v1/approvals');
    const shown = await page('olga', `/runs/${waiting?.runId ?? ''}`);
    expect(textOf(shown)).toContain('Approve this effect');

    const { status } = await send('olga', `/runs/${waiting?.runId ?? ''}`, {
      ...{ act: 'approve', target: waiting?.id ?? '', reason: 'it is right' },
    });

    expect(status).toBe(303);
    await until(async () => {
      const labels = await forge.get<Array<{ name: string }>>('/repos/acme/app/labels');
      return labels.some(({ name }) => name === 'waited');
    });
    expect(bot.log()).toMatch(/"order":"approve".*"person:olga@main".*"it is right"/);
  });

  it('names a plan that waits for approval as a thing to do, with a link to it, and not as broken', async () => {
    const made = await send('olga', '/plans', { org: 'acme', policy: 'labels' });
    const address = made.headers.location ?? '';
    const overview = await page('olga', '/');

    expect(hrefOf(overview, /<a href="(\/plans\/[^"]+)">plan<\/a>/)).toBe(address);
    expect(textOf(overview)).toMatch(/waits A plan of labels in acme waits for approval since .* UTC : \d+ changes?\./);
    expect(textOf(overview)).not.toMatch(/broken [^.]*approv/);
    expect(textOf((await as('wes').get('/')).text)).not.toContain('A plan of');
  });

  it('makes a plan, shows it as a difference, applies it by its hash, and the forge has it', async () => {
    const made = await send('olga', '/plans', { org: 'acme', policy: 'labels' });
    const address = made.headers.location ?? '';
    const shown = await page('olga', address);
    const hash = address.replace('/plans/', '');
    expect(textOf(shown)).toContain('kind/bug');
    expect(shown).not.toContain('<script>alert');

    const act = shown.includes('value="approve"') ? 'approve' : 'apply';
    expect((await send('olga', address, { act, hash, reason: 'as planned' })).status).toBe(303);
    if (act === 'approve') await send('olga', address, { act: 'apply', hash, reason: 'as planned' });

    await until(async () => {
      const labels = await forge.get<Array<{ name: string }>>('/repos/acme/app/labels');
      return labels.some(({ name }) => name === 'kind/bug');
    });
  });

  it('pauses a rule with a reason, says so, and lets it go on', async () => {
    await send('olga', '/rules/acme/greet', { act: 'pause', reason: HOSTILE });
    const paused = await page('olga', '/rules/acme/greet');
    expect(textOf(paused)).toContain('Its effects are paused');
    expect(paused).not.toContain('<script>alert');
    expect(paused).toContain('&lt;script>alert(1)');

    await send('olga', '/rules/acme/greet', { act: 'resume', reason: 'done' });
    expect(textOf(await page('olga', '/rules/acme/greet'))).not.toContain('Its effects are paused');
  });

  it('says what a schedule would do, fires it, and runs a job', async () => {
    expect(textOf(await page('olga', '/jobs/dry?org=acme&schedule=nightly'))).toContain('label.ensure nightly');
    const fired = await send('olga', '/jobs', {
      act: 'schedule',
      org: 'acme',
      schedule: 'nightly',
      reason: 'tried by hand',
    });
    expect(fired.status).toBe(303);
    expect(textOf(await page('olga', '/jobs'))).toContain('The schedule was fired: 1 run');
  });

  it('lets the doctor look when somebody wants it, and checks the chain', async () => {
    expect(textOf(await page('olga', '/forge'))).not.toContain('hook.');
    expect(textOf(await page('olga', '/forge?look=yes&org=acme'))).toMatch(/hook\.\w+/);
    const audit = textOf(await page('olga', '/audit'));
    expect(audit).not.toMatch(/No run is sealed yet|links? holds?/);
    expect(textOf(await page('olga', '/audit?check=yes'))).toMatch(/No run is sealed yet|links? holds?/);
    expect(audit).toMatch(/Who did what.*person:olga@main\s+run schedule\s+schedule nightly.*tried by hand\s+done/s);
    const gaps = await page('olga', '/gaps');
    expect(textOf(gaps)).toContain('repository.created');
    expect(gaps).toMatch(/role="img" aria-label="(\d{4}-\d\d-\d\d: 0; ){6}\d{4}-\d\d-\d\d: 1(, 1 by rows alone)?"/);
  });

  it('shows the coverage of as many days as somebody chooses', async () => {
    const barsOf = async (days: string): Promise<number> =>
      (
        (/role="img" aria-label="([^"]*)"/.exec(await page('olga', `/gaps?days=${days}`))?.[1] ?? '').match(/: \d/g) ??
        []
      ).length;

    expect([await barsOf('1'), await barsOf('30'), await barsOf('8')]).toEqual([1, 30, 7]);
  });

  it('takes fields that a form left empty for none', async () => {
    expect(await page('olga', '/activity?org=&repo=&state=&effects=&all=')).toContain('data-live="/live"');
    expect(await page('olga', '/activity?org=&repo=acme%2Fapp')).toContain('data-live="/live?repo=acme%2Fapp"');
    expect(textOf(await page('olga', '/audit?org='))).toContain('Audit chain of acme');
  });

  it('refuses a form without its token, and an act that the person may not do', async () => {
    const path = '/rules/acme/greet';
    expect((await as('olga').post(path, { act: 'pause', reason: 'x' })).status).toBe(403);
    expect((await send('wes', path, { act: 'pause', reason: 'x' })).status).toBe(403);
    expect((await send('olga', path, { act: 'something' })).status).toBe(400);
    expect(textOf(await page('olga', path))).not.toContain('Its effects are paused');
  });

  it('tells of what is not there, and of a filter that cannot be, on an error page', async () => {
    expect((await as('olga').get('/events/00000000-0000-7000-8000-000000000000')).status).toBe(404);
    expect((await as('olga').get('/activity?state=never')).status).toBe(400);
    const nothing = await as('olga').get('/rules/acme/nothing');
    expect([nothing.status, textOf(nothing.text)]).toEqual([
      404,
      expect.stringContaining('here is no rule or policy nothing'),
    ]);
  });

  const PATHS = ['/', '/activity', '/rules', '/plans', '/gaps', '/forge', '/jobs', '/audit'];

  it('counts deliveries for owners, and tells a member no zero in their place', async () => {
    const told = async (login: 'olga' | 'wes'): Promise<boolean> =>
      textOf((await as(login).get('/')).text).includes('deliveries in the last day');

    expect([await told('olga'), await told('wes')]).toEqual([true, false]);
  });

  it('offers a plan to an owner who has the form for it, and to nobody else', async () => {
    const told = async (login: 'olga' | 'wes'): Promise<boolean> =>
      /Make one below|Make a plan/.test(textOf((await as(login).get('/plans')).text));

    expect([await told('olga'), await told('wes')]).toEqual([true, false]);
  });

  it.each(PATHS)('shows %s to an owner, without anything of a writer who may not see the repository', async (path) => {
    expect(textOf(await page('olga', path))).not.toContain('Something went wrong');
    const { status, text } = await as('wes').get(path);

    expect([200, 403]).toContain(status);
    expect(text).not.toContain('acme/app');
    expect(text).not.toContain('kind/bug');
  });

  it.each([...PATHS, '/rules/acme/greet', '/try'])('shows an outsider nothing of %s', async (path) => {
    const { text } = await as('otto').get(path);

    expect(text).not.toContain('greet');
    expect(text).not.toContain('acme/');
  });

  it('tells an outsider which account that is, what it takes, and the way to another one', async () => {
    const { status, text } = await as('otto').get('/');

    expect(status).toBe(403);
    expect(textOf(text)).toContain('You are logged in as otto@main');
    expect(textOf(text)).toContain('Owners of an organization that the bot serves');
    expect(textOf(text)).toContain('People with write access to at least one of its repositories');
    expect(text).toMatch(/<form method="post" action="\/logout"/);
    expect(text).not.toContain('<nav');
  });

  it('keeps a run from who may not see its repository', async () => {
    for (const login of ['wes', 'otto'] as const) {
      const { status, text } = await as(login).get(`/runs/${run.id}`);
      expect([403, 404]).toContain(status);
      expect(text).not.toContain('greeted');
    }
  });
});
