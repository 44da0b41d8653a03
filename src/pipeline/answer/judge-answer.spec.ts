import { describe, expect, it } from '@jest/globals';
import { aRun, anIntent } from '../../../test/builders/journal.js';
import { because } from '../../../test/builders/reasons.js';
import { intentReason, LATER_STEP, runReason, verdictReason } from '../../core/run-reasons.js';
import type { Intent, Run } from '../../core/run.js';
import { judgeAnswer, type AskedRun } from './judge-answer.js';

const AT = new Date('2026-11-20T12:00:00Z');

function asked(run: Partial<Run>, ...intents: Array<Partial<Intent>>): AskedRun {
  return {
    run: { ...aRun(), endedAt: null, ...run },
    intents: intents.map((over) => ({
      ...anIntent(),
      ...{ state: 'planned', reason: null, dueAt: AT, epoch: 0, attempts: 0, tries: 0, failingSince: null },
      ...{ result: null, updatedAt: AT },
      ...over,
    })) as Intent[],
  };
}

const judge = (all: readonly AskedRun[], afterS = 1, paused: readonly string[] = []) =>
  judgeAnswer(all, {
    now: new Date(AT.getTime() + afterS * 1000),
    isPaused: ({ rule }) => paused.includes(rule),
    command: null,
  })?.standing ?? null;

const notFired = (reason: Run['reason']): AskedRun => asked({ state: 'not-fired', reason });
const said = (reason: Run['reason']): Run['reason'] => runReason('run.not-fired', { because: reason });

describe('pipeline/answer/judge-answer', () => {
  it.each<[string, AskedRun[], string | null]>([
    ['nothing is left of it', [], null],
    ['it was done', [asked({ state: 'done' }, { state: 'done' })], 'well'],
    ['nothing was wanted', [asked({ state: 'done' })], 'well'],
    ['a condition does not hold', [notFired(said(because('x')))], 'answer.condition'],
    [
      'the person may not',
      [
        notFired(
          said(
            verdictReason('verdict.not-allowed', {
              ...{
                login: 'ann',
                action: 'pull_request.merge',
                right: 'write on code',
                why: null,
              },
            }),
          ),
        ),
      ],
      'answer.not-allowed',
    ],
    [
      'the forge does not confirm who wrote it',
      [notFired(runReason('run.not-confirmed', { code: 'act.other_author', because: 'x' }))],
      'well',
    ],
    [
      'the rule failed',
      [asked({ state: 'error', reason: runReason('run.cannot-plan', { because: 'x' }) })],
      'answer.failed',
    ],
    [
      'it was asked too often',
      [asked({ state: 'error', reason: runReason('run.held.limit', { fired: 3, limit: 3 }) })],
      'answer.too-often',
    ],
    [
      'another rule of the command did it',
      [notFired(said(because('x'))), asked({ state: 'done' }, { state: 'done' })],
      'well',
    ],
    ['another rule is at work still', [notFired(said(because('x'))), asked({}, { state: 'sent' })], 'open'],
    ['its window is open', [asked({ state: 'gathering' })], 'open'],
    ['one of two is refused', [asked({}, { state: 'planned' }, { state: 'refused' })], 'answer.refused'],
    ['it is dead', [asked({ state: 'failed' }, { state: 'dead' })], 'answer.failed'],
    [
      'merges are not allowed',
      [asked({ state: 'failed' }, { state: 'refused', reason: intentReason('intent.limit.merges', { org: 'acme' }) })],
      'answer.not-granted',
    ],
    [
      'it waited in vain',
      [
        asked(
          {},
          { state: 'refused', reason: intentReason('intent.waited-in-vain', { days: 3, because: because('x') }) },
        ),
      ],
      'answer.gave-up',
    ],
    [
      'a later step went with it',
      [asked({}, { state: 'dead' }, { state: 'cancelled', reason: LATER_STEP })],
      'answer.failed',
    ],
    [
      'it was denied',
      [asked({}, { state: 'cancelled', reason: intentReason('intent.denied', { by: 'olga' }) })],
      'answer.denied',
    ],
    ['it was overtaken', [asked({}, { state: 'cancelled' })], 'answer.changed'],
    ['a person undid it before', [asked({}, { state: 'suppressed' })], 'answer.undone'],
    ['it was a dry run', [asked({ mode: 'dry-run' }, { state: 'suppressed', mode: 'dry-run' })], 'well'],
    ['it waits for consent', [asked({}, { state: 'waiting', approval: 'wanted' })], 'answer.held.approval'],
    ['a call had no answer', [asked({}, { state: 'waiting' })], 'answer.held.unknown'],
    [
      'a check is missing',
      [asked({}, { reason: intentReason('intent.waits', { because: because('no approval') }) })],
      'answer.held.waits',
    ],
    ['its budget is spent', [asked({}, { held: true })], 'answer.held.budget'],
    ['it was just planned', [asked({}, { state: 'planned' })], 'open'],
  ])('when %s', (_, all, standing) => {
    expect(judge(all)).toBe(standing);
  });

  it('tells what has not ended for a while by what holds it', () => {
    const failing = { reason: intentReason('intent.forge-silent', { credential: 'main', calls: 8 }) };

    expect(judge([asked({}, failing)], 10)).toBe('open');
    expect(judge([asked({}, failing)], 60)).toBe('answer.held.forge');
    expect(judge([asked({}, {})], 60, ['r1'])).toBe('answer.held.paused');
    expect(judge([asked({}, { state: 'unknown' })], 60)).toBe('answer.held.unknown');
    expect(judge([asked({}, { state: 'claimed' })], 60)).toBe('open');
  });
});
