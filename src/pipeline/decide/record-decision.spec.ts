import { beforeEach, describe, expect, it } from '@jest/globals';
import { aRun, anIntent } from '../../../test/builders/journal.js';
import { because } from '../../../test/builders/reasons.js';
import { Encryptor } from '../../core/encryptor.js';
import type { NewIntent, NewRun } from '../../core/run.js';
import { runReason } from '../../core/run-reasons.js';
import { Secret } from '../../core/secret.js';
import type { Plan } from './plan-intents.js';
import { DecisionRecorder, verdictOf } from './record-decision.js';

describe('pipeline/decide/record-decision', () => {
  let due: string[];
  let gathered: string[] | null;
  let written: NewRun | null;
  let happened: string[];
  let lines: Array<[object, string]>;
  let recorder: DecisionRecorder;

  beforeEach(() => {
    [due, gathered, written, happened, lines] = [[], [], null, [], []];
    recorder = new DecisionRecorder(
      {
        recordDecision: async (decided, plans) => {
          happened.push(`recorded ${JSON.stringify(decided)}: ${plans.map(({ run }) => run.id).join()}`);
          return due;
        },
        decideGathered: async ({ run }) => (happened.push(`gathered ${run.id}`), gathered),
        run: async () => written as never,
        hastenRuns: async (ids) => void happened.push(`hastened ${ids.join()}`),
      },
      { ring: (topic, org) => void happened.push(`${topic} of ${org}`) },
      { keep: async ({ run }) => void happened.push(`found ${run.id}`) },
      new Encryptor(new Secret('ab'.repeat(32))),
      {
        runs: {
          inc: (({ org, rule, verdict }: Record<string, string>) =>
            void happened.push(`counted ${org} ${rule} ${verdict}`)) as never,
        },
      },
      {
        raise: (key, reason, facts) => void happened.push(`raised ${key} ${reason.code} ${JSON.stringify(facts)}`),
        resolve: (key) => void happened.push(`resolved ${key}`),
      },
      {
        debug: () => undefined,
        info: (facts: object, name: string) => void lines.push([facts, name]),
        warn: () => undefined,
        error: () => undefined,
      } as never,
    );
  });

  const plan = (run: Partial<NewRun> = {}, intents: NewIntent[] = [], over: Partial<Plan> = {}): Plan => ({
    run: aRun(run),
    intents,
    ...over,
  });

  it('writes all of a decision at once, then tells about it, and rings for what is due under its topic', async () => {
    due = ['i1', 'i2', 'i3'];
    const intents = [
      anIntent({ id: 'i1' }),
      anIntent({ id: 'i2', background: true }),
      anIntent({ id: 'i3' }),
      anIntent({ id: 'i4', approval: 'wanted' }),
    ];

    await recorder.record({ eventId: 'e1' }, [plan({ id: 'a' }, intents), plan({ id: 'b', state: 'not-fired' })]);

    expect(happened).toEqual([
      'recorded {"eventId":"e1"}: a,b',
      'counted acme r1 fired',
      'raised rule.approval/acme/r1 rule.approval {"runId":"a","waiting":1}',
      'counted acme r1 not-fired',
      'intents of acme',
      'background of acme',
    ]);
    expect(lines).toEqual([
      [
        expect.objectContaining({
          runId: 'a',
          org: 'acme',
          rule: 'r1',
          cause: 'event',
          state: 'open',
          reason: 'wanted',
          code: because('wanted').code,
          intents: 4,
          waiting: 1,
        }),
        'run.decided',
      ],
      [expect.objectContaining({ runId: 'b', state: 'not-fired', intents: 0, waiting: 0 }), 'run.decided'],
    ]);
  });

  it('rings for nobody where nothing is due', async () => {
    await recorder.record({}, [plan({}, [anIntent()])]);

    expect(happened).toEqual(['recorded {}: run-1', 'counted acme r1 fired']);
  });

  it('tells what a policy found before it is written that it was asked', async () => {
    await recorder.record({ tickId: 't' }, [plan({ id: 'p' }, [], { findings: [] } as never), plan({ id: 'q' })]);

    expect(happened.slice(0, 2)).toEqual(['found p', 'recorded {"tickId":"t"}: p,q']);
  });

  it('does not count what still gathers, and tells as it was written what may be written otherwise', async () => {
    await recorder.record({}, [plan({ state: 'gathering' })]);
    written = aRun({ state: 'cancelled', reason: runReason('run.held.limit', { limit: 3 } as never) });
    await recorder.record({}, [plan({}, [], { runsPerHour: 3 } as never)]);
    written = null;
    await recorder.record({}, [plan({}, [], { runsPerHour: 3 } as never)]);

    expect(happened).toEqual([
      'recorded {}: run-1',
      'recorded {}: run-1',
      'counted acme r1 fired',
      'raised rule.held/acme/r1 rule.held {"runId":"run-1"}',
      'recorded {}: run-1',
      'counted acme r1 fired',
      'resolved rule.held/acme/r1',
    ]);
    expect(lines.map(([facts]) => (facts as { state: string }).state)).toEqual(['gathering', 'cancelled', 'open']);
  });

  it('decides a run whose window is over once, whichever process asks', async () => {
    gathered = ['i1'];
    expect(await recorder.recordGathered(plan({}, [anIntent({ id: 'i1' })]))).toBe(true);
    expect(happened).toEqual(['gathered run-1', 'counted acme r1 fired', 'intents of acme']);

    [gathered, happened] = [null, []];
    expect(await recorder.recordGathered(plan())).toBe(false);
    expect(happened).toEqual(['gathered run-1']);
  });

  it('rings once for what was written with its event, and not where all of it waits for consent', async () => {
    const intents = [
      anIntent({ id: 'i1', orderKey: 'a', stepNo: 2 }),
      anIntent({ id: 'i2', orderKey: 'a', stepNo: 2 }),
      anIntent({ id: 'i3', orderKey: 'b', stepNo: 2, approval: 'wanted' }),
      anIntent({ id: 'i4', orderKey: 'b', stepNo: 2 }),
      anIntent({ id: 'i5', orderKey: 'c', stepNo: 3 }),
    ];

    await recorder.written([{ runs: [plan({}, intents), plan({ id: 'other' })] }], []);
    await recorder.written([{ runs: [plan({}, [anIntent({ id: 'i6', approval: 'wanted' })])] }], []);

    expect(happened).toEqual([
      'counted acme r1 fired',
      'raised rule.approval/acme/r1 rule.approval {"runId":"run-1","waiting":1}',
      'counted acme r1 fired',
      'intents of acme',
      'counted acme r1 fired',
      'raised rule.approval/acme/r1 rule.approval {"runId":"run-1","waiting":1}',
    ]);
  });

  it('counts a run by what came of its rule', () => {
    const of = (state: NewRun['state']) => verdictOf({ run: aRun({ state }) });

    expect([of('not-fired'), of('error'), of('open'), of('done'), of('cancelled')]).toEqual([
      'not-fired',
      'error',
      'fired',
      'fired',
      'fired',
    ]);
  });
});
