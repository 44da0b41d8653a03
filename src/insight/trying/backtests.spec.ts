import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../../test/fakes/manual-clock.js';
import { anEvent } from '../../../test/builders/arrivals.js';
import { silentLogger } from '../../core/logger.js';
import { until } from '../../../test/services/until.js';
import type { HistoryQuery, HistoryAnswer } from '../history-store.port.js';
import { loadLimit } from '../../policies/thread/bounded-rules.js';
import { makeTrial } from '../trial.js';
import { Backtests } from './backtests.js';
import { TryDesk } from './try-desk.js';
import type { Draft, TryOrder } from './try-orders.js';

const TEXT = `version: 1
org: acme
rules:
  - { id: greet, on: tag.created, do: { org_variable.set: { name: LAST, value: "\${{ event.tag }}" } } }
`;

const draft = (text = TEXT): Draft => ({
  org: 'acme',
  name: 'acme',
  files: [{ path: 'a.yaml', text }],
  powers: [],
  secrets: [],
  mirrorHosts: [],
  notifyHosts: [],
  limits: { merges: false, approveAndMerge: false, privateMirrors: false, privateReads: false },
});

const PAGES = 3;

/** Pages of one event each; a page is given out when the test says so. */
function aRig(ends: Partial<Record<TryOrder['kind'], 'late' | 'memory'>> = {}, { isBusy = false } = {}) {
  const clock = new ManualClock();
  const threads: TryOrder[][] = [];
  const asked: HistoryQuery[] = [];
  const opened: boolean[] = [];
  const rests: number[] = [];
  const limits: number[] = [];
  let open = 0;
  const backtests = new (class extends Backtests {
    protected override async sleep(ms: number): Promise<void> {
      rests.push(ms);
    }
  })(
    {
      make: () => {
        const desk = new TryDesk(makeTrial());
        const orders: TryOrder[] = [];
        threads.push(orders);
        return {
          order: async (order, limitMs) => {
            orders.push(order);
            limits.push(limitMs);
            const why = ends[order.kind];
            return why ? { is: 'ended', why, at: -1 } : { is: 'answered', answer: desk.answer(order) };
          },
          stop: async () => undefined,
        };
      },
    },
    {
      page: async (query, isOpen): Promise<HistoryAnswer> => {
        asked.push(query);
        opened.push(isOpen);
        const n = asked.length;
        await until(async () => open >= n);
        clock.advanceMonotonic(10);
        const storedAt = new Date(
          query.since.getTime() + (n / PAGES) * (query.until.getTime() - query.since.getTime()),
        );
        const event = anEvent({ id: `e${n}`, kind: 'tag.created', data: { tag: `v${n}` }, storedAt });
        return { events: [event], runs: [], next: n < PAGES ? event.id : null, bot: null };
      },
    },
    { isBusy: async () => isBusy },
    clock,
    silentLogger,
  );
  return { backtests, clock, asked, opened, limits, rests, threads, give: (pages: number) => (open = pages) };
}

describe('insight/trying/backtests', () => {
  it('tells how far it is, page by page, and then what came of it', async () => {
    const { backtests, asked, give } = aRig();
    expect(backtests.start('ann', draft(), 7, true)).toMatchObject({
      state: 'waiting',
      events: 0,
      done: 0,
      report: null,
    });

    give(1);
    await until(async () => asked.length === 2);
    expect(backtests.of('ann')).toMatchObject({ state: 'running', events: 1, done: expect.closeTo(1 / PAGES) });
    give(PAGES);
    await until(async () => backtests.of('ann')?.state === 'done');

    expect(backtests.of('ann')).toMatchObject({
      events: PAGES,
      done: 1,
      report: { events: PAGES, rules: [{ rule: 'greet', would: { fired: PAGES } }] },
    });
    expect(asked.map(({ after }) => after)).toEqual([null, 'e1', 'e2']);
  });

  it.each([
    ['idle', false, 30],
    ['at work', true, 150],
  ])('rests after each page but the last, while the bot is %s', async (_what, isBusy, ms) => {
    const { backtests, rests, give } = aRig({}, { isBusy });
    backtests.start('ann', draft(), 7, true);
    give(PAGES);
    await until(async () => backtests.of('ann')?.state === 'done');

    expect(rests).toEqual([ms, ms]);
  });

  it('has one back-test for each person: the newer one takes the place', async () => {
    const { backtests, asked, give } = aRig();
    const first = backtests.start('ann', draft(), 7, true);
    await until(async () => asked.length === 1);
    const second = backtests.start('ann', draft(), 1, true);
    const other = backtests.start('bob', draft(), 1, true);

    expect(backtests.of('ann')?.id).toBe(second.id);
    expect(new Set([first.id, second.id, other.id]).size).toBe(3);
    give(99);
    await until(async () => backtests.of('bob')?.state === 'done');

    // The page of the first one was under way; it asked for no other.
    expect(asked.filter(({ since, until: end }) => end.getTime() - since.getTime() > 2 * 86_400_000)).toHaveLength(1);
    expect(backtests.of('ann')?.state).toBe('done');
  });

  it('ends one that is cancelled, and one that nobody asks about any more', async () => {
    for (const leave of [
      (rig: ReturnType<typeof aRig>) => rig.backtests.cancel('ann'),
      (rig: ReturnType<typeof aRig>) => rig.clock.advance(61_000),
    ]) {
      const rig = aRig();
      rig.backtests.start('ann', draft(), 7, true);
      await until(async () => rig.asked.length === 1);
      leave(rig);
      rig.give(PAGES);
      await rig.backtests.stop();

      expect([rig.backtests.of('ann')?.state, rig.asked.length]).toEqual(['cancelled', 1]);
      expect(rig.backtests.cancel('ann')).toBe(false);
    }
  });

  it('goes on with that of another person while one waits for its history, each in a thread of its own', async () => {
    const { backtests, asked, threads, give } = aRig();
    backtests.start('ann', draft(), 30, true);
    await until(async () => asked.length === 1);
    // Everything of ann's waits; her page is the first that is asked for, and comes last.
    backtests.start('bob', draft(), 1, true);
    await until(async () => asked.length === 2);

    expect([backtests.of('ann')?.state, backtests.of('bob')?.state]).toEqual(['running', 'running']);
    expect(threads.map((orders) => orders.map(({ kind }) => kind))).toEqual([['begin'], ['begin']]);
    give(99);
    await until(async () => backtests.of('ann')?.state === 'done' && backtests.of('bob')?.state === 'done');
  });

  it('holds up nobody else for one person who starts again and again while the cancelled ones still work', async () => {
    const { backtests, asked, threads, give } = aRig();
    backtests.start('ann', draft(), 30, true);
    await until(async () => asked.length === 1);
    // The first is cancelled and still waits for its history: those after it get no further thread.
    for (let n = 0; n < 50; n += 1) backtests.start('ann', draft(), 30, true);
    expect(threads).toHaveLength(1);
    backtests.start('bob', draft(), 1, true);
    await until(async () => asked.length === 2);

    expect([backtests.of('ann')?.state, backtests.of('bob')?.state]).toEqual(['waiting', 'running']);
    expect(threads).toHaveLength(2);
    give(99);
    await until(async () => backtests.of('ann')?.state === 'done' && backtests.of('bob')?.state === 'done');
    expect(threads).toHaveLength(3);
  });

  it('lets the fifth person wait for the first that ends, whoever that is', async () => {
    const { backtests, asked, give } = aRig();
    const people = ['ann', 'bob', 'cy', 'dora', 'eve'];
    for (const person of people) backtests.start(person, draft(), 1, true);
    await until(async () => asked.length === 4);
    expect(people.map((person) => backtests.of(person)?.state)).toEqual([...Array(4).fill('running'), 'waiting']);

    backtests.cancel('cy');
    give(99);
    await until(async () => backtests.of('eve')?.state === 'done');
    await backtests.stop();
  });

  it.each([true, false])('asks for history with what is sealed only where the person sees it: %s', async (isOpen) => {
    const { backtests, opened, give } = aRig();
    give(99);
    backtests.start('ann', draft(), 7, isOpen);
    await until(async () => backtests.of('ann')?.state === 'done');

    expect(opened).toEqual(Array(PAGES).fill(isOpen));
  });

  it('gives each rule of an event the time to be ended and to have all files loaded again', async () => {
    const limitsFor = async (files: number): Promise<number | undefined> => {
      const { backtests, limits, give } = aRig();
      give(99);
      const { files: own, ...rest } = draft();
      const empty = Array.from({ length: files }, (_, n) => ({
        path: `${n}.yaml`,
        text: 'version: 1\norg: acme\nrules: []\n',
      }));
      backtests.start('ann', { ...rest, files: [...own, ...empty] }, 7, true);
      await until(async () => backtests.of('ann')?.state === 'done');
      return limits[1];
    };
    const load = (files: number) => loadLimit(Array(files + 1).fill(draft().files[0]));
    const [few = 0, many = 0] = [await limitsFor(0), await limitsFor(20)];

    expect(few).toBeGreaterThan(load(0));
    expect(many - few).toBe(load(20) - load(0));
  });

  it('orders one event at a time, with time for each rule', async () => {
    const { backtests, threads, give } = aRig();
    give(99);
    backtests.start('ann', draft(), 7, true);
    await until(async () => backtests.of('ann')?.state === 'done');

    expect(threads[0]?.map((order) => (order.kind === 'add' ? order.page.events.length : order.kind))).toEqual([
      'begin',
      ...Array(PAGES).fill(1),
      'report',
    ]);
  });

  it('says where a draft is wrong, and that one takes too much', async () => {
    const refused = aRig();
    refused.backtests.start('ann', draft('version: 1\norg: acme\nrulez: []\n'), 7, true);
    await until(async () => refused.backtests.of('ann')?.state === 'refused');
    expect(refused.backtests.of('ann')?.problems).toMatchObject([{ file: 'a.yaml', line: 3 }]);

    const late = aRig({ add: 'late' });
    late.backtests.start('ann', draft(), 7, true);
    late.give(1);
    await until(async () => late.backtests.of('ann')?.state === 'failed');
    expect(late.backtests.of('ann')?.failure).toContain('takes too long');
  });
});
