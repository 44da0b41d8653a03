import { describe, expect, it } from '@jest/globals';
import { InMemoryCursorStore } from '../../test/fakes/in-memory-cursor-store.js';
import { InMemoryInboxStore } from '../../test/fakes/in-memory-inbox-store.js';
import { ManualClock } from '../../test/fakes/manual-clock.js';
import { systemClock } from '../core/clock.js';
import { ForgeError } from '../core/errors.js';
import type { JsonObject } from '../core/json.js';
import { parseJson } from '../core/json.js';
import { silentLogger } from '../core/logger.js';
import { Misfit } from '../events/event-fact.js';
import { normalizeEntry } from '../events/normalize-entry.js';
import type { PolledRepository } from './known-repositories.js';
import type { TaskPollerDeps } from './task-poller.js';
import { TaskPoller } from './task-poller.js';
import { given } from '../../test/builders/given.js';

const STARTED_AT = new Date('2026-11-20T12:00:00.400Z');
const BEFORE = '2026-11-20T11:00:00Z';
const AFTER = '2026-11-20T12:30:00Z';
const SHA = 'a'.repeat(40);

function aTask(id: number, status: string, over: JsonObject = {}): JsonObject {
  return {
    id: String(id),
    name: 'build',
    head_branch: 'main',
    head_sha: SHA,
    run_number: 1,
    status,
    url: `http://forge/acme/app/actions/runs/${id}`,
    created_at: AFTER,
    updated_at: AFTER,
    run_started_at: AFTER,
    ...over,
  };
}

function aRepository(id: number, name = `repo-${id}`): PolledRepository {
  return {
    id: String(id),
    owner: 'acme',
    name,
    fields: { id: String(id), name, full_name: `acme/${name}`, owner: { login: 'acme' } },
  };
}

function aWorld(
  options: {
    repositories?: PolledRepository[];
    callsPerPoll?: number;
    pageSize?: number;
    jobs?: JsonObject[];
    moved?: Set<string>;
    runs?: JsonObject[];
  } = {},
) {
  const tasks = new Map<string, JsonObject[]>();
  const inbox = new InMemoryInboxStore();
  const cursors = new InMemoryCursorStore();
  const asked: string[] = [];
  const failing = new Map<string, Error>();
  const repositories = options.repositories ?? [aRepository(37, 'app')];
  const deps: TaskPollerDeps = {
    inbox,
    cursors,
    clock: systemClock,
    logger: silentLogger,
    startedAt: STARTED_AT,
    callsPerPoll: options.callsPerPoll ?? 100,
    ...(options.moved ? { moved: options.moved } : {}),
    queue: { ring: () => undefined },
    repositories: { list: async () => repositories },
    offers: (name) => (name === 'listOrgRuns' ? options.runs !== undefined : options.jobs !== undefined),
    client: {
      listActionTasks: async ({ repo, page = 1 }) => {
        asked.push(`${repo} ${page}`);
        const failure = failing.get(String(repo));
        if (failure) throw failure;
        const pageSize = options.pageSize ?? 50;
        return {
          workflow_runs: (tasks.get(String(repo)) ?? []).slice((page - 1) * pageSize, page * pageSize),
          total_count: 0,
        } as never;
      },
      listJobsOfAttempt: async ({ repo, run, attempt }) => {
        asked.push(`jobs ${repo} ${run} ${attempt}`);
        return {
          jobs: (options.jobs ?? []).filter((job) => job.run_id === run && job.run_attempt === attempt),
        } as never;
      },
      listMyJobs: async () => ({ jobs: [] }) as never,
      listOrgRuns: async ({ page = 1 }) => {
        asked.push(`runs ${page}`);
        const failure = failing.get('runs');
        if (failure) throw failure;
        const pageSize = options.pageSize ?? 50;
        const rows = [...(options.runs ?? [])].sort((a, b) => Number(b.id) - Number(a.id));
        return { workflow_runs: rows.slice((page - 1) * pageSize, page * pageSize) } as never;
      },
    },
  };
  const rows = async () => (await inbox.list({ limit: 1000 })).reverse();
  return {
    tasks,
    inbox,
    cursors,
    asked,
    failing,
    rows,
    stored: async () => (await rows()).filter(({ state }) => state === 'stored').map(({ eventType }) => eventType),
    poller: (over: Partial<TaskPollerDeps> = {}) =>
      new TaskPoller({ ...deps, ...over }, { forge: 'main', org: 'acme' }),
    poll: () => new TaskPoller(deps, { forge: 'main', org: 'acme' }).poll(),
  };
}

describe('polling/task-poller', () => {
  it('stores each state of a task once, with its repository', async () => {
    const world = aWorld();
    world.tasks.set('app', [aTask(12, 'running')]);
    await world.poll();
    await world.poll();
    world.tasks.set('app', [aTask(12, 'cancelling')]);
    await world.poll();
    world.tasks.set('app', [aTask(12, 'success')]);

    await world.poll();

    expect(await world.stored()).toEqual(['37/12:in_progress', '37/12:completed']);
    const [first] = await world.rows();
    const entry = await world.inbox.get(given(first).id);
    const facts = normalizeEntry({ org: 'acme', source: 'tasks', text: given(entry).text, textHash: '' });
    expect(facts instanceof Misfit ? facts : facts[0]).toMatchObject({
      kind: 'task.started',
      repo: { id: '37', full_name: 'acme/app' },
    });
  });

  it('takes what changed last before the first start as history', async () => {
    const world = aWorld();
    world.tasks.set('app', [
      aTask(13, 'success'),
      aTask(12, 'success', { updated_at: BEFORE }),
      aTask(11, 'running', { created_at: BEFORE, updated_at: BEFORE }),
    ]);
    await world.poll();
    world.tasks.set('app', [
      aTask(13, 'success'),
      aTask(12, 'success', { updated_at: BEFORE }),
      aTask(11, 'failure', { created_at: BEFORE }),
    ]);

    await world.poll();

    expect(await world.stored()).toEqual(['37/13:completed', '37/11:completed']);
  });

  it('takes tasks whose keys are forgotten as history, even when their rows change, but for those that were open', async () => {
    const world = aWorld();
    const clock = new ManualClock(AFTER);
    const old = Array.from({ length: 30 }, (_, n) => aTask(n + 1, 'success'));
    world.tasks.set('app', [aTask(99, 'running'), ...old]);
    await world.poller({ clock, historyDays: 400 }).poll();
    expect(await world.stored()).toHaveLength(31);

    const inbox = new InMemoryInboxStore();
    clock.advance(401 * 86_400_000);
    const now = clock.now().toISOString();
    // A server touches the row when it removes the log of the task.
    const touched = [
      aTask(100, 'success', { created_at: now, updated_at: now }),
      aTask(99, 'success', { updated_at: now }),
      ...old.map((task) => ({ ...task, updated_at: now })),
    ];
    world.tasks.set('app', touched);
    for (let poll = 0; poll < 3; poll += 1) await world.poller({ clock, inbox, historyDays: 400 }).poll();

    const stored = (await inbox.list({ limit: 99 })).filter(({ state }) => state === 'stored');
    expect(stored.map(({ eventType }) => eventType)).toEqual(['37/100:completed', '37/99:completed']);
  });

  it('leaves its start to the next process when it is killed during the first poll', async () => {
    const world = aWorld();
    world.tasks.set('app', [
      aTask(13, 'success', { updated_at: '2026-11-20T12:00:05Z' }),
      aTask(12, 'success', { updated_at: BEFORE }),
    ]);
    await new Promise<void>((reads) => {
      void world.poller({ repositories: { list: () => new Promise(() => reads()) } }).poll();
    });

    await world.poller({ startedAt: new Date('2026-11-20T12:00:10Z') }).poll();

    expect(await world.stored()).toEqual(['37/13:completed']);
  });

  it('stores the oldest first', async () => {
    const world = aWorld({ pageSize: 2 });
    world.tasks.set(
      'app',
      [5, 4, 3, 2, 1].map((id) => aTask(id, 'success')),
    );

    await world.poll();

    expect(await world.stored()).toEqual([1, 2, 3, 4, 5].map((id) => `37/${id}:completed`));
  });

  it('reads on below a known page while a task is open there', async () => {
    const world = aWorld({ pageSize: 2 });
    world.tasks.set('app', [aTask(3, 'success'), aTask(2, 'success'), aTask(1, 'running')]);
    await world.poll();
    world.tasks.set('app', [aTask(3, 'success'), aTask(2, 'success'), aTask(1, 'failure')]);
    await world.poll();
    world.asked.length = 0;

    await world.poll();

    expect(await world.stored()).toContain('37/1:completed');
    expect(world.asked).toEqual(['app 1']);
  });

  it('goes round all repositories with few calls, those with open tasks by turns with the others', async () => {
    const repositories = [1, 2, 3, 4].map((id) => aRepository(id));
    const world = aWorld({ repositories, callsPerPoll: 2 });
    world.tasks.set('repo-1', [aTask(9, 'running')]);
    const polled: string[][] = [];
    for (let poll = 0; poll < 4; poll += 1) {
      world.asked.length = 0;
      await world.poll();
      polled.push(world.asked.filter((call) => call.endsWith(' 1')).map((call) => given(call.split(' ')[0])));
    }

    expect(polled[0]).toContain('repo-1');
    expect(polled.slice(1).every((names) => names.includes('repo-1'))).toBe(true);
    expect(new Set(polled.flat())).toEqual(new Set(['repo-1', 'repo-2', 'repo-3', 'repo-4']));
  });

  it('reads repositories with movement in the feed first, and tells how long the others wait', async () => {
    const moved = new Set(['5']);
    const world = aWorld({ repositories: [1, 2, 3, 4, 5].map((id) => aRepository(id)), callsPerPoll: 2, moved });
    const poller = world.poller();
    const oldest = async () =>
      (await world.cursors.read('main', 'acme', 'tasks'))?.position as { oldestReadAt: string | null };

    await poller.poll();
    expect(world.asked).toEqual(['repo-5 1', 'repo-1 1']);
    expect(moved.size).toBe(0);
    expect(await oldest()).toMatchObject({ oldestReadAt: null });

    await poller.poll();
    await poller.poll();
    expect(world.asked.slice(2, 5)).toEqual(['repo-2 1', 'repo-3 1', 'repo-4 1']);
    expect((await oldest()).oldestReadAt).not.toBeNull();
  });

  describe('where no rule waits for tasks', () => {
    const repositories = [1, 2, 3].map((id) => aRepository(id));
    const aPoller = (options: Parameters<typeof aWorld>[0], isAwaited = false) => {
      const world = aWorld({ repositories, callsPerPoll: 2, ...options });
      const poller = world.poller({ isAwaited: async () => isAwaited });
      const polls = async (count: number): Promise<string[]> => {
        world.asked.length = 0;
        for (let n = 0; n < count; n += 1) await poller.poll();
        return [...world.asked];
      };
      return { world, polls };
    };

    it('makes no call but once in ten polls, in turn', async () => {
      const { polls } = aPoller({});

      expect([await polls(10), await polls(10), await polls(1)]).toEqual([
        ['repo-1 1', 'repo-2 1'],
        ['repo-3 1', 'repo-1 1'],
        ['repo-2 1', 'repo-3 1'],
      ]);
    });

    it('reads the tasks of a repository for five polls after something happened there', async () => {
      const moved = new Set<string>();
      const { polls } = aPoller({ moved });
      await polls(1);
      moved.add('3');

      expect(await polls(8)).toEqual(Array(5).fill('repo-3 1'));
    });

    it('reads the tasks of a repository for five polls after a delivery told a job there, asked from the last poll on', async () => {
      const world = aWorld({ repositories, callsPerPoll: 2, moved: new Set() });
      const clock = new ManualClock(AFTER);
      const delivered: Array<{ at: Date; id: string }> = [];
      const poller = world.poller({
        clock,
        isAwaited: async () => false,
        deliveredJobs: async (since) => delivered.filter(({ at }) => at >= since).map(({ id }) => id),
      });
      const polls: string[][] = [];
      for (let n = 0; n < 9; n += 1) {
        world.asked.length = 0;
        await poller.poll();
        polls.push([...world.asked]);
        if (n === 1) delivered.push({ at: new Date(clock.now().getTime() + 20_000), id: '3' });
        clock.advance(60_000);
      }

      expect(polls.slice(1)).toEqual([[], ...Array(5).fill(['repo-3 1']), [], []]);
    });

    it('asks for the runs of the organization then, where the forge lists them, and for nothing beside', async () => {
      const moved = new Set<string>();
      const { polls } = aPoller({ moved, runs: [] });
      await polls(1);
      moved.add('3');

      expect(await polls(8)).toEqual(Array(5).fill('runs 1'));
    });

    it('follows a task that has not ended at every poll', async () => {
      const { world, polls } = aPoller({ repositories: [aRepository(37, 'app')] });
      world.tasks.set('app', [aTask(12, 'running')]);
      const firstPages = async (): Promise<string[]> => (await polls(4)).filter((call) => call.endsWith(' 1'));
      const running = await firstPages();
      world.tasks.set('app', [aTask(12, 'success')]);

      expect([running, await firstPages()]).toEqual([Array(4).fill('app 1'), ['app 1']]);
      expect(await world.stored()).toEqual(['37/12:in_progress', '37/12:completed']);
    });

    it('moves the time of its cursor at every poll: a poll without a call is no poller that stands still', async () => {
      const { world, polls } = aPoller({});
      await polls(1);
      let writes = 0;
      const write = world.cursors.write.bind(world.cursors);
      world.cursors.write = (...what) => ((writes += 1), write(...what));
      await polls(5);

      expect([writes, world.asked]).toEqual([5, []]);
    });

    it('reads at every poll while a rule waits', async () => {
      expect(await aPoller({}, true).polls(3)).toHaveLength(6);
    });
  });

  it('passes over a repository whose tasks it may not read', async () => {
    const world = aWorld({ repositories: [aRepository(1), aRepository(2)] });
    world.failing.set('repo-1', new ForgeError('refused', 'not found', { operation: 'listActionTasks', status: 404 }));
    world.tasks.set('repo-2', [aTask(1, 'success')]);

    expect(await world.poll()).toMatchObject({ repositories: 2, stored: 1, complete: true });
  });

  it('goes past a repository that fails, gives those behind it their turn, and ends with its failure', async () => {
    const world = aWorld({ repositories: [aRepository(1), aRepository(2), aRepository(3)], callsPerPoll: 1 });
    world.failing.set('repo-1', new ForgeError('unknown', 'status 500', { operation: 'listActionTasks', status: 500 }));
    world.tasks.set('repo-2', [aTask(1, 'success')]);
    world.tasks.set('repo-3', [aTask(2, 'success')]);

    await expect(world.poll()).rejects.toThrow('status 500');
    await world.poll();
    await world.poll();

    expect(await world.stored()).toHaveLength(2);
    await expect(world.poll()).rejects.toThrow('status 500');
  });

  it('goes past a repository that fails within one poll', async () => {
    const world = aWorld({ repositories: [aRepository(1), aRepository(2)] });
    world.failing.set('repo-1', new ForgeError('unknown', 'status 500', { operation: 'listActionTasks', status: 500 }));
    world.tasks.set('repo-2', [aTask(1, 'success')]);

    await expect(world.poll()).rejects.toThrow('status 500');

    expect(await world.stored()).toHaveLength(1);
  });

  it("ends with the forge's failure, and what was read before is stored", async () => {
    const world = aWorld({ repositories: [aRepository(1), aRepository(2)] });
    world.tasks.set('repo-1', [aTask(1, 'success')]);
    world.failing.set(
      'repo-2',
      new ForgeError('rate-limited', 'slow down', { operation: 'listActionTasks', status: 429 }),
    );

    await expect(world.poll()).rejects.toThrow('slow down');

    expect(await world.stored()).toEqual(['1/1:completed']);
  });

  it('writes the run and the attempt of its job into a row, told apart by the start', async () => {
    const job = (id: string, run_attempt: number, started_at: string): JsonObject => ({
      id,
      run_id: '12',
      run_attempt,
      name: 'build',
      head_sha: SHA,
      started_at,
    });
    const world = aWorld({ jobs: [job('70', 1, BEFORE), job('71', 2, AFTER)] });
    world.tasks.set('app', [aTask(12, 'success')]);

    await world.poll();

    const [row] = await world.rows();
    expect(parseJson(given(await world.inbox.get(given(row).id)).text)).toMatchObject({
      job_id: '71',
      run_id: '12',
      run_attempt: 2,
    });
  });

  it('does not take a run number for a run id', async () => {
    const world = aWorld({
      jobs: [{ id: '70', run_id: '12', run_attempt: 1, name: 'build', head_sha: 'b'.repeat(40), started_at: AFTER }],
    });
    world.tasks.set('app', [aTask(12, 'success')]);

    await world.poll();

    const [row] = await world.rows();
    expect(parseJson(given(await world.inbox.get(given(row).id)).text)).not.toHaveProperty('run_id');
  });

  it('asks for jobs only of rows that are new', async () => {
    const world = aWorld({ jobs: [] });
    world.tasks.set('app', [aTask(12, 'success')]);
    await world.poll();
    world.asked.length = 0;

    await world.poll();

    expect(world.asked).toEqual(['app 1']);
  });

  describe('where the forge lists the runs of an organization', () => {
    const repositories = Array.from({ length: 9 }, (_, n) => aRepository(n + 1));
    const aRun = (id: number, repository: number, status: string, over: JsonObject = {}): JsonObject => ({
      id: String(id),
      status,
      conclusion: status === 'completed' ? 'success' : null,
      run_attempt: 1,
      started_at: BEFORE,
      repository: { id: String(repository) },
      ...over,
    });

    it('costs that call and one list while nothing runs, and the lists come round', async () => {
      const world = aWorld({ repositories, callsPerPoll: 5, runs: [aRun(3, 2, 'completed')] });
      for (let n = 0; n < 3; n += 1) await world.poll();

      expect(world.asked).toEqual(['runs 1', 'repo-1 1', 'runs 1', 'repo-2 1', 'runs 1', 'repo-3 1']);
    });

    it('reads the lists of repositories whose runs are new, go on or changed, and those alone beside', async () => {
      const runs = [aRun(3, 5, 'completed')];
      const world = aWorld({ repositories, callsPerPoll: 6, runs });
      await world.poll();
      const asked = async (): Promise<string[]> => {
        world.asked.length = 0;
        await world.poll();
        return [...world.asked];
      };
      runs.push(aRun(4, 7, 'queued'));
      const queued = await asked();
      world.tasks.set('repo-7', [aTask(12, 'success')]);
      const goesOn = await asked();
      runs[1] = aRun(4, 7, 'completed');
      const ended = await asked();
      runs[0] = aRun(3, 5, 'completed', { run_attempt: 2 });
      const again = await asked();

      expect([queued, goesOn, ended, again]).toEqual([
        ['runs 1', 'repo-7 1', 'repo-2 1'],
        ['runs 1', 'repo-7 1', 'repo-7 2', 'repo-3 1'],
        ['runs 1', 'repo-7 1', 'repo-4 1'],
        ['runs 1', 'repo-5 1', 'repo-6 1'],
      ]);
      expect(await world.stored()).toEqual(['7/12:completed']);
    });

    it('keeps for the next poll what the calls did not suffice for, also over a restart', async () => {
      const runs: JsonObject[] = [aRun(1, 1, 'completed')];
      const world = aWorld({ repositories, callsPerPoll: 2, runs });
      await world.poll();
      runs.push(aRun(4, 7, 'completed'), aRun(5, 8, 'completed'), aRun(6, 9, 'completed'));
      world.asked.length = 0;
      for (let n = 0; n < 6; n += 1) await world.poll();

      expect(world.asked).toEqual(expect.arrayContaining(['repo-7 1', 'repo-8 1', 'repo-9 1']));
    });

    it('reads list by list as ever where more runs came than the calls reach', async () => {
      const runs: JsonObject[] = [aRun(1, 1, 'completed')];
      const world = aWorld({ repositories, callsPerPoll: 4, pageSize: 2, runs });
      await world.poll();
      for (let id = 2; id <= 20; id += 1) runs.push(aRun(id, 9, 'completed'));
      world.asked.length = 0;

      await world.poll();
      await world.poll();

      expect(world.asked.slice(0, 4)).toEqual(['runs 1', 'runs 2', 'runs 3', 'runs 4']);
      expect(world.asked[5]).toBe('runs 1');
      for (let n = 0; n < 3; n += 1) await world.poll();
      expect(world.asked).toEqual(expect.arrayContaining(repositories.map(({ name }) => `${name} 1`)));
    });

    it.each(['refused', 'not-offered'] as const)(
      'goes from list to list when the call is %s, and does not ask at each poll',
      async (kind) => {
        const world = aWorld({ repositories, callsPerPoll: 3, runs: [] });
        world.failing.set(
          'runs',
          new ForgeError(kind, 'no', { operation: 'listOrgRuns', status: kind === 'refused' ? 403 : 404 }),
        );
        const poller = world.poller();
        await poller.poll();
        await poller.poll();

        expect(world.asked).toEqual(['runs 1', 'repo-1 1', 'repo-2 1', 'repo-3 1', 'repo-4 1', 'repo-5 1']);
      },
    );
  });
});
