import { describe, expect, it } from '@jest/globals';
import { aRun } from '../../test/builders/journal.js';
import type { Run, RunState } from '../core/run.js';
import { scheduleStatusOf, type ScheduleContext, type ScheduleFacts } from './schedule-status.js';

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
const run = (state: RunState, tickId = 't2') =>
  aRun({ state, cause: { kind: 'tick', tickId, subject: '7' } }) as unknown as Run;
const CONTEXT: ScheduleContext = { runs: [run('done')], pausedBy: null, unmet: null, isOld: false };

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
    ['is of older files', {}, { isOld: true }, ['old-rules']],
  ])('says why one that %s', (_what, facts, context, codes) => {
    const { why } = scheduleStatusOf({ ...FACTS, ...facts }, { ...CONTEXT, ...context });

    expect(why.map(({ code }) => code)).toEqual(codes.map((code) => `schedule.${code}`));
  });
});
