import { describe, expect, it } from '@jest/globals';
import { aRun } from '../../test/builders/journal.js';
import { because } from '../../test/builders/reasons.js';
import { runReason } from '../core/run-reasons.js';
import type { Run, RunState } from '../core/run.js';
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
  mode: 'live',
  disabled: null,
  frozen: null,
  last: AT,
  isUndecided: false,
  overdue: null,
  next: new Date('2026-11-21T02:00:00Z'),
};
const run = (state: RunState, tickId = 't2', reason = because('wanted')) =>
  aRun({ state, reason, cause: { kind: 'tick', tickId, subject: '7' } }) as unknown as Run;
const PLAN = 'b'.repeat(12);
const wanted = because('wanted');
const WAITING = [
  run('not-fired', 't2', runReason('run.held.new-policy', { plan: PLAN, wanted })),
  run('not-fired', 't2', because('as wanted')),
];
const FROZEN = run('not-fired', 't2', runReason('run.held.frozen', { until: 'x', reason: 'y', wanted }));
const planIn = (state: PlanState): ScheduleContext['plan'] => ({ hash: 'b'.repeat(64), state, decidedBy: 'ann' });
const CONTEXT: ScheduleContext = { runs: [run('done')], pausedBy: null, plan: null, unmet: null, isOld: false };

describe('scheduleStatusOf', () => {
  it('counts what the last occurrence made, and nothing of those before', () => {
    const runs = [run('done'), run('not-fired'), run('done'), run('failed', 't1')];

    expect(scheduleStatusOf(FACTS, { ...CONTEXT, runs })).toMatchObject({
      last: AT,
      runs: [
        { state: 'done', count: 2 },
        { state: 'not-fired', count: 1 },
      ],
      why: [],
    });
  });

  it.each<[string, Partial<ScheduleFacts>, Partial<ScheduleContext>, string[]]>([
    ['never came', { last: null }, { runs: [] }, ['new']],
    ['is overdue', { last: null, overdue: AT }, { runs: [] }, ['overdue']],
    ['is frozen', { overdue: AT, frozen: { until: 'x', reason: 'y' } }, {}, ['frozen']],
    ['is paused', {}, { pausedBy: 'ann' }, ['paused']],
    ['is disabled', { disabled: 'why' }, { runs: [] }, ['disabled']],
    ['lacks something', {}, { unmet: 'no right' }, ['unmet']],
    ['only records', { mode: 'dry-run' }, {}, ['no-write']],
    ['waits for the forge', { isUndecided: true }, { runs: [] }, ['waits']],
    ['had no repository', {}, { runs: [] }, ['no-subject']],
    ['wanted nothing', {}, { runs: [run('not-fired')] }, ['nothing']],
    ['waits for its first approval', { last: null }, { runs: WAITING, plan: planIn('open') }, ['approval']],
    ['waits for an approval again', {}, { runs: WAITING, plan: planIn('open') }, ['approval']],
    ['was denied', {}, { runs: WAITING, plan: planIn('denied') }, ['denied']],
    ['was approved', {}, { runs: WAITING, plan: planIn('applied') }, []],
    ['was approved before its first time', { last: null }, { runs: WAITING, plan: planIn('applied') }, ['new']],
    ['was held by a freeze', {}, { runs: [FROZEN] }, ['held']],
    ['is of older files', {}, { isOld: true }, ['old-rules']],
  ])('says why one that %s', (_what, facts, context, codes) => {
    const { why } = scheduleStatusOf({ ...FACTS, ...facts }, { ...CONTEXT, ...context });

    expect(why.map(({ code }) => code)).toEqual(codes.map((code) => `schedule.${code}`));
  });

  it('names the approval and the command', () => {
    const { why } = scheduleStatusOf(FACTS, { ...CONTEXT, runs: WAITING, plan: planIn('open') });

    expect(why).toEqual([
      { code: 'schedule.approval', text: `what it wants waits for an approval: forgehand approve ${PLAN}` },
    ]);
  });

  it('knows the plan that its newest pass waits for', () => {
    expect(waitsFor(WAITING)).toBe(PLAN);
    expect(waitsFor([run('done', 't3'), ...WAITING])).toBeNull();
    expect(waitsFor([FROZEN])).toBeNull();
  });
});
