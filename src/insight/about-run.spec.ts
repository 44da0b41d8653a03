import { describe, expect, it } from '@jest/globals';
import { anEvent } from '../../test/builders/arrivals.js';
import { aRun, anIntent } from '../../test/builders/journal.js';
import type { Intent } from '../core/run.js';
import { runReason } from '../core/run-reasons.js';
import type { ActiveRevision } from '../rules/revisions/active-revisions.port.js';
import { countEffects, whatAbout, type RunContext } from './about-run.js';

const NOW = new Date('2026-11-20T12:00:00Z');
const ACTIVE = {
  revision: { rules: [{ id: 'nightly', schedule: { cron: '0 2 * * *', tz: 'UTC', jitterS: 0 } }], policies: [] },
} as unknown as ActiveRevision;

const told = (over: Partial<RunContext>) =>
  whatAbout({ run: aRun({}) as RunContext['run'], event: null, intents: [], active: null, now: NOW, ...over });
const run = (over: Parameters<typeof aRun>[0]) => aRun(over) as RunContext['run'];
const intent = (over: Partial<Intent>) => ({ ...anIntent({}), state: 'done', reason: null, ...over }) as Intent;

describe('whatAbout', () => {
  it('tells repository, subject and person of an event', () => {
    expect(told({ event: anEvent({ kind: 'issue.opened', data: { number: 12 } }) })).toEqual({
      event: 'issue.opened',
      repo: 'acme/app',
      subject: '#12',
      person: 'ann',
      schedule: null,
    });
  });

  it('tells the target where the event is not kept any more', () => {
    const intents = [intent({ target: { kind: 'repository', id: '7', owner: 'acme', name: 'app' } })];

    expect(told({ intents })).toMatchObject({ event: null, repo: 'acme/app', person: null, schedule: null });
  });

  it('tells of a tick its repository, its occurrence and the next one', () => {
    const cause = {
      kind: 'tick',
      tickId: 't',
      subject: '7',
      repo: 'acme/app',
      at: '2026-11-20T02:00:00.000Z',
    } as const;
    const tick = run({ rule: 'nightly', cause });

    expect(told({ run: tick, active: ACTIVE })).toEqual({
      event: null,
      repo: 'acme/app',
      subject: null,
      person: null,
      schedule: { at: new Date('2026-11-20T02:00:00Z'), next: new Date('2026-11-21T02:00:00Z') },
    });
    expect(told({ run: { ...tick, rule: 'gone' }, active: ACTIVE }).schedule).toMatchObject({ next: null });
  });

  it('tells of a plan who applied it', () => {
    const cause = { kind: 'apply', by: 'bob', plan: 'p', subject: '7', repo: 'acme/app' } as const;

    expect(told({ run: run({ cause }) })).toMatchObject({ repo: 'acme/app', person: 'bob', schedule: null });
  });
});

describe('countEffects', () => {
  it('counts equal effects, and keeps apart what ended otherwise, for another reason or was only recorded', () => {
    const frozen = runReason('run.rule-gone');
    const made = (name: string) => ({ code: 'intent.reported', params: { summary: name } });

    expect(
      countEffects([
        intent({ reason: made('label a created') }),
        intent({ reason: made('label b created') }),
        intent({ state: 'refused', reason: frozen }),
        intent({ state: 'refused' }),
        intent({ mode: 'dry-run' }),
        intent({ reason: made('label c created') }),
      ]).map(({ state, mode, code, reason, count }) => [state, mode, code, reason !== null, count]),
    ).toEqual([
      ['done', 'live', 'intent.reported', false, 3],
      ['refused', 'live', 'run.rule-gone', true, 1],
      ['refused', 'live', null, false, 1],
      ['done', 'dry-run', null, false, 1],
    ]);
  });
});
