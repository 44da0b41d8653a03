import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../test/fakes/manual-clock.js';
import { ForgeError } from '../core/errors.js';
import type { ForgeErrorKind } from '../core/errors.js';
import type { EventRepository } from '../core/event.js';
import { KnownRepositories } from './known-repositories.js';

const POLLED = { forge: 'main', org: 'acme' };
const repository = (id: number): EventRepository => ({
  id: String(id),
  owner: 'acme',
  name: `r${id}`,
  full_name: `acme/r${id}`,
  private: true,
  topics: ['x'],
  size: 7,
});

function aWorld(
  pages: EventRepository[][],
  options: { offers?: boolean; total?: number | null; seen?: EventRepository[]; fails?: ForgeErrorKind } = {},
) {
  const clock = new ManualClock();
  let calls = 0;
  const known = new KnownRepositories(
    {
      clock,
      keepMs: 1000,
      offers: () => options.offers ?? true,
      owners: { learnListed: () => undefined, amongSeen: async () => options.seen ?? [] },
      client: {
        listOrgRepos: async ({ page = 1 }, call) => {
          if (options.fails)
            throw new ForgeError(options.fails, `listOrgRepos: ${options.fails}`, { operation: 'listOrgRepos' });
          call?.onReply?.({ status: 200, totalCount: options.total ?? null, listed: null });
          return (pages[page - 1] ?? []) as never;
        },
      },
    },
    POLLED,
  );
  return {
    clock,
    calls: () => calls,
    list: async (...moved: string[]) => (await known.list(() => (calls += 1), new Set(moved))).map(({ name }) => name),
  };
}

describe('polling/known-repositories', () => {
  it('lists until a page brings nothing, since pages may be short', async () => {
    const world = aWorld([[repository(1)], [repository(2), repository(3)]]);

    expect(await world.list()).toEqual(['r1', 'r2', 'r3']);
    expect(world.calls()).toBe(3);
  });

  it('passes over an empty page while the forge says that there are more', async () => {
    const world = aWorld([[repository(1)], [], [repository(2)]], { total: 120 });

    expect(await world.list()).toEqual(['r1', 'r2']);
  });

  it('lists anew when something happens in a repository that the list lacks, once for each', async () => {
    const pages = [[repository(1)]];
    const world = aWorld(pages);
    await world.list();
    pages[0]?.push(repository(2));

    expect(await world.list('1')).toEqual(['r1']);
    expect(await world.list('1', '2')).toEqual(['r1', 'r2']);
    expect(await world.list('2', '9')).toEqual(['r1', 'r2']);
    const calls = world.calls();
    await world.list('9');
    expect(world.calls()).toBe(calls);
  });

  it('keeps the list for a while', async () => {
    const world = aWorld([[repository(1)]]);
    await world.list();
    await world.list();
    expect(world.calls()).toBe(2);
    world.clock.advance(1001);

    await world.list();

    expect(world.calls()).toBe(4);
  });

  it('takes them from the stored events where the forge does not list them', async () => {
    const world = aWorld([], { offers: false, seen: [repository(5)] });

    expect(await world.list()).toEqual(['r5']);
    expect(world.calls()).toBe(0);
  });

  it('takes them from the stored events when the forge says that it does not list them', async () => {
    const world = aWorld([], { fails: 'not-offered', seen: [repository(5)] });

    expect(await world.list()).toEqual(['r5']);
  });

  it('does not take them from there when the forge is away', async () => {
    const world = aWorld([], { fails: 'not-sent', seen: [repository(5)] });

    await expect(world.list()).rejects.toMatchObject({ kind: 'not-sent' });
  });
});
