import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { InMemoryCursorStore } from '../../test/fakes/in-memory-cursor-store.js';
import { InMemoryInboxStore } from '../../test/fakes/in-memory-inbox-store.js';
import { ManualClock } from '../../test/fakes/manual-clock.js';
import { ForgeError } from '../core/errors.js';
import { silentLogger } from '../core/logger.js';
import type { FeedPollerDeps } from './feed-poller.js';
import { FeedPoller, lookingBack } from './feed-poller.js';

const STARTED_AT = new Date('2026-11-20T12:00:00.400Z');
const BEFORE = '2026-11-20T11:59:59Z';
const AFTER = '2026-11-20T12:00:00Z';

interface Row {
  id: string;
  created: string;
}

/** A feed as a server shows it: newest first by the second, rows of one second in any order, cut into pages. */
function aWorld(options: { pageSize?: number; maxPages?: number } = {}) {
  const rows: Row[] = [];
  const inbox = new InMemoryInboxStore();
  const rung: string[] = [];
  const clock = new ManualClock(STARTED_AT.toISOString());
  const cursors = new InMemoryCursorStore(() => clock.now());
  const state = {
    show: null as ((page: number) => unknown[]) | null,
    calls: 0,
    beforePage: (_page: number): void => {},
    shuffle: (same: Row[]): Row[] => same,
  };
  const pageSize = options.pageSize ?? 3;
  const deps: FeedPollerDeps = {
    inbox,
    cursors,
    clock,
    logger: silentLogger,
    startedAt: STARTED_AT,
    queue: { ring: (topic, org) => void rung.push(`${topic} of ${org}`) },
    client: {
      listOrgFeed: async ({ page = 1 }) => {
        state.calls += 1;
        state.beforePage(page);
        if (state.show) return state.show(page) as never;
        const seconds = [...new Set(rows.map(({ created }) => created))].sort().reverse();
        const shown = seconds.flatMap((second) =>
          state.shuffle(rows.filter(({ created }) => created === second)).reverse(),
        );
        return shown
          .slice((page - 1) * pageSize, page * pageSize)
          .map((row) => ({ ...row, op_type: 'create_repo' })) as never;
      },
    },
    ...(options.maxPages === undefined ? {} : { maxPages: options.maxPages }),
  };
  const stored = async (): Promise<string[]> =>
    (await inbox.list({ limit: 10_000 }))
      .filter(({ state: s }) => s === 'stored')
      .map(({ eventType }) => eventType)
      .reverse();
  return {
    clock,
    rows,
    inbox,
    cursors,
    rung,
    state,
    stored,
    client: deps.client,
    poller: (over: Partial<FeedPollerDeps> = {}) =>
      new FeedPoller({ ...deps, ...over }, { forge: 'main', org: 'acme' }),
  };
}

const at = (second: number): string => new Date(Date.parse(AFTER) + second * 1000).toISOString();
const row = (id: number, created = AFTER): Row => ({ id: String(id), created });

describe('polling/feed-poller', () => {
  it('takes what is older than the first start as history, known and without events', async () => {
    const world = aWorld();
    world.rows.push(row(1, BEFORE), row(2, BEFORE), row(3, AFTER));

    const poll = await world.poller().poll();

    expect(await world.stored()).toEqual(['3']);
    expect(poll).toMatchObject({ stored: 1, complete: true });
    expect((await world.inbox.list({ limit: 10 })).find(({ eventType }) => eventType === '2')).toMatchObject({
      state: 'decided',
      reason: 'from before the first start',
    });
  });

  it('takes rows whose keys are forgotten as history, whatever their ids, and new ones as news', async () => {
    const world = aWorld({ pageSize: 50 });
    const historyDays = 400;
    world.rows.push(row(1, BEFORE));
    await world.poller({ historyDays }).poll();
    for (let id = 2; id <= 60; id += 1) world.rows.push(row(id, at(id)));
    await world.poller({ historyDays }).poll();
    expect(await world.stored()).toHaveLength(59);

    for (const days of [401, 599]) {
      world.clock.advance(days * 86_400_000);
      const inbox = new InMemoryInboxStore();
      world.rows.push(row(60 + days, world.clock.now().toISOString()));
      for (let poll = 0; poll < 3; poll += 1) await world.poller({ historyDays, inbox }).poll();

      const stored = (await inbox.list({ limit: 99 })).filter(({ state }) => state === 'stored');
      expect(stored.map(({ eventType }) => eventType)).toEqual([String(60 + days)]);
    }
  });

  it('never lets history begin earlier than it did, not even when the clock goes back', async () => {
    const world = aWorld();
    world.rows.push(row(1, AFTER));
    world.clock.advance(401 * 86_400_000);
    await world.poller({ historyDays: 400 }).poll();
    world.clock.advance(-401 * 86_400_000);
    const inbox = new InMemoryInboxStore();

    await world.poller({ historyDays: 400, inbox }).poll();

    expect((await inbox.list({ limit: 9 })).map(({ state }) => state)).toEqual(['decided']);
  });

  it('keeps the first start over restarts', async () => {
    const world = aWorld();
    world.rows.push(row(1, BEFORE));
    await world.poller().poll();
    world.rows.push(row(2, AFTER));

    await world.poller().poll();

    expect(await world.stored()).toEqual(['2']);
  });

  it('leaves its start to the next process when it is killed during the first poll', async () => {
    const world = aWorld();
    world.rows.push(row(1, BEFORE), row(2, at(5)));
    await new Promise<void>((reads) => {
      const listOrgFeed = (): Promise<never> => new Promise(() => reads());
      void world.poller({ client: { listOrgFeed } }).poll();
    });

    await world.poller({ startedAt: new Date(at(10)) }).poll();

    expect(await world.stored()).toEqual(['2']);
  });

  it('leaves to the next process which rows were there before, when it is killed before they are stored', async () => {
    const world = aWorld();
    world.rows.push(row(1, BEFORE));
    const killed = world.poller({ read: () => Promise.reject(new Error('killed')) });
    await expect(killed.poll()).rejects.toThrow('killed');
    // By the clock of the forge, which is behind ours.
    world.rows.push(row(2, BEFORE));

    await world.poller().poll();

    expect(await world.stored()).toEqual(['2']);
  });

  it('takes nothing for history that came after the first poll of another process', async () => {
    const world = aWorld();
    world.rows.push(row(1, BEFORE));
    const slow = world.poller({
      client: {
        listOrgFeed: async (args) => {
          await world.poller().poll();
          world.rows.push(row(2, BEFORE));
          return world.client.listOrgFeed(args);
        },
      },
    });

    const outrun = await slow.poll();
    await world.poller().poll();

    expect(outrun).toMatchObject({ stored: 0, complete: false });
    expect(await world.stored()).toEqual(['2']);
  });

  it('takes older rows as history also where the first poll is cut off before it comes to them', async () => {
    const world = aWorld({ maxPages: 1 });
    for (let id = 1; id <= 4; id += 1) world.rows.push(row(id, BEFORE));
    for (let id = 5; id <= 10; id += 1) world.rows.push(row(id, at(id)));

    const first = await world.poller().poll();
    while (!(await world.poller().poll()).complete);

    expect(first.complete).toBe(false);
    expect((await world.stored()).map(Number).sort((a, b) => a - b)).toEqual([5, 6, 7, 8, 9, 10]);
  });

  it("takes a row that came after the first poll as new, although the forge's clock is behind ours", async () => {
    const world = aWorld();
    world.rows.push(row(5, BEFORE));
    await world.poller().poll();
    world.rows.push(row(9, BEFORE));

    await world.poller().poll();

    expect(await world.stored()).toEqual(['9']);
  });

  it('starts on an empty feed', async () => {
    const world = aWorld();

    await world.poller().poll();
    world.rows.push(row(1, BEFORE));
    await world.poller().poll();

    expect(await world.stored()).toEqual(['1']);
  });

  it('after an outage reads three calendar days again, and finds what was shown late among them', async () => {
    const world = aWorld();
    for (let id = 1; id <= 200; id += 1) world.rows.push(row(id, at(id * 3_600)));
    await world.poller().poll();
    await world.poller().poll();
    world.rows.push(row(500, at(150 * 3_600)), row(501, at(60 * 3_600)));
    await world.poller().poll();
    expect(await world.stored()).not.toContain('500');

    world.clock.setWall(at(200 * 3_600 + 900));
    await world.poller().poll();

    const stored = await world.stored();
    expect([stored.includes('500'), stored.includes('501')]).toEqual([true, false]);
    await world.poller().poll();
    world.state.calls = 0;
    await world.poller().poll();
    expect(world.state.calls).toBe(1);
  });

  it('looks back by whole days and a margin for every zone, and never before the first start', () => {
    const position = {
      since: '2026-01-01T00:00:00.000Z',
      hasMoved: false,
      historyTo: '0',
      settledTo: '2026-11-20T12:00:00.000Z',
    };

    expect(lookingBack(position, new Date('2026-11-20T23:59:59Z')).settledTo).toBe('2026-11-16T10:00:00.000Z');
    expect(
      lookingBack({ ...position, since: '2026-11-19T00:00:00.000Z' }, new Date('2026-11-20T13:00:00Z')).settledTo,
    ).toBe('2026-11-19T00:00:00.000Z');
    expect(
      lookingBack({ ...position, settledTo: '2026-11-01T00:00:00.000Z' }, new Date('2026-11-20T13:00:00Z')).settledTo,
    ).toBe('2026-11-01T00:00:00.000Z');
  });

  it('takes any rows a server may show, with fields that are missing, null or strange, without an error', async () => {
    const odd = fc.oneof(
      fc.constant(null),
      fc.constant(undefined),
      fc.string({ maxLength: 8 }),
      fc.constant('2026-11-20T12:00:01Z'),
    );
    const oddId = fc.oneof(odd, fc.nat().map(String));
    const oddRow = fc.record(
      { id: oddId, created: odd, op_type: odd, content: odd, repo: fc.oneof(odd, fc.record({ id: oddId })) },
      { requiredKeys: [] },
    );

    await fc.assert(
      fc.asyncProperty(fc.array(oddRow, { maxLength: 12 }), async (shown) => {
        const world = aWorld();
        world.state.show = (page) => (page === 1 ? shown : []);
        const { stored } = await world.poller().poll();
        const ids = new Set(shown.flatMap(({ id }) => (typeof id === 'string' && /^\d+$/.test(id) ? [id] : [])));
        expect(stored).toBeLessThanOrEqual(ids.size);
      }),
      { numRuns: 5_000 },
    );
  });

  it('ends at a server that gives the same page for ever', async () => {
    const world = aWorld();
    world.state.show = () => [row(2), row(1)].map((one) => ({ ...one, op_type: 'create_repo' }));

    expect(await world.poller().poll()).toMatchObject({ stored: 2, complete: true });
    expect(world.state.calls).toBeLessThanOrEqual(2);
  });

  it('reads one page where nothing is new', async () => {
    const world = aWorld();
    for (let id = 1; id <= 20; id += 1) world.rows.push(row(id, at(id)));
    await world.poller().poll();
    await world.poller().poll();
    world.state.calls = 0;

    expect(await world.poller().poll()).toEqual({ pages: 1, stored: 0, complete: true });
    expect(world.state.calls).toBe(1);
  });

  it('stores the oldest first and rings for what it stored', async () => {
    const world = aWorld();
    for (let id = 1; id <= 8; id += 1) world.rows.push(row(id));

    await world.poller().poll();

    expect(await world.stored()).toEqual(['1', '2', '3', '4', '5', '6', '7', '8']);
    expect(world.rung).toEqual(['arrivals of acme']);
  });

  it('finds a lower id that appears after a higher one', async () => {
    const world = aWorld();
    world.rows.push(row(1), row(3));
    await world.poller().poll();
    world.rows.push(row(2));

    await world.poller().poll();

    expect(await world.stored()).toEqual(['1', '3', '2']);
  });

  it('does not lose rows that move up over a page boundary while others go', async () => {
    const world = aWorld();
    for (let id = 1; id <= 12; id += 1) world.rows.push(row(id, at(id)));
    world.state.beforePage = (page) => {
      if (page !== 3) return;
      world.rows.splice(
        world.rows.findIndex(({ id }) => id === '11'),
        2,
      );
      world.state.beforePage = () => {};
    };

    await world.poller().poll();
    const first = await world.stored();
    await world.poller().poll();

    // The two that went were read before; the two that moved up to their places were not.
    expect(first).toEqual(['1', '2', '3', '4', '7', '8', '9', '10', '11', '12']);
    expect((await world.stored()).sort()).toEqual(
      world.rows
        .map(({ id }) => id)
        .concat('11', '12')
        .sort(),
    );
  });

  it('goes on where a poll was cut off', async () => {
    const world = aWorld({ maxPages: 2 });
    for (let id = 1; id <= 5; id += 1) world.rows.push(row(id));
    await world.poller().poll();
    for (let id = 6; id <= 30; id += 1) world.rows.push(row(id));

    const cut = await world.poller().poll();
    let polls = 1;
    while (!(await world.poller().poll()).complete) polls += 1;

    expect(cut).toEqual({ pages: 2, stored: 6, complete: false });
    expect(polls).toBeLessThan(6);
    expect(await world.stored()).toHaveLength(30);
  });

  it('stores nothing and keeps its place when the forge fails half way', async () => {
    const world = aWorld();
    for (let id = 1; id <= 9; id += 1) world.rows.push(row(id));
    world.state.beforePage = (page) => {
      if (page === 2) throw new ForgeError('not-sent', 'connection refused', { operation: 'listOrgFeed' });
    };

    await expect(world.poller().poll()).rejects.toThrow('connection refused');
    const meanwhile = await world.stored();
    world.state.beforePage = () => {};
    await world.poller().poll();

    expect(meanwhile).toEqual([]);
    expect(await world.stored()).toHaveLength(9);
  });

  describe('rows that may be comments or a review', () => {
    const together = (known: readonly string[] | Error | null, ids = ['2', '1']) => {
      const world = aWorld();
      const asked: unknown[] = [];
      world.state.show = (page) =>
        page > 1
          ? []
          : ids.map((id) => ({
              id,
              created: AFTER,
              op_type: 'comment_pull',
              content: `4|text ${id}`,
              comment_id: `9${id}`,
              comment: { id: `9${id}`, body: `text ${id}` },
              act_user_id: '30',
              repo_id: '37',
              repo: { id: '37', name: 'app', full_name: 'acme/app', owner: { login: 'acme' } },
            }));
      const poller = world.poller({
        commentsOf: async (place) => {
          asked.push(place);
          if (known instanceof Error) throw known;
          return known;
        },
      });
      const marks = async (): Promise<unknown[]> => {
        await poller.poll();
        const rows = await world.inbox.list({ limit: 10 });
        return Promise.all(
          rows.map(
            async ({ id }) =>
              (JSON.parse((await world.inbox.get(id))?.text ?? '') as Row & { of_review?: unknown }).of_review,
          ),
        );
      };
      return { asked, marks };
    };

    it('are comments when the forge lists them as such, though they are older than their rows, and it is asked once', async () => {
      const { asked, marks } = together(['91', '92']);

      expect(await marks()).toEqual([false, false]);
      expect(asked).toEqual([
        { owner: 'acme', repo: 'app', index: 4, since: new Date(Date.parse(AFTER) - 60_000).toISOString() },
      ]);
    });

    it('are a review when the forge lists none of them', async () => {
      const review = { kind: 'review.commented', body: 'text 2' };

      expect(await together([]).marks()).toEqual([review, review]);
    });

    it.each<[string, string[] | Error | null, unknown]>([
      ['a comment that the forge lists', ['91'], false],
      ['a review that it does not list', [], { kind: 'review.commented', body: 'text 1' }],
      ['either where it cannot say', null, undefined],
      ['either where it does not answer', new Error('503'), undefined],
    ])('are, of one alone, %s', async (_title, known, expected) => {
      const { asked, marks } = together(known, ['1']);

      expect(await marks()).toEqual([expected]);
      expect(asked).toHaveLength(1);
    });

    it('are, of one second, taken for a review when the forge does not say', async () => {
      expect(await together(new Error('503')).marks()).toEqual([expect.anything(), expect.anything()]);
    });
  });

  it('survives an unreadable position as the first poll', async () => {
    const world = aWorld();
    world.rows.push(row(1, BEFORE));
    await world.cursors.write('main', 'acme', 'feed', { nonsense: true });

    await world.poller().poll();

    expect(await world.stored()).toEqual([]);
  });

  it('misses and doubles nothing while rows come in the middle of paging, in any order within a second', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ count: fc.nat(6), page: fc.integer({ min: 1, max: 4 }), second: fc.nat(2) }), {
          minLength: 1,
          maxLength: 8,
        }),
        fc.infiniteStream(fc.nat()),
        async (waves, random) => {
          const world = aWorld();
          let id = 0;
          let now = 0;
          world.state.shuffle = (same) =>
            [...same]
              .map((one) => ({ one, at: random.next().value ?? 0 }))
              .sort((a, b) => a.at - b.at)
              .map(({ one }) => one);
          await world.poller().poll();
          for (const wave of waves) {
            let left = wave.count;
            now += wave.second;
            world.state.beforePage = (page) => {
              if (page < wave.page) return;
              for (; left > 0; left -= 1) world.rows.push(row((id += 1), at(now)));
            };
            await world.poller().poll();
          }
          world.state.beforePage = () => {};
          // As long as one call shows a second's rows in another order than the next, some polls cannot be sure; one that is reads all.
          world.state.shuffle = (same) => same;
          await world.poller().poll();

          expect((await world.stored()).map(Number).sort((a, b) => a - b)).toEqual(
            world.rows.map(({ id: one }) => Number(one)).sort((a, b) => a - b),
          );
        },
      ),
      { numRuns: 200 },
    );
  });
});
