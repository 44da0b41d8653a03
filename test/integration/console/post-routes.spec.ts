import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OPERATIONS, type OperationName } from '../../../src/api/operations/index.js';
import { PAGES } from '../../../src/console/pages/index.js';
import { OPERATOR_SCOPES, type OperatorScope } from '../../../src/core/operator-scopes.js';
import { aBot, type TestBot } from '../support/a-bot.js';
import { acmeConfig } from '../support/acme-config.js';
import { Browser, consoleOf } from '../support/a-browser.js';

/** Nobody answers there. */
const NO_FORGE = { apiUrl: 'http://127.0.0.1:9/api/v1' };
const ID = '0'.repeat(26);
const HASH = 'a'.repeat(64);
const reason = 'a test';

interface Act {
  readonly page: string;
  readonly path: string;
  readonly form: Readonly<Record<string, string>>;
  readonly does: OperationName;
}

const act = (page: string, path: string, form: Readonly<Record<string, string>>, does: OperationName): Act => ({
  ...{ page, path, does },
  form: { reason, ...form },
});

/** Every form of every page, and the operation of the control API that does it. */
const ACTS: readonly Act[] = [
  act('/events/:id', `/events/${ID}`, { act: 'replay', arrival: ID }, 'replay'),
  act('/deliveries/:id', `/deliveries/${ID}`, { act: 'replay', arrival: ID }, 'replay'),
  act('/deliveries/:id', `/deliveries/${ID}`, { act: 'release', arrival: ID }, 'release'),
  ...['/runs/:id', '/effects/:id'].flatMap((page) => {
    const path = page.replace(':id', ID);
    return [
      act(page, path, { act: 'retry', target: ID }, 'retry'),
      act(page, path, { act: 'exists', target: ID }, 'resolve'),
      act(page, path, { act: 'absent', target: ID }, 'resolve'),
      act(page, path, { act: 'approve', target: ID }, 'approve'),
      act(page, path, { act: 'deny', target: ID }, 'approve'),
    ];
  }),
  act('/rules/:org/:rule', '/rules/acme/r1', { act: 'pause' }, 'pause'),
  act('/rules/:org/:rule', '/rules/acme/r1', { act: 'resume' }, 'resume'),
  act('/rules/:org/:rule', '/rules/acme/r1', { act: 'promote', to: 'live' }, 'promote'),
  act('/rules/:org/:rule', '/rules/acme/r1', { act: 'run' }, 'runSchedule'),
  act('/plans', '/plans', { org: 'acme', policy: 'p' }, 'plan'),
  act('/plans/:hash', `/plans/${HASH}`, { act: 'apply' }, 'applyPlan'),
  act('/plans/:hash', `/plans/${HASH}`, { act: 'approve' }, 'decidePlan'),
  act('/plans/:hash', `/plans/${HASH}`, { act: 'deny' }, 'decidePlan'),
  act('/jobs', '/jobs', { act: 'schedule', org: 'acme', schedule: 's' }, 'runSchedule'),
  act('/jobs', '/jobs', { act: 'job', org: 'acme', job: 'hooks.audit' }, 'runJob'),
  act('/sessions', '/sessions', { session: ID }, 'endConsoleSession'),
  act('/sessions', '/sessions', { session: 'OWNER' }, 'endConsoleSession'),
];

let bot: TestBot;
let url: string;
/** The session of the host's owner. */
let ownSession: string;
const browsers = new Map<OperatorScope, Browser>();

beforeAll(async () => {
  bot = await aBot({
    config: { ...acmeConfig(NO_FORGE), console: { listen: 0 } },
    files: { 'rules/r.yaml': 'version: 1\norg: acme\nrules: []\n' },
    env: { FORGE_TOKEN: 'forge-token', HOOK: 'h'.repeat(40) },
  });
  url = consoleOf(bot);
  const owner = new Browser(url);
  await owner.follow((await bot.reach.post<{ url: string }>('/v1/console/links', {})).url);
  const { sessions } = await bot.reach.get<{ sessions: Array<{ id: string }> }>('/v1/console/sessions');
  ownSession = sessions[0]?.id ?? '';
  for (const scope of OPERATOR_SCOPES) {
    const { token } = await bot.reach.post<{ token: string }>('/v1/operators', {
      name: `op-${scope}`,
      scopes: [scope],
      expiresS: 3600,
    });
    const browser = new Browser(url);
    await browser.post('/login/token', { token, next: '/' });
    browsers.set(scope, browser);
  }
});

afterAll(() => bot.close());

/** What the audit chain has of an operator, the newest first, beside logins. */
async function actsOf(name: string): Promise<string[]> {
  const acts = await bot.reach.rows<{ by: string; operation: string }>('/v1/acts?limit=1000');
  return acts.filter(({ by, operation }) => by === name && operation !== 'login').map(({ operation }) => operation);
}

describe('what pages do by POST', () => {
  it.each(OPERATOR_SCOPES)('goes through the table of operations: an operator with the scope %s', async (scope) => {
    const browser = browsers.get(scope)!;
    const wrong: string[] = [];
    for (const { path, form, does } of ACTS) {
      const before = await actsOf(`op-${scope}`);
      const csrf = await browser.csrf();
      const sent = form['session'] === 'OWNER' && scope !== 'operate' ? { ...form, session: ownSession } : form;
      await browser.post(path, { csrf, ...sent });
      const done = (await actsOf(`op-${scope}`)).slice(0, -before.length || undefined);
      const expected = OPERATIONS[does].scope === scope ? [does] : [];
      if (done.join() !== expected.join()) wrong.push(`${path} ${JSON.stringify(form)}: ${done.join() || 'nothing'}`);
    }

    expect(wrong).toEqual([]);
    const { sessions } = await bot.reach.get<{ sessions: Array<{ id: string }> }>('/v1/console/sessions');
    expect(sessions.map(({ id }) => id)).toContain(ownSession);
  });

  it.each(OPERATOR_SCOPES)('of an island is no act: an operator with the scope %s', async (scope) => {
    const browser = browsers.get(scope)!;
    const before = await actsOf(`op-${scope}`);
    const headers = { 'content-type': 'application/json', 'x-csrf-token': await browser.csrf() };
    for (const { path, calls = {} } of PAGES)
      for (const name of Object.keys(calls))
        for (const body of ['{}', '{"org":"acme","path":"r.yaml","text":"","do":"check"}', '[]', 'null', '{"org":{}}'])
          expect([name, body, (await browser.send(`${path}/${name}`, body, headers)).status]).not.toEqual([
            name,
            body,
            500,
          ]);

    expect(await actsOf(`op-${scope}`)).toEqual(before);
  });

  it('is all in this table', () => {
    const walked = new Set(ACTS.map(({ page }) => page));
    const pages = PAGES.filter(({ act: acts }) => acts !== undefined).map(({ path }) => path);
    // The drafts of /try are looked at, and change nothing.
    expect([...walked].sort()).toEqual([...pages.filter((path) => path !== '/try'), '/sessions'].sort());

    const folder = 'src/console/pages';
    const sources = readdirSync(folder).map((name) => readFileSync(`${folder}/${name}`, 'utf8'));
    const named = new Set(sources.flatMap((text) => [...text.matchAll(/\bact: '(\w+)'/g)].map(([, word]) => word)));
    expect([...new Set(ACTS.flatMap(({ form }) => form['act'] ?? []))].sort()).toEqual([...named].sort());
  });

  it('ends one’s own session in another browser without any right', async () => {
    const { token } = await bot.reach.post<{ token: string }>('/v1/operators', {
      name: 'two-browsers',
      scopes: ['read'],
      expiresS: 3600,
    });
    const [one, two] = [new Browser(url), new Browser(url)];
    await one.post('/login/token', { token, next: '/' });
    await two.post('/login/token', { token, next: '/' });
    const { sessions } = await bot.reach.get<{ sessions: Array<{ id: string; name: string }> }>('/v1/console/sessions');
    const own = sessions.filter(({ name }) => name === 'two-browsers');
    for (const { id } of own) await one.post('/sessions', { csrf: await one.csrf(), session: id });

    expect([(await one.get('/about')).status, (await two.get('/about')).status]).toContain(303);
    expect(await actsOf('two-browsers')).toContain('logout');
  });
});
