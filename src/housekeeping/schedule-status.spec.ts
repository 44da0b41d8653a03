import { describe, expect, it } from '@jest/globals';
import { because } from '../../test/builders/reasons.js';
import { runReason } from '../core/run-reasons.js';
import type { RunState } from '../core/run.js';
import type { RunsOfPass } from '../pipeline/journal-store.port.js';
import type { PlanState } from '../policies/policy-plan.js';
import { scheduleStatusOf, waitsFor, type ScheduleContext, type ScheduleFacts } from './schedule-status.js';

const AT = new Date('2026-11-20T02:00:00Z');
const FACTS: ScheduleFacts = {
  forge: 'main',
  org: 'acme',
  id: 'nightly',
  kind: 'rule',
  cron: '0 2 * * *',
  tz: 'UTC',
  jitterS: 0,
  mode: 'live',
  disabled: null,
  frozen: null,
  last: AT,
  isUndecided: false,
  overdue: null,
};
const run = (state: RunState, reason = because('wanted'), count = 1): RunsOfPass => ({ state, reason, count });
const PLAN = 'b'.repeat(12);
const wanted = because('wanted');
const WAITING = [
  run('not-fired', runReason('run.held.new-policy', { plan: PLAN, wanted })),
  run('not-fired', because('as wanted')),
];
const FROZEN = run('not-fired', runReason('run.held.frozen', { until: 'x', reason: 'y', wanted }));
const planIn = (state: PlanState): ScheduleContext['plan'] => ({ hash: 'b'.repeat(64), state, decidedBy: 'ann' });
const CONTEXT: ScheduleContext = {
  pass: [run('done')],
  next: new Date('2026-11-21T02:00:00Z'),
  pausedBy: null,
  plan: null,
  unmet: null,
  isOld: false,
};

describe('scheduleStatusOf', () => {
  it('counts what the last occurrence made', () => {
    const pass = [run('done', because('wanted'), 2), run('not-fired'), run('done', because('again'))];

    expect(scheduleStatusOf(FACTS, { ...CONTEXT, pass })).toMatchObject({
      last: AT,
      runs: [
        { state: 'done', count: 3 },
        { state: 'not-fired', count: 1 },
      ],
      why: [],
    });
  });

  it.each<[string, Partial<ScheduleFacts>, Partial<ScheduleContext>, string[]]>([
    ['never came', { last: null }, { pass: [] }, ['new']],
    ['is overdue', { last: null, overdue: AT }, { pass: [] }, ['overdue']],
    ['is frozen', { overdue: AT, frozen: { until: 'x', reason: 'y' } }, {}, ['frozen']],
    ['is paused', {}, { pausedBy: 'ann' }, ['paused']],
    ['is disabled', { disabled: 'why' }, { pass: [] }, ['disabled']],
    ['lacks something', {}, { unmet: 'no right' }, ['unmet']],
    ['only records', { mode: 'dry-run' }, {}, ['no-write']],
    ['waits for the forge', { isUndecided: true }, { pass: [] }, ['waits']],
    ['had no repository', {}, { pass: [] }, ['no-subject']],
    ['wanted nothing', {}, { pass: [run('not-fired')] }, ['nothing']],
    ['waits for its first approval', { last: null }, { pass: WAITING, plan: planIn('open') }, ['approval']],
    ['waits for an approval again', {}, { pass: WAITING, plan: planIn('open') }, ['approval']],
    ['was denied', {}, { pass: WAITING, plan: planIn('denied') }, ['denied']],
    ['was approved', {}, { pass: WAITING, plan: planIn('applied') }, []],
    ['was approved before its first time', { last: null }, { pass: WAITING, plan: planIn('applied') }, ['new']],
    ['was held by a freeze', {}, { pass: [FROZEN] }, ['held']],
    ['is of older files', {}, { isOld: true }, ['old-rules']],
  ])('says why one that %s', (_what, facts, context, codes) => {
    const { why } = scheduleStatusOf({ ...FACTS, ...facts }, { ...CONTEXT, ...context });

    expect(why.map(({ code }) => code)).toEqual(codes.map((code) => `schedule.${code}`));
  });

  it('names the approval and the command', () => {
    const { why } = scheduleStatusOf(FACTS, { ...CONTEXT, pass: WAITING, plan: planIn('open') });

    expect(why).toEqual([
      { code: 'schedule.approval', text: `what it wants waits for an approval: forgehand approve ${PLAN}` },
    ]);
  });

  it('knows the plan that its newest pass waits for', () => {
    expect(waitsFor(WAITING)).toBe(PLAN);
    expect(waitsFor([run('done')])).toBeNull();
    expect(waitsFor([FROZEN])).toBeNull();
  });
});
