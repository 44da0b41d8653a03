import { beforeEach, describe, expect, it } from '@jest/globals';
import { silentLogger } from '../../core/logger.js';
import type { Topic } from '../wake-queue.port.js';
import { EffectRig } from '../../../test/builders/effect-rig.js';
import { Executor } from './executor.js';
import { Sweep } from '../recover/sweep.js';
import { saying } from '../../../test/builders/reasons.js';

const label = (name: string) => ({ name, color: '#d73a4a' });

/** Keeps what was announced; hands it to the consumer when told. */
class HeldQueue {
  announced: Array<[Topic, string]> = [];
  isHealthy = true;
  private handle: (id: string) => Promise<void> = async () => undefined;

  async announce(topic: Topic, ids: readonly string[]): Promise<void> {
    for (const id of ids) this.announced.push([topic, id]);
  }

  async consume(_topic: Topic, _concurrency: number, handle: (id: string) => Promise<void>): Promise<void> {
    this.handle = handle;
  }

  async healthy(): Promise<boolean> {
    return this.isHealthy;
  }

  async drain(): Promise<void> {
    for (let next = this.announced.shift(); next; next = this.announced.shift()) await this.handle(next[1]);
  }
}

describe('pipeline/execute/executor', () => {
  let rig: EffectRig;
  let queue: HeldQueue;
  let executor: Executor;

  beforeEach(async () => {
    rig = new EffectRig();
    queue = new HeldQueue();
    executor = new Executor({ queue, effects: rig.effects });
    await executor.start(4);
  });

  it('works on what is announced, and wakes what its end set free', async () => {
    const ids = [];
    for (const name of ['a', 'b', 'c']) ids.push(await rig.plan('label.ensure', label(name)));

    await queue.announce('intent', ids.slice(0, 1));
    await queue.drain();

    expect(rig.forge.writes.map(({ args }) => (args['body'] as { name: string }).name)).toEqual(['a', 'b', 'c']);
  });

  it('takes a wake-up that comes twice, late, or for nothing', async () => {
    const id = await rig.plan('label.ensure', label('a'));

    await queue.announce('intent', [id, id, id]);
    await queue.drain();
    await executor.handle(id);

    expect(rig.written).toEqual(['createLabel']);
  });

  it('finishes what runs when it stops, and takes nothing new', async () => {
    const [running, later] = [
      await rig.plan('label.ensure', label('a')),
      await rig.plan('milestone.ensure', { title: 'x' }),
    ];
    let letGo = (): void => undefined;
    const isReading = new Promise<void>((reached) => {
      rig.forge.answer('listLabels', async () => {
        reached();
        await new Promise<void>((resolve) => (letGo = resolve));
        return [];
      });
    });

    const work = executor.handle(running);
    await isReading;
    const stopped = executor.stop(60_000);
    await executor.handle(later);
    letGo();
    await Promise.all([work, stopped]);

    expect((await rig.journal.intent(running))?.state).toBe('done');
    expect((await rig.journal.intent(later))?.state).toBe('planned');
  });
});

describe('pipeline/recover/sweep', () => {
  let rig: EffectRig;
  let queue: HeldQueue;
  let handled: string[];
  let sweep: Sweep;
  let arrivals: string[];

  beforeEach(() => {
    rig = new EffectRig();
    queue = new HeldQueue();
    handled = [];
    arrivals = [];
    const executor = new Executor({ queue, effects: rig.effects });
    const note =
      (topic: string) =>
      async (id: string): Promise<void> => {
        handled.push(`${topic} ${id}`);
        if (id === 'poison') throw new Error('no');
      };
    sweep = new Sweep({
      decideRun: async () => {},
      journal: rig.journal,
      queue,
      logger: silentLogger,
      inbox: {
        dueArrivals: async () => arrivals,
        undecidedEvents: async () => (arrivals.length > 0 ? ['event-1'] : []),
      },
      recovery: { mayHaveWork: async () => arrivals.length > 0 || rig.journal.mayHaveWork() },
      unknown: rig.unknown,
      handlers: {
        arrival: note('arrival'),
        event: note('event'),
        intent: (id) => executor.handle(id),
        background: (id) => executor.handle(id),
      },
    });
  });

  it('announces what is due where wake-ups flow', async () => {
    arrivals = ['arrival-1'];
    const id = await rig.plan('label.ensure', label('a'));

    await sweep.pass();

    expect(queue.announced).toEqual([
      ['arrival', 'arrival-1'],
      ['event', 'event-1'],
      ['intent', id],
    ]);
    expect(handled).toEqual([]);
  });

  it('announces the background apart from what is waited for, and works on it beside the pass', async () => {
    const background = await rig.plan('label.ensure', label('a'), { tickId: 'tick-1' });
    await sweep.pass();
    expect(queue.announced).toEqual([['background', background]]);
    queue.isHealthy = false;

    await sweep.pass();
    await sweep.stop();

    expect(rig.written).toEqual(['createLabel']);
  });

  it('does the work itself where they do not, from arrival to effect in one pass', async () => {
    queue.isHealthy = false;
    arrivals = ['arrival-1', 'poison'];
    await rig.plan('label.ensure', label('a'));

    await sweep.pass();

    expect(handled).toEqual(['arrival arrival-1', 'arrival poison', 'event event-1']);
    expect(rig.written).toEqual(['createLabel']);
  });

  it('does the work itself where a queue that says it is well does not deliver', async () => {
    arrivals = ['arrival-1'];

    for (let pass = 0; pass < 3; pass += 1) await sweep.pass();

    expect(handled).toEqual(['arrival arrival-1', 'event event-1']);
  });

  it('leaves a backlog that is worked off in its turn to the queue, and does what was passed over', async () => {
    for (const due of [
      ['passed over', 'a', 'b', 'c'],
      ['passed over', 'b', 'c'],
      ['passed over', 'c'],
    ]) {
      arrivals = due;
      await sweep.pass();
    }

    expect(handled.filter((one) => one.startsWith('arrival'))).toEqual(['arrival passed over']);
  });

  it('takes back what a lost owner held, and has unknown outcomes read about', async () => {
    const [claimed, sent] = [
      await rig.plan('label.ensure', label('a')),
      await rig.plan('org_variable.set', { name: 'V', value: 'v' }),
    ];
    await rig.journal.claim(claimed, 'killed', 5_000);
    const claim = await rig.journal.claim(sent, 'killed', 5_000);
    await rig.journal.markSent(sent, claim?.epoch ?? 0, { id: 'x', operation: 'createOrgVariable', requestHash: 'h' });
    rig.clock.advance(60_000);

    await sweep.pass();
    await sweep.stop();

    expect((await rig.journal.intent(claimed))?.state).toBe('planned');
    expect(await rig.journal.intent(sent)).toMatchObject({
      state: 'planned',
      reason: saying(expect.stringContaining('variable V is not there')),
    });
    expect(queue.announced).toEqual([['intent', claimed]]);
  });

  it('looks at once when it starts: nobody announces what a killed process left', async () => {
    const planned = await rig.plan('label.ensure', label('a'));

    sweep.start();
    await sweep.stop();

    expect(queue.announced).toEqual([['intent', planned]]);
  });

  it('asks the store one question while nothing is there, and finds a lost wake-up at its next pass', async () => {
    const asked: string[] = [];
    const journal = new Proxy(rig.journal, {
      get: (store, name: keyof typeof rig.journal) => {
        asked.push(name);
        return (store[name] as () => unknown).bind(store);
      },
    });
    const idle = new Sweep({
      decideRun: async () => {},
      journal,
      recovery: journal,
      queue,
      logger: silentLogger,
      inbox: {
        dueArrivals: async () => (asked.push('dueArrivals'), []),
        undecidedEvents: async () => (asked.push('undecidedEvents'), []),
      },
      unknown: { handle: async () => {}, pass: async () => void asked.push('unknown') },
      handlers: { arrival: async () => {}, event: async () => {}, intent: async () => {}, background: async () => {} },
    });
    for (let pass = 0; pass < 3; pass += 1) await idle.pass();
    expect(asked).toEqual(['mayHaveWork', 'mayHaveWork', 'mayHaveWork']);
    const lost = await rig.plan('label.ensure', label('a'));
    expect(queue.announced).toEqual([]);

    await idle.pass();

    expect(queue.announced).toEqual([['intent', lost]]);
  });

  it('counts anew how often an id was overlooked when there was nothing in between', async () => {
    arrivals = ['arrival-1'];
    for (let pass = 0; pass < 2; pass += 1) await sweep.pass();
    arrivals = [];
    await sweep.pass();
    arrivals = ['arrival-1'];

    for (let pass = 0; pass < 2; pass += 1) await sweep.pass();

    expect(handled).toEqual([]);
  });

  it('survives a store that is away', async () => {
    await rig.plan('label.ensure', label('a'));
    rig.journal.reclaimExpired = async () => Promise.reject(new Error('store away'));

    await expect(sweep.pass()).resolves.toBeUndefined();
  });

  it('joins a pass that runs, and stops after it', async () => {
    const both = [sweep.pass(), sweep.pass()];

    expect(both[0]).toBe(both[1]);
    sweep.start();
    await sweep.stop();
    await Promise.all(both);
  });
});
