import { describe, expect, it } from '@jest/globals';
import { renderToString } from 'preact-render-to-string';
import type { AnyPage } from '../page.js';
import { LookContext } from '../ui/look.js';
import { auditPage } from './audit.page.js';
import { gapsPage } from './gaps.page.js';
import { jobsPage } from './jobs.page.js';
import { overviewPage } from './overview.page.js';
import { planPage, plansPage } from './plans.page.js';
import { rulesPage } from './rules.page.js';

const AT = new Date('2026-11-20T08:00:00Z');
/** Of a list without rows. */
const PAGE = { rows: [], next: null, total: 0, attention: 0 };
const HASH = 'a1'.repeat(32);

function htmlOf(page: AnyPage, data: object): string {
  const look = { path: page.path, query: {}, csrf: 'c', nonce: 'n' };
  return renderToString(<LookContext.Provider value={look}>{page.view(data)}</LookContext.Provider>);
}

/** What a reader sees. */
function textOf(page: AnyPage, data: object): string {
  return htmlOf(page, data)
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');
}

describe('console/pages', () => {
  const status = (behind: object[]): object => ({
    alerts: [],
    deliveries: { hooks: [], hours: [] },
    gaps: { repaired: 0, late: 0, lost: 0 },
    backlog: { arrivals: 0, events: 0 },
    intents: { planned: 0, claimed: 0, sent: 0 },
    ...{ forges: [], quarantined: [], paused: [], held: [], waiting: [], behind, cut: [] },
    ...PAGE,
  });
  const overview = (behind: object): string =>
    textOf(overviewPage, {
      status: status([behind]),
      approvals: 0,
      plans: [],
      now: AT,
      seesAll: false,
      isSearched: false,
    });
  const refused = { state: 'refused', org: 'acme', rule: 'label', count: 1 };

  it('say that everything works where a person asked by a command for what cannot be', () => {
    const text = overview({ ...refused, byCommand: true });

    expect(text).toContain('Everything works');
    expect(text).not.toMatch(/not work|broken/);
    expect(text).toContain('note 1 effect that people asked label in acme for by a command was refused.');
  });

  it.each([
    ['that no person asked for was refused', { ...refused, byCommand: false }],
    ['of a command was given up', { ...refused, state: 'dead', byCommand: true }],
  ])('say that something does not work where an effect %s', (_what, behind) => {
    expect(overview(behind)).toContain('1 thing does not work');
  });

  const plans = (planners: string[]): string =>
    textOf(plansPage, { plans: [], findings: { ...PAGE, open: 0 }, orgs: ['acme'], planners });

  it('offer to make a plan below only where the form is there', () => {
    expect(plans(['acme'])).toMatch(/Make one below.*Make a plan/);
    expect(plans([])).not.toMatch(/below|Make a plan/);
  });

  const plan = {
    ...{ hash: HASH, org: 'acme', policy: null, state: 'open', lines: [], subjects: 0, madeAt: AT, madeBy: 'olga' },
    ...{ decidedBy: null, appliedBy: null, calls: { atLeastS: 1 }, overCaps: [], newPolicies: null },
    ...{ notes: [], heldBack: [], findings: [], needsApproval: false },
  };
  const act = { id: 'act-1', at: AT, by: 'olga', org: 'acme', reason: null, outcome: 'done' };
  const audit = (...acts: object[]): object => ({
    ...{ owned: ['acme'], org: 'acme', chosen: undefined, chain: null, others: null },
    acts: { rows: acts.map((one) => ({ ...act, ...one })), next: null },
  });

  it.each<[string, AnyPage, object]>([
    ['plan', planPage, { plan, mayOperate: false, mayApprove: false }],
    ['audit', auditPage, audit({ operation: 'applyPlan', about: { hash: HASH } })],
  ])('show the beginning of a hash, and the whole of it in the title: %s', (_name, page, data) => {
    expect(textOf(page, data)).toContain(HASH.slice(0, 12));
    expect(textOf(page, data)).not.toContain(HASH);
    expect(htmlOf(page, data)).toContain(`title="${HASH}"`);
  });

  it('tell acts in words, without what was not asked for', () => {
    const about = { hook: 'acme', dryRun: true, allEvents: true, isNew: false, recreate: false };
    const text = textOf(auditPage, audit({ operation: 'installHook', about }));

    expect(text).toMatch(/ install hook hook acme , dry run , all events acme /);
    expect(text).not.toMatch(/installHook|isNew|is new|recreate|false/);
  });

  it('tell what retention deleted from a chain that holds', () => {
    const deleted = [{ from: 1, to: 200, links: 180, days: 400, at: AT }];
    const chain = { checked: 250, head: { n: 250, link: HASH }, broken: null, again: [], deleted, isEnd: true };
    const text = textOf(auditPage, { ...audit(), chain });

    expect(text).toMatch(/250 links hold\./);
    expect(text).toMatch(/ 1 to 200 180 400 days /);
  });

  it('tell of a refused act that it was refused, and why, and not that something is broken', () => {
    const shown = audit({ operation: 'pause', about: {}, outcome: 'SCOPE_MISSING' });
    const broken = audit({ operation: 'pause', about: {}, outcome: 'INTERNAL' });

    expect(textOf(auditPage, shown)).toContain('refused scope missing');
    expect(htmlOf(auditPage, shown)).not.toContain('badge-bad');
    expect(htmlOf(auditPage, broken)).toContain('badge-bad');
  });

  it.each([
    ['verdict.not-allowed', 'the person may not ask for it'],
    ['is_docs', 'is_docs'],
  ])('say why a rule did not fire in words: %s', (because, words) => {
    const counts = { fired: 0, notFired: 1, failed: 0, held: 0, mainReason: { because, count: 1 } };
    const rule = {
      ...{
        org: 'acme',
        id: 'label',
        kind: 'rule',
        place: { file: 'r.yaml', line: 3 },
        on: ['issue.commented'],
        counts,
      },
      ...{ mode: 'live', stage: null, disabled: null, pause: null, unmet: null, schedule: null },
    };

    const page = { ...PAGE, rows: [rule], refused: [], total: 1 };

    expect(textOf(rulesPage, { page, orgs: ['acme'] })).toContain(` ${words} `);
  });

  it('have one word for what became of a gap', () => {
    const gap = { arrivalId: 'a', eventId: null, kind: 'push', org: 'acme', repo: null, source: 'feed', factAt: AT };
    const gaps = (['repaired', 'not-representable', 'late'] as const).map((outcome, n) => ({
      ...{ ...gap, arrivalId: `a${n}`, foundAt: AT, outcome, class: 'hook-inactive' },
      reason: 'our webhook is switched off at the forge',
      lateByS: outcome === 'late' ? 41 : null,
    }));
    const text = textOf(gapsPage, {
      rows: gaps,
      next: null,
      coverage: PAGE,
      coveredSince: AT,
      orgs: ['acme'],
      days: 7,
    });

    expect(text.match(/switched off at the forge \S+/g)?.map((told) => told.split(' ').at(-1))).toEqual([
      'repaired',
      'lost',
      'late',
    ]);
    expect(text).toContain('late by 41 s');
    expect(text).not.toContain('hook-inactive');
  });

  it('do not say that a schedule never ran beside what its pass made when it was loaded', () => {
    const schedule = { org: 'acme', id: 'nightly', cron: '0 0 * * *', tz: 'UTC', last: null, next: null, why: [] };
    const data = {
      schedules: { ...PAGE, rows: [{ ...schedule, runs: [{ state: 'done', count: 4 }] }], total: 1 },
      jobs: { ...PAGE, jobs: [] },
      owned: [],
      mayAll: false,
    };

    expect(textOf(jobsPage, data)).toMatch(/UTC when loaded 4 done never/);
  });
});
