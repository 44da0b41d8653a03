import { beforeEach, describe, expect, it } from '@jest/globals';
import { silentLogger } from '../../core/logger.js';
import { EffectRig } from '../../../test/builders/effect-rig.js';
import { until } from '../../../test/services/until.js';
import { Executor, IntentHands } from './executor.js';

const label = (name: string) => ({ name, color: '#d73a4a' });

describe('pipeline/execute/executor', () => {
  let rig: EffectRig;
  let executor: Executor;
  let rung: string[];

  function anExecutor(hands: IntentHands = new IntentHands()): Executor {
    const queue = {
      ring: (topic: string, org: string) => void rung.push(`${topic} of ${org}`),
      serve: async () => undefined,
    };
    const { journal, effects, clock } = rig;
    return new Executor(queue, journal, effects, hands, clock, silentLogger);
  }

  beforeEach(() => {
    rig = new EffectRig();
    rung = [];
    executor = anExecutor();
  });

  const named = (): unknown[] => rig.forge.writes.map(({ args }) => (args['body'] as { name: string }).name);

  it('deals what is due, and goes on in the same hand with what its end set free', async () => {
    for (const name of ['a', 'b', 'c']) await rig.plan('label.ensure', label(name));

    expect(await executor.turn('intents', 'acme')).toBe(false);

    await until(() => rig.forge.writes.length === 3);
    expect(named()).toEqual(['a', 'b', 'c']);
    expect(rung).toEqual([]);
  });

  it('has turns for nothing, of an organization or a topic that has nothing due', async () => {
    await rig.plan('label.ensure', label('a'));

    expect([await executor.turn('intents', 'other'), await executor.turn('background', 'acme')]).toEqual([
      false,
      false,
    ]);
    await executor.stop(0);

    expect(rig.written).toEqual([]);
  });

  it('deals what a schedule caused to the background alone', async () => {
    await rig.plan('label.ensure', label('a'), { tickId: 'tick-1' });
    await executor.turn('intents', 'acme');
    expect(rig.written).toEqual([]);

    await executor.turn('background', 'acme');

    await until(() => rig.written.length === 1);
  });

  it('makes each effect once, however many turns there are at once', async () => {
    await rig.plan('label.ensure', label('a'));

    await Promise.all([executor, anExecutor(), anExecutor()].map((one) => one.turn('intents', 'acme')));
    await until(() => rig.written.length > 0);
    await executor.turn('intents', 'acme');
    await executor.stop(60_000);

    expect(rig.written).toEqual(['createLabel']);
  });

  it('finishes what runs when it stops, and takes nothing new', async () => {
    const running = await rig.plan('label.ensure', label('a'));
    const later = await rig.plan('milestone.ensure', { title: 'x' });
    let letGo = (): void => undefined;
    const isReading = new Promise<void>((reached) => {
      rig.forge.answer('listLabels', async () => {
        reached();
        await new Promise<void>((resolve) => (letGo = resolve));
        return [];
      });
    });

    await executor.turn('intents', 'acme');
    await isReading;
    const stopped = executor.stop(60_000);
    expect(await executor.turn('intents', 'acme')).toBe(false);
    letGo();
    await stopped;

    expect((await rig.journal.intent(running))?.state).toBe('done');
    expect((await rig.journal.intent(later))?.state).toBe('planned');
  });
});
