import { describe, expect, it } from '@jest/globals';
import { InMemoryCursorStore } from '../../test/fakes/in-memory-cursor-store.js';
import { InMemoryInboxStore } from '../../test/fakes/in-memory-inbox-store.js';
import { ManualClock } from '../../test/fakes/manual-clock.js';
import { ForgeError } from '../core/errors.js';
import { isJsonObject, parseJson, type JsonObject } from '../core/json.js';
import { silentLogger } from '../core/logger.js';
import { Misfit } from '../events/event-fact.js';
import { normalizeEntry } from '../events/normalize-entry.js';
import type { ListPollerDeps } from './list-poller.js';
import { ListPoller } from './list-poller.js';

const START = '2026-11-20T12:00:00.000Z';
const at = (second: number): string => new Date(Date.parse(START) + second * 1000).toISOString().replace('.000', '');
const GRACE_S = 120;
const EVERY_MS = 3_600_000;

interface Issue {
  number: number;
  state: string;
  updated_at: string;
}

/** Lists as a server shows them: issues newest first, in pages of its own size, with its count. */
function aWorld({ callsPerVisit = 10, pageSize = 2, lacks = [] as string[] } = {}) {
  const issues: Issue[] = [];
  const releases: JsonObject[] = [];
  const repositories = [1, 2].map((n) => ({
    id: String(n),
    owner: 'acme',
    name: `r${n}`,
    fields: { id: String(n), full_name: `acme/r${n}` },
  }));
  const asked: string[] = [];
  const clock = new ManualClock(START);
  const inbox = new InMemoryInboxStore();
  const shown = (issue: Issue): JsonObject => ({
    ...issue,
    repository: { id: '1', name: 'r1', full_name: 'acme/r1', owner: 'acme' },
  });
  const refuse = (name: string): void => {
    if (lacks.includes(name))
      throw new ForgeError('not-offered', name, { operation: name as 'searchIssues', status: 404 });
  };
  const deps: ListPollerDeps = {
    inbox,
    clock,
    cursors: new InMemoryCursorStore(() => clock.now()),
    queue: { ring: () => undefined },
    logger: silentLogger,
    offers: () => true,
    repositories: { list: async () => repositories },
    callsPerVisit,
    everyMs: () => EVERY_MS,
    graceMs: () => GRACE_S * 1000,
    client: {
      searchIssues: async ({ state, since, page = 1, owner }, options) => {
        asked.push(`${owner} ${state} ${page}`);
        refuse('searchIssues');
        const found = issues
          .filter(
            (one) =>
              (state === 'all' || one.state === state) &&
              (since === undefined || Date.parse(one.updated_at) >= Date.parse(since)),
          )
          .sort((a, b) => b.number - a.number);
        options?.onReply?.({ totalCount: found.length } as never);
        return found.slice((page - 1) * pageSize, page * pageSize).map(shown) as never;
      },
      listReleases: async ({ repo }) => {
        asked.push(`releases ${repo}`);
        refuse('listReleases');
        return (repo === 'r1' ? releases : []) as never;
      },
    },
  };
  /** Keys of what is there, with a mark for what is a first picture. */
  const stored = async (): Promise<string[]> => {
    const rows = (await inbox.list({ limit: 1_000 })).reverse();
    return Promise.all(
      rows.map(async ({ id, eventType }) => {
        const arrival = await inbox.get(id);
        const row = parseJson(arrival?.text ?? '{}');
        return isJsonObject(row) && row.baseline === true ? `${eventType} (first)` : eventType;
      }),
    );
  };
  /** The next visit, as its time comes. */
  const visit = async () => {
    clock.advance(EVERY_MS);
    return new ListPoller(deps, { forge: 'main', org: 'acme' }).poll();
  };
  return {
    issues,
    releases,
    asked,
    clock,
    stored,
    lacks,
    poller: (over: Partial<ListPollerDeps> = {}) =>
      new ListPoller({ ...deps, ...over }, { forge: 'main', org: 'acme' }),
    visit,
  };
}

const issue = (number: number, second: number, state = 'open'): Issue => ({ number, state, updated_at: at(second) });

describe('polling/list-poller', () => {
  it('takes the open issues and the releases that are there at first as a picture', async () => {
    const world = aWorld();
    world.issues.push(issue(1, -500), issue(2, -400), issue(3, -300), issue(4, -200, 'closed'));
    world.releases.push({ id: '9', tag_name: 'v1', name: 'One', body: '', published_at: at(-100) });

    await world.poller().poll();

    expect((await world.stored()).map((key) => key.replace(/@[0-9a-f]{16} /, ' '))).toEqual([
      `issue/1/3@${at(-300)} (first)`,
      `issue/1/2@${at(-400)} (first)`,
      `issue/1/1@${at(-500)} (first)`,
      'release/9 (first)',
    ]);
  });

  it('leaves its start to the next process when it is killed during the first visit', async () => {
    const world = aWorld();
    world.issues.push(issue(1, -500), issue(2, 5));
    world.releases.push({ id: '9', tag_name: 'v1', name: 'One', body: '', published_at: at(5) });
    await new Promise<void>((reads) => {
      void world.poller({ repositories: { list: () => new Promise(() => reads()) } }).poll();
    });
    world.clock.advance(2 * GRACE_S * 1000);

    await world.poller().poll();

    expect((await world.stored()).map((key) => key.replace(/@[0-9a-f]{16}/, ''))).toEqual([
      `issue/1/2@${at(5)}`,
      `issue/1/1@${at(-500)} (first)`,
      'release/9',
    ]);
  });

  it('says of what it lists that all of before the days that are remembered is no news', async () => {
    const world = aWorld();
    const inbox = new InMemoryInboxStore();
    await world.poller({ historyDays: 400 }).poll();
    world.releases.push({ id: '9', tag_name: 'v1', name: 'One', body: '', published_at: at(5) });
    world.clock.advance(401 * 86_400_000);

    await world.poller({ historyDays: 400, inbox }).poll();

    const [release] = await inbox.list({ limit: 9 });
    const text = (await inbox.get(release?.id ?? ''))?.text ?? '';
    const facts = normalizeEntry({ org: 'acme', source: 'lists', text, textHash: '' });
    // Beside the publication, which would be news, it may have been changed: only where the state held says so.
    expect(facts instanceof Misfit ? facts : facts.map(({ kind }) => kind)).toEqual(['release.updated']);
  });

  it('keeps its pace over restarts, and goes on sooner where the calls did not suffice', async () => {
    const world = aWorld({ callsPerVisit: 2 });
    world.issues.push(...[1, 2, 3, 4, 5].map((n) => issue(n, -n)));
    const calls: number[] = [];
    for (let n = 0; n < 12; n += 1) {
      world.clock.advance(EVERY_MS / 4);
      calls.push((await world.poller().poll()).calls);
    }

    // Three pages of open issues and an empty one, a call beside each for what changed; then every hour.
    expect(calls).toEqual([2, 2, 2, 2, 0, 0, 0, 2, 0, 0, 0, 2]);
  });

  it('costs one call for all issues while nothing changes, and one for each repository’s releases', async () => {
    const world = aWorld();
    await world.visit();
    world.asked.length = 0;

    const visit = await world.visit();

    expect(world.asked).toEqual(['acme all 1', 'releases r1', 'releases r2']);
    expect(visit).toEqual({ calls: 3, stored: 0, complete: true });
  });

  it('tells a change once its delivery has had its time, and once', async () => {
    const world = aWorld();
    await world.poller().poll();
    world.issues.push(issue(7, EVERY_MS / 1000 - GRACE_S + 1));

    const visits = [await world.visit(), await world.visit(), await world.visit()];

    expect(visits.map(({ stored }) => stored)).toEqual([0, 1, 0]);
    expect(await world.stored()).toEqual([`issue/1/7@${at(EVERY_MS / 1000 - GRACE_S + 1)}`]);
  });

  it('goes on in the next visit where the calls did not suffice, and leaves out none', async () => {
    const world = aWorld({ callsPerVisit: 2 });
    await world.poller().poll();
    await world.visit();
    for (let n = 1; n <= 9; n += 1) world.issues.push(issue(n, 3600 + n));

    const first = await world.visit();
    // One that goes moves the others up over the edge of the page.
    world.issues.pop();
    for (let n = 0; n < 9; n += 1) await world.visit();

    expect(first.complete).toBe(false);
    expect((await world.stored()).sort()).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => `issue/1/${n}@${at(3600 + n)}`),
    );
    expect((await world.visit()).complete).toBe(true);
  });

  it('tells a release again when it says something else, but not when nothing changed', async () => {
    const world = aWorld();
    await world.poller().poll();
    const release: JsonObject = { id: '9', tag_name: 'v1', name: 'One', body: '', published_at: at(5) };
    world.releases.push(release);
    const visits = [await world.visit(), await world.visit()];
    release.body = 'better';
    visits.push(await world.visit());

    expect(visits.map(({ stored }) => stored)).toEqual([1, 0, 1]);
  });

  it('reads what there is to read where the forge lacks the other list', async () => {
    const world = aWorld({ lacks: ['searchIssues'] });
    world.releases.push({ id: '9', tag_name: 'v1', name: 'One', body: '', published_at: at(-100) });
    await world.poller().poll();

    expect(await world.stored()).toHaveLength(1);
  });

  it('goes past a repository whose releases fail, keeps its pace, and ends with the failure', async () => {
    const world = aWorld();
    const broken = new ForgeError('unknown', 'status 500', { operation: 'listReleases', status: 500 });
    world.releases.push({ id: '9', tag_name: 'v1', name: 'One', body: '', published_at: at(-100) });
    const poller = world.poller();
    const { client } = (poller as unknown as { deps: { client: { listReleases: unknown } } }).deps;
    const whole = client.listReleases as (args: { repo: string }) => Promise<unknown>;
    client.listReleases = async ({ repo }: { repo: string }) =>
      repo === 'r1' ? Promise.reject(broken) : whole({ repo: 'r1' });

    await expect(poller.poll()).rejects.toBe(broken);
    expect(await world.stored()).toHaveLength(1);
    client.listReleases = whole;
    expect(await poller.poll()).toMatchObject({ calls: 0 });
  });

  it('leaves the time as it was when the forge is away, and loses nothing', async () => {
    const world = aWorld();
    await world.poller().poll();
    world.clock.advance(EVERY_MS);
    world.issues.push(issue(7, 60));
    const away = world.poller();
    const gone = new ForgeError('not-sent', 'away', { operation: 'searchIssues' });
    const { client } = (away as unknown as { deps: { client: { searchIssues: unknown } } }).deps;
    const whole = client.searchIssues;
    client.searchIssues = async () => Promise.reject(gone);

    await expect(away.poll()).rejects.toBe(gone);
    client.searchIssues = whole;

    expect((await away.poll()).stored).toBe(1);
  });
});
