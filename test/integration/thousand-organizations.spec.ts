import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { OperationName } from '../../src/api/operations/index.js';
import type { AnyPage, Ask } from '../../src/console/page.js';
import { forgePage } from '../../src/console/pages/forge.page.js';
import { gapsPage } from '../../src/console/pages/gaps.page.js';
import { jobsPage } from '../../src/console/pages/jobs.page.js';
import { overviewPage } from '../../src/console/pages/overview.page.js';
import { rulesPage } from '../../src/console/pages/rules.page.js';
import { LookContext } from '../../src/console/ui/look.js';
import { jobs } from '../../src/housekeeping/jobs/index.js';
import { stringifyJson } from '../../src/core/json.js';
import { POSTGRES_URL } from '../services/test-stores.js';
import { ManyOrgs, SOCKET } from './support/many-orgs.js';

const ORGS = Array.from({ length: 1_000 }, (_, n) => `org-${String(n).padStart(4, '0')}`);
const TROUBLED = ['org-0700', 'org-0850', 'org-0999'];

interface Page {
  readonly rows: object[];
  readonly next: string | null;
  readonly total: number;
  readonly attention: number;
}

const text = (answer: unknown): string => stringifyJson(answer as never);

describe('integration/a thousand organizations', () => {
  let many: ManyOrgs;
  beforeAll(async () => {
    many = await ManyOrgs.of(POSTGRES_URL ? 'postgres' : 'embedded', ORGS, TROUBLED);
  });
  afterAll(() => many?.close());

  // A statement of a day, for the counts of 30 days.
  it.each<[OperationName, number]>([
    ['status', 25],
    ['rules', 38],
    ['schedules', 4],
    ['jobs', 1],
    ['doctor', 8],
  ])('%s shows 50 rows of all, what needs attention first, in at most %i statements', async (name, most) => {
    const { answer, statements } = await many.ask<Page>(name);

    expect(answer.rows).toHaveLength(50);
    expect(answer.next).not.toBeNull();
    expect(answer.total).toBeGreaterThanOrEqual(ORGS.length);
    expect(answer.attention).toBe(TROUBLED.length);
    const [first, rest] = [answer.rows.slice(0, TROUBLED.length), answer.rows.slice(TROUBLED.length)];
    for (const org of TROUBLED) expect([text(first).includes(org), text(rest).includes(org)]).toEqual([true, false]);
    expect(text(answer).length).toBeLessThan(100_000);
    expect(statements.length).toBeLessThanOrEqual(most);
  });

  it.each<[OperationName, number]>([
    ['status', ORGS.length],
    ['rules', 2 * ORGS.length],
    ['schedules', ORGS.length],
    ['jobs', jobs.filter(({ per }) => per === 'organization').length * ORGS.length],
    // One says that nothing waits.
    ['doctor', 5 * ORGS.length + 1],
  ])('%s gives each row on one page, and no page is large', async (name, rows) => {
    const seen: string[] = [];
    for (let after: string | null = ''; after !== null;) {
      const { answer }: { answer: Page } = await many.ask<Page>(name, { after, limit: 1_000 });
      seen.push(...answer.rows.map(text));
      expect(text(answer).length).toBeLessThan(250_000);
      after = answer.next;
    }

    expect([seen.length, new Set(seen).size]).toEqual([rows, rows]);
  });

  it.each<[OperationName]>([['status'], ['rules'], ['schedules'], ['jobs'], ['doctor']])(
    '%s is searched',
    async (name) => {
      const { rows, total } = (await many.ask<Page>(name, { search: 'ORG-0042' })).answer;

      expect(rows).toHaveLength(total);
      expect(rows.length).toBeGreaterThan(0);
      expect(rows.every((row) => text(row).includes('org-0042'))).toBe(true);
    },
  );

  it('one that was paused is told first, with what was made of the newest pass of its schedule', async () => {
    const { rows } = (await many.ask<{ rows: object[] }>('schedules', { limit: 3 })).answer;

    expect(rows).toMatchObject(
      TROUBLED.map((org) => ({
        org,
        id: 'nightly',
        runs: [{ state: 'done', count: 1 }],
        why: [{ code: 'schedule.paused' }],
      })),
    );
  });

  it('gaps counts the events of all organizations by day, a statement each, and shows what rows alone told first', async () => {
    const { answer, statements } = await many.ask<{ coverage: Page }>('gaps', { days: 7 });
    const { rows, next, total, attention } = answer.coverage;

    expect(statements.length).toBeLessThanOrEqual(8);
    expect([rows.length, total, attention]).toEqual([50, ORGS.length, TROUBLED.length]);
    expect(rows.slice(0, TROUBLED.length)).toMatchObject(TROUBLED.map((org) => ({ org, kind: 'push', rows: 1 })));
    const second = await many.ask<{ coverage: Page }>('gaps', { days: 7, coverageAfter: next });
    expect(second.answer.coverage.rows[0]).toMatchObject({ org: 'org-0047', webhook: 1 });
  });

  it('a rule that is nowhere is told by a few statements, and by the names of a few organizations', async () => {
    await expect(many.ask('runs', { rule: 'nowhere' })).rejects.toThrow(
      `there is no rule or policy nowhere in ${ORGS.slice(0, 10).join(', ')} and 990 more`,
    );
  });

  it.each<[string, AnyPage]>([
    ['overview', overviewPage],
    ['rules', rulesPage],
    ['jobs', jobsPage],
    ['forge', forgePage],
    ['gaps', gapsPage],
  ])('the page %s has less than 200 KB, and a way to the others', async (_name, page) => {
    const call = async (name: OperationName, sent: object) =>
      (await many.ask(name, Object.fromEntries(Object.entries(sent ?? {}).filter(([, value]) => value !== undefined))))
        .answer;
    const ask = { caller: SOCKET, now: new Date(), params: {}, query: { look: 'yes' }, call, may: () => true };
    const value = { path: page.path, query: {}, csrf: 'c', nonce: 'n' };
    const data = await page.load(ask as unknown as Ask);
    const html = renderToString(h(LookContext.Provider, { value, children: page.view(data) }));

    expect(html.length).toBeLessThan(200_000);
    expect(html).toContain('name="search"');
    expect(html).toMatch(/<a rel="next" href="[^"]*after=/);
    for (const org of TROUBLED) expect(html).toContain(org);
  });
});
