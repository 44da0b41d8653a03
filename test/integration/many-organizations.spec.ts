import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { StatusReport } from '../../src/api/operations/answers.js';
import type { DoctorPage } from '../../src/api/operations/answers.js';
import { NOBODY } from '../../src/forge/probe.js';
import { POSTGRES_URL } from '../services/test-stores.js';
import { until } from '../services/until.js';
import { aBot, type TestBot } from './support/a-bot.js';
import { ownSeveral, severalOrgs } from './support/several-orgs.js';
import { aForge, type TestForge } from './support/a-forge.js';

const ORGS = Array.from({ length: 30 }, (_, n) => `org-${n}`);
/** Polls, whose number is a matter of time. */
const POLLS = ['listOrgFeed', 'listActionTasks', 'listOrgRuns', 'listOrgRepos'];

const SECRET = 'the secret of each hook';

const rules = (org: string, more = ''): string => `version: 1
org: ${org}
rules:
  - { id: labels, on: repository.created, do: { label.ensure: { name: bug, color: "#d73a4a" } } }
${more}`;

describe('integration/many organizations', () => {
  let forge: TestForge;
  let bot: TestBot;
  /** Calls of the bot since, by operation. */
  const asked = (since: number): Array<{ operation: string; path: string }> =>
    forge.sandbox.parts.ledger.entries
      .slice(since)
      .filter(({ caller }) => caller === 'bot')
      .map(({ operation, path }) => ({ operation: operation ?? '', path }))
      .filter(({ operation }) => !POLLS.includes(operation));
  const mark = (): number => forge.sandbox.parts.ledger.entries.length;
  /** Waits until three seconds brought no call: each process asks for what it has to know at first. */
  const endOfStart = async (): Promise<void> => {
    let before = 0;
    do {
      before = mark();
      await delay(3_000);
    } while (asked(before).length > 0);
  };
  const of = (calls: ReadonlyArray<{ operation: string }>, name: string): number =>
    calls.filter(({ operation }) => operation === name).length;
  const hooksOf = ({ rows }: DoctorPage): DoctorPage['rows'] => rows.filter(({ check }) => check === 'hook.there');
  const doctor = (query: Record<string, string> = {}): Promise<DoctorPage> =>
    bot.reach.get<DoctorPage>('/v1/doctor', { ...query, limit: '1000' });

  beforeAll(async () => {
    forge = await aForge({ org: ORGS[0] ?? '' });
    const token = await ownSeveral(forge, ORGS.slice(1));
    // Nothing is missing at first: for what is, the bot looks again by itself every half a minute.
    for (const org of ORGS)
      await forge.control('/_sandbox/hooks', {
        org,
        url: `https://bot.example.org/webhooks/${org}`,
        secret: SECRET,
        events: ['repository', 'push'],
      });
    const place = severalOrgs(forge, token, Object.fromEntries(ORGS.map((org) => [org, rules(org)])), {
      ratePerS: 500,
      org: (name) => ({
        hooks: [{ id: name, secret: { env: 'HOOK' } }],
        feed: { every_s: 3_600 },
        tasks: { calls_per_poll: 0 },
      }),
      server: { public_url: 'https://bot.example.org' },
    });
    bot = await aBot({
      ...place,
      ...(POSTGRES_URL ? { roles: ['scheduler', 'worker'] as const } : {}),
      env: { ...place.env, HOOK: SECRET },
    });
  });

  afterAll(async () => {
    await bot?.close();
    await forge?.close();
  });

  it('asks at the start once for the webhooks of each, and once about what is of the forge, in whichever processes', async () => {
    await until(async () => hooksOf(await doctor()).filter(({ ageS }) => ageS !== null).length === ORGS.length);
    await endOfStart();
    const calls = asked(0);

    expect(of(calls, 'listOrgHooks')).toBe(ORGS.length);
    const ofOrgs = calls.filter(({ path }) => path.includes('/orgs/') && !path.includes(NOBODY));
    expect(ofOrgs.length).toBeLessThanOrEqual(5 * ORGS.length);
    // Each process says who it is; the rest is asked once.
    expect(calls.length - ofOrgs.length).toBeLessThanOrEqual(30);
  });

  it('asks for a new revision nothing that is known', async () => {
    const before = mark();
    const more = '  - { id: more, on: push, do: { label.ensure: { name: more, color: "#00ff00" } } }\n';
    writeFileSync(join(bot.dir, 'rules/org-3/r.yaml'), rules('org-3', more));
    await until(
      async () =>
        (await bot.reach.get<StatusReport>('/v1/status')).rows.find(({ name }) => name === 'org-3')?.revision?.rules ===
        2,
    );
    await doctor();

    expect(asked(before)).toEqual([]);
  });

  it('the doctor answers for all from what is known, and looks at one alone', async () => {
    const before = mark();
    const known = await doctor();
    const askedForAll = asked(before);
    const one = await doctor({ org: 'org-5' });
    const askedForOne = asked(before);

    expect(askedForAll).toEqual([]);
    expect(new Set(hooksOf(known).map(({ org }) => org))).toEqual(new Set(ORGS));
    expect(hooksOf(known).filter(({ ageS }) => ageS === null)).toEqual([]);
    expect(new Set(one.rows.flatMap(({ org }) => org ?? []))).toEqual(new Set(['org-5']));
    expect(of(askedForOne, 'listOrgHooks')).toBe(1);
    expect(askedForOne.filter(({ path }) => /\/orgs\/org-(?!5\b)/.test(path))).toEqual([]);
  });

  it('the doctor looks at all with a number of calls that grows as they do', async () => {
    const before = mark();

    const report = await doctor({ fresh: 'true' });

    const calls = asked(before);
    expect(hooksOf(report)).toHaveLength(ORGS.length);
    expect(of(calls, 'listOrgHooks')).toBe(ORGS.length);
    expect(calls.length).toBeLessThanOrEqual(3 * ORGS.length + 30);
  });

  it('the same alert of all of them is one', async () => {
    for (const org of ORGS)
      for (const { id } of await forge.get<Array<{ id: number }>>(`/orgs/${org}/hooks`))
        await fetch(`${forge.sandbox.apiUrl}/orgs/${org}/hooks/${id}`, { method: 'DELETE', headers: forge.asAdmin });
    await doctor({ fresh: 'true' });
    await until(async () =>
      (await bot.reach.get<StatusReport>('/v1/status')).rows.every(({ lacking }) => lacking.length > 0),
    );

    const { alerts } = await bot.reach.get<StatusReport>('/v1/status');
    const told = bot
      .log()
      .split('\n')
      .filter((line) => line.includes('"alert.raised"') && line.includes('rules.not-offered'));

    expect(alerts.filter(({ code }) => code === 'rules.not-offered').map(({ message }) => message)).toEqual([
      expect.stringContaining(`the same in ${ORGS.length - 1} more organizations`),
    ]);
    // Of each process.
    expect(told.length).toBeLessThanOrEqual(2 * 11);
  });
});
