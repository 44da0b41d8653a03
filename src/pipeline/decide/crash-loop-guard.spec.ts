import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { silentLogger } from '../../core/logger.js';
import { textOf } from '../../core/reason.js';
import type { BeginWork, PoisonMessageStore } from '../poison-message-store.port.js';
import { CrashLoopGuard, CrashLoopTimes } from './crash-loop-guard.js';

const STARTED_MS = Date.parse('2026-11-20T12:00:00Z');
const REASON = 'processes ended while they decided it: nobody decides it again until `forgehand release';

/** An id that was made so long after the process started (before it: negative). */
function idOf(afterMs: number, last = 1): string {
  const hex = (STARTED_MS + afterMs).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${String(last).padStart(12, '0')}`;
}

interface Begun extends BeginWork {
  /** The same for each of them. */
  readonly answer: (deaths: number | null) => void;
}

function allWith({ ids }: BeginWork, deaths: number | null): ReadonlyMap<string, number> {
  return new Map(deaths === null ? [] : ids.map((id) => [id, deaths]));
}

/** Work that ends when the test says so. */
class Work {
  begun = 0;
  private readonly ends: Array<() => void> = [];

  readonly run = (): Promise<void> => {
    this.begun += 1;
    return new Promise((resolve) => this.ends.push(resolve));
  };

  end(): void {
    for (const end of this.ends.splice(0)) end();
  }
}

describe('CrashLoopGuard', () => {
  let livedMs: number;
  let deaths: number | null | 'asked';
  let told: string[];
  let begun: Begun[];
  let ended: string[];
  let renewed: string[];
  let watch: CrashLoopGuard;

  /** Timers that run, with how often each fires; the test fires them. */
  const timers = new Map<object, { fire: () => void; everyMs: number }>();
  const { setInterval, clearInterval, setTimeout, clearTimeout } = globalThis;
  afterEach(() => void Object.assign(globalThis, { setInterval, clearInterval, setTimeout, clearTimeout }));

  /** Everything that is settled now has gone on. */
  const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

  beforeEach(() => {
    timers.clear();
    const ownTimer = (fire: () => void, everyMs: number): object => {
      const timer = { unref: () => undefined };
      timers.set(timer, { fire, everyMs });
      return timer;
    };
    const clearTimer = (timer: object): boolean => timers.delete(timer);
    Object.assign(globalThis, {
      setInterval: ownTimer,
      clearInterval: clearTimer,
      setTimeout: ownTimer,
      clearTimeout: clearTimer,
    });
    livedMs = 0;
    deaths = 0;
    told = [];
    begun = [];
    ended = [];
    renewed = [];
    const store: PoisonMessageStore = {
      begin: (work) =>
        new Promise((resolve) => {
          const answer = (given: number | null): void => resolve(allWith(work, given));
          begun.push({ ...work, answer });
          if (deaths !== 'asked') answer(deaths);
        }),
      renew: async (topic, ids, owner, leaseMs) => void renewed.push(`${topic} ${ids.join()} ${owner} ${leaseMs}`),
      end: async (topic, ids, owner) => void ended.push(`${topic} ${ids.join()} ${owner}`),
      quarantine: async (topic, id, reason) => void told.push(`quarantined ${topic} ${id}: ${reason}`),
      quarantined: async () => [],
      release: async () => false,
    };
    watch = watchOver(store, { leaseMs: 30 });
  });

  function watchOver(
    store: PoisonMessageStore,
    times: { leaseMs?: number; aloneAfterMs?: number } = {},
  ): CrashLoopGuard {
    return new CrashLoopGuard(
      store,
      { name: 'p1', startedAt: new Date(STARTED_MS) },
      { ...new CrashLoopTimes(), ...times },
      { now: () => new Date(STARTED_MS + livedMs), monotonicMs: () => 77 + livedMs },
      {
        raise: (key, raised, facts) => void told.push(`alert ${key} ${textOf(raised)} ${JSON.stringify(facts)}`),
      },
      {
        ...silentLogger,
        error: (facts, message) => void told.push(`error ${message} ${JSON.stringify(facts)}`),
      },
    );
  }

  async function runs(id: string): Promise<boolean> {
    let isRun = false;
    await watch.run('event', id, async () => void (isRun = true));
    return isRun;
  }

  describe('ordinary work', () => {
    it('is done as it comes, and nothing is written down', async () => {
      expect([await runs(idOf(0)), await runs(idOf(5))]).toEqual([true, true]);
      expect([begun, ended]).toEqual([[], []]);
    });

    it('is what was made up to half a minute ago', async () => {
      livedMs = 40_000;

      expect(await runs(idOf(10_000))).toBe(true);
      expect(begun).toEqual([]);
    });

    it('is what has an id that tells no time', async () => {
      expect([await runs('17'), await runs(`x${idOf(-1)}`), await runs(idOf(-1).replace('-7', '-4'))]).toEqual([
        true,
        true,
        true,
      ]);
      expect(begun).toEqual([]);
    });
  });

  describe('what lay there when the process started', () => {
    it('is written down before it begins, and crossed out when it is done', async () => {
      const id = idOf(-1);
      const work = new Work();
      const running = watch.run('arrival', id, work.run);
      await turn();

      expect(begun).toMatchObject([{ topic: 'arrival', ids: [id], owner: 'p1', leaseMs: 30, dares: 0 }]);
      expect([work.begun, ended]).toEqual([1, []]);
      work.end();
      await running;
      expect(ended).toEqual([`arrival ${id} p1`]);
    });

    it('so is what is older than half a minute', async () => {
      livedMs = 40_001;

      expect(await runs(idOf(10_000))).toBe(true);
      expect(begun).toHaveLength(1);
    });

    it('is crossed out when it failed as well: the process lives', async () => {
      await expect(watch.run('event', idOf(-1), () => Promise.reject(new Error('no')))).rejects.toThrow('no');
      expect(ended).toEqual([`event ${idOf(-1)} p1`]);
    });

    it('is begun once, however often it is announced meanwhile, and again when it is done', async () => {
      const work = new Work();
      const running = watch.run('event', idOf(-1), work.run);
      await watch.run('event', idOf(-1), work.run);
      await turn();
      expect([begun.length, work.begun]).toEqual([1, 1]);
      work.end();
      await running;

      expect(await runs(idOf(-1))).toBe(true);
      expect(begun).toHaveLength(2);
    });

    it('is told apart by topic and id', async () => {
      const work = new Work();
      const running = [
        watch.run('event', idOf(-1), work.run),
        watch.run('arrival', idOf(-1), work.run),
        watch.run('event', idOf(-1, 2), work.run),
      ];
      await turn();

      expect(work.begun).toBe(3);
      work.end();
      await Promise.all(running);
    });

    it('is held as long as the work goes on, and not longer', async () => {
      const work = new Work();
      const running = watch.run('event', idOf(-1), work.run);
      await turn();
      expect([...timers.values()].map(({ everyMs }) => everyMs)).toEqual([10]);
      for (const { fire } of timers.values()) fire();
      expect(renewed).toEqual([`event ${idOf(-1)} p1 30`]);

      work.end();
      await running;
      expect(timers.size).toBe(0);
    });

    it('is held for five seconds where nothing else is said', async () => {
      const store = {
        begin: async (work: BeginWork) => (begun.push({ ...work, answer: () => undefined }), allWith(work, 0)),
        renew: async (...args: unknown[]) => void renewed.push(args.join(' ')),
        end: async () => undefined,
      };
      watch = watchOver(store as unknown as PoisonMessageStore);
      const work = new Work();
      const running = watch.run('event', idOf(-1), work.run);
      await turn();
      for (const { fire, everyMs } of timers.values()) if (Math.round(everyMs) === 1_667) fire();
      work.end();
      await running;

      expect(begun).toMatchObject([{ leaseMs: 5_000 }]);
      expect(renewed).toEqual([`event ${idOf(-1)} p1 5000`]);
    });

    it('goes on when a renewal fails', async () => {
      let tried = 0;
      const away = (): Promise<never> => {
        tried += 1;
        return Promise.reject(new Error('the store is away'));
      };
      watch = watchOver(
        {
          begin: async (work: BeginWork) => allWith(work, 0),
          renew: away,
          end: async () => undefined,
        } as unknown as PoisonMessageStore,
        { leaseMs: 6 },
      );
      const work = new Work();
      const running = watch.run('event', idOf(-1), work.run);
      await turn();
      for (const { fire } of timers.values()) fire();
      await turn();
      work.end();

      await expect(running).resolves.toBeUndefined();
      expect(tried).toBe(1);
    });
  });

  describe('what a process died with', () => {
    beforeEach(() => {
      // Somebody else has it, or it is to be taken alone.
      deaths = 'asked';
    });

    /** Answers the last question. */
    async function answers(given: number | null): Promise<void> {
      await turn();
      begun.at(-1)?.answer(given);
      await turn();
    }

    it('is left to others while this process is younger than ten seconds', async () => {
      livedMs = 9_999;
      const work = new Work();
      const running = watch.run('event', idOf(-1), work.run);
      await answers(null);
      await running;

      expect([begun.length, work.begun, ended]).toEqual([1, 0, []]);
    });

    it.each([
      [10_000, 1],
      [59_999, 1],
      [60_000, 2],
      [600_000, 2],
    ])('is taken alone from then on: after %d ms what had fewer deaths than %d', async (after, dares) => {
      livedMs = after;
      const work = new Work();
      const running = watch.run('event', idOf(-1), work.run);
      await answers(null);
      await answers(2);

      expect(begun.map((one) => one.dares)).toEqual([0, dares]);
      expect(work.begun).toBe(1);
      work.end();
      await running;
      expect(ended).toEqual([`event ${idOf(-1)} p1`]);
    });

    it('as soon as it is said', async () => {
      watch = watchOver(
        {
          begin: async (work: BeginWork) => allWith(work, work.dares > 1 ? 2 : null),
          end: async () => undefined,
        } as unknown as PoisonMessageStore,
        {
          aloneAfterMs: 0,
        },
      );

      expect(await runs(idOf(-1))).toBe(true);
    });

    it('waits until other such work in hand has ended, and lets none begin meanwhile', async () => {
      livedMs = 10_000;
      const [other, alone, late] = [new Work(), new Work(), new Work()];
      const before = watch.run('event', idOf(-1, 2), other.run);
      await answers(0);
      const running = watch.run('event', idOf(-1), alone.run);
      await answers(null);
      await watch.run('event', idOf(-1, 3), late.run);
      expect([begun.length, alone.begun, late.begun]).toEqual([2, 0, 0]);

      other.end();
      await before;
      await answers(1);

      expect(alone.begun).toBe(1);
      alone.end();
      await running;
      expect(timers.size).toBe(0);
    });

    it('waits for five seconds, and is tried again ten seconds later', async () => {
      livedMs = 10_000;
      const [slow, alone, late] = [new Work(), new Work(), new Work()];
      const before = watch.run('event', idOf(-1, 2), slow.run);
      await answers(0);
      const running = watch.run('event', idOf(-1), alone.run);
      await answers(null);
      livedMs = 15_000;
      for (const { fire, everyMs } of timers.values()) if (everyMs === 5_000) fire();
      await running;
      expect([begun.length, alone.begun]).toEqual([2, 0]);

      livedMs = 24_999;
      const early = watch.run('event', idOf(-1), alone.run);
      await answers(null);
      await early;
      const beside = watch.run('event', idOf(-1, 3), late.run);
      await answers(0);
      expect([alone.begun, late.begun]).toEqual([0, 1]);

      livedMs = 25_000;
      const again = watch.run('event', idOf(-1), alone.run);
      await answers(null);
      slow.end();
      late.end();
      await Promise.all([before, beside]);
      await answers(1);
      expect(alone.begun).toBe(1);
      alone.end();
      await again;
    });

    it('keeps nobody waiting again for ten seconds, where it had more deaths than are dared', async () => {
      livedMs = 10_000;
      const work = new Work();
      const tries = async (...given: ReadonlyArray<number | null>): Promise<void> => {
        const running = watch.run('event', idOf(-1), work.run);
        for (const deathsOf of given) await answers(deathsOf);
        work.end();
        await running;
      };
      await tries(null, null);
      livedMs = 19_999;
      await tries(null);
      expect([begun.map((one) => one.dares), work.begun]).toEqual([[0, 1, 0], 0]);

      livedMs = 20_000;
      await tries(null, 1);

      expect(work.begun).toBe(1);
    });

    it('lets nothing of the kind begin beside it, from the question on', async () => {
      livedMs = 10_000;
      const alone = new Work();
      const running = watch.run('event', idOf(-1), alone.run);
      await answers(null);
      const beside = new Work();
      await watch.run('event', idOf(-1, 2), beside.run);
      expect([begun.length, beside.begun]).toEqual([2, 0]);
      await answers(2);
      await watch.run('event', idOf(-1, 2), beside.run);
      expect(beside.begun).toBe(0);

      alone.end();
      await running;
      const after = watch.run('event', idOf(-1, 2), beside.run);
      await answers(1);
      expect(beside.begun).toBe(1);
      beside.end();
      await after;
    });

    it('lets one of two that ask at the same time be alone, and takes the other after it', async () => {
      livedMs = 10_000;
      const works = [new Work(), new Work()];
      const running = works.map((work, n) => watch.run('event', idOf(-1, n), work.run));
      await turn();
      for (const { answer } of begun) answer(null);
      await turn();

      const [only, ...others] = begun.filter(({ dares }) => dares > 0);
      expect(others).toEqual([]);
      only?.answer(1);
      await turn();
      expect(works.map((work) => work.begun)).toEqual([1, 0]);
      works[0]?.end();
      await answers(1);
      expect(works.map((work) => work.begun)).toEqual([1, 1]);
      works[1]?.end();
      await Promise.all(running);
    });

    it('goes one after another without a further wake-up, however many a process died with', async () => {
      livedMs = 10_000;
      let most = 0;
      let inWork = 0;
      const done: number[] = [];
      const store = {
        begin: async (work: BeginWork) => allWith(work, work.dares > 0 ? 1 : null),
        end: async () => undefined,
      };
      watch = watchOver(store as unknown as PoisonMessageStore);
      livedMs = 20_000;

      await Promise.all(
        Array.from({ length: 129 }, (_, n) =>
          watch.run('arrival', idOf(-1, n), async () => {
            most = Math.max(most, ++inWork);
            await turn();
            inWork -= 1;
            done.push(n);
          }),
        ),
      );

      expect([done.length, most]).toEqual([129, 1]);
    });

    it('leaves ordinary work alone', async () => {
      livedMs = 10_000;
      const alone = new Work();
      const running = watch.run('event', idOf(-1), alone.run);
      await answers(null);
      await answers(2);

      expect(await runs(idOf(9_000))).toBe(true);
      alone.end();
      await running;
    });

    it('is not taken where somebody has it: others go on', async () => {
      livedMs = 10_000;
      const running = watch.run('event', idOf(-1), new Work().run);
      await answers(null);
      await answers(null);
      await running;
      expect(ended).toEqual([]);

      const work = new Work();
      const after = watch.run('event', idOf(-1, 2), work.run);
      await answers(1);
      expect(work.begun).toBe(1);
      work.end();
      await after;
    });
  });

  describe('what was in hand at three deaths', () => {
    it.each([1, 2])('is done at %d', async (count) => {
      deaths = count;

      expect(await runs(idOf(-1))).toBe(true);
      expect(told).toEqual([]);
    });

    it.each([3, 4])('is left alone at %d, and a person is told how to let it go', async (count) => {
      deaths = count;
      const id = idOf(-1);

      expect(await runs(id)).toBe(false);
      expect(told).toEqual([
        `quarantined event ${id}: ${count} ${REASON} ${id}\``,
        `error work.quarantined ${JSON.stringify({ topic: 'event', id, deaths: count })}`,
        `alert work.quarantined/${id} event ${id}: ${count} ${REASON} ${id}\` ${JSON.stringify({ topic: 'event', id })}`,
      ]);
      expect(ended).toEqual([]);
    });
  });

  describe('a turn', () => {
    const [old, older, fresh] = [idOf(-1), idOf(-2), idOf(5)];
    let dealt: string[];
    let done: string[][];

    beforeEach(() => {
      dealt = [older, old, fresh];
      done = [];
    });

    const aTurn = () =>
      watch.batch(
        'arrival',
        async (except) => dealt.filter((id) => !except.includes(id)),
        async (ids) => void done.push([...ids]),
      );

    it('of ordinary work is done as it is dealt, and nothing is written down', async () => {
      dealt = [fresh, idOf(6)];

      expect(await aTurn()).toEqual({ dealt: 2, isHeldUp: false });
      expect([done, begun]).toEqual([[dealt], []]);
    });

    it('of what lay there is written down in one go, and done together with the others, in their order', async () => {
      expect(await aTurn()).toEqual({ dealt: 3, isHeldUp: false });

      expect(begun).toMatchObject([{ topic: 'arrival', ids: [older, old], owner: 'p1', dares: 0 }]);
      expect(done).toEqual([[older, old, fresh]]);
      expect(ended).toEqual([`arrival ${older},${old} p1`]);
    });

    it('goes on without what a process died with, which is done alone when it is dealt again', async () => {
      livedMs = 10_000;
      const asked: BeginWork[] = [];
      const store = {
        begin: async (work: BeginWork) => {
          asked.push(work);
          return new Map(work.ids.flatMap((id) => (id !== older ? [[id, 0]] : work.dares > 0 ? [[id, 1]] : [])));
        },
        end: async (_topic: string, ids: readonly string[]) => void ended.push(ids.join()),
      };
      watch = watchOver(store as unknown as PoisonMessageStore);
      livedMs = 20_000;

      expect(await aTurn()).toEqual({ dealt: 3, isHeldUp: false });
      await watch.settled();
      dealt = [older];
      expect(await aTurn()).toEqual({ dealt: 0, isHeldUp: false });
      expect(done).toEqual([[old, fresh]]);
      livedMs = 21_000;
      expect(await aTurn()).toEqual({ dealt: 1, isHeldUp: false });
      await watch.settled();

      expect(done).toEqual([[old, fresh], [older]]);
      expect(asked.map(({ ids, dares }) => [ids, dares])).toEqual([
        [[older, old], 0],
        [[older], 0],
        [[older], 1],
      ]);
      expect(ended).toEqual([old, older]);
    });

    it('takes for no death what another process had in hand a moment ago', async () => {
      livedMs = 20_000;
      deaths = null;
      expect(await aTurn()).toEqual({ dealt: 3, isHeldUp: false });
      await watch.settled();

      expect(begun.map(({ dares }) => dares)).toEqual([0]);
    });

    it('is held up while something is decided alone, but for what came since', async () => {
      livedMs = 10_000;
      deaths = 'asked';
      const alone = new Work();
      const running = watch.run('event', idOf(-1, 7), alone.run);
      await turn();
      begun.at(-1)?.answer(null);
      await turn();
      begun.at(-1)?.answer(1);
      await turn();

      dealt = [older, old, idOf(9_000)];
      expect(await aTurn()).toEqual({ dealt: 3, isHeldUp: true });
      expect(done).toEqual([[idOf(9_000)]]);
      alone.end();
      await running;
    });

    it('ends with what failed, and crosses it out', async () => {
      const failing = watch.batch(
        'arrival',
        async () => dealt,
        () => Promise.reject(new Error('no')),
      );

      await expect(failing).rejects.toThrow('no');
      expect(ended).toEqual([`arrival ${older},${old} p1`]);
    });
  });
});
