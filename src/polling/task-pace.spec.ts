import { describe, expect, it } from '@jest/globals';
import type { EventKind } from '../core/event-kinds.js';
import { awaitsTasks, MovedLately, readingOf, type TaskReading } from './task-pace.js';

describe('polling/task-pace', () => {
  const quiet = { isAwaited: false, hasOpen: false, hasMoved: false };
  const readings = (facts: Partial<typeof quiet>): TaskReading[] =>
    Array.from({ length: 21 }, (_, poll) => readingOf({ ...quiet, ...facts, poll }));

  it('reads of a quiet organization once in ten polls, from the first on', () => {
    expect(readings({}).flatMap((reading, poll) => (reading === 'none' ? [] : [poll]))).toEqual([0, 10, 20]);
  });

  it('reads where something happened, and at every poll what a rule waits for and what has not ended', () => {
    expect(readings({ hasMoved: true }).filter((reading) => reading === 'moved')).toHaveLength(18);
    expect(new Set(readings({ isAwaited: true }))).toEqual(new Set(['turn']));
    expect(new Set(readings({ hasOpen: true }))).toEqual(new Set(['turn']));
  });

  it('keeps where something happened for five polls, anew each time', () => {
    const lately = new MovedLately();
    const polls = [['7'], [], ['8'], [], [], [], [], []].map((moved) => [...lately.next(moved)]);

    expect(polls).toEqual([['7'], ['7'], ['7', '8'], ['7', '8'], ['7', '8'], ['8'], ['8'], []]);
  });

  it.each<[string, boolean, ReadonlyArray<readonly [EventKind[], string | null]>, EventKind[] | null]>([
    ['a rule of tasks', true, [[['push', 'task.finished'], null]], null],
    ['a rule of runs', true, [[['workflow.finished'], null]], null],
    ['a rule of the shadow', true, [[['push'], null]], ['task.started']],
    ['one that is switched off', false, [[['task.finished'], 'not here']], null],
    ['no such rule', false, [[['push', 'issue.opened'], null]], ['release.published']],
  ])('tells whether somebody waits for tasks: %s', (_what, expected, rules, shadow) => {
    const revisionOf = (all: ReadonlyArray<readonly [EventKind[], string | null]>) => ({
      revision: { rules: all.map(([on, disabled]) => ({ on, disabled })) },
    });

    expect(awaitsTasks(revisionOf(rules), shadow && revisionOf([[shadow, null]]))).toBe(expected);
  });

  it('takes an organization whose rules are not loaded for one that waits', () => {
    expect(awaitsTasks(null, null)).toBe(true);
  });
});
