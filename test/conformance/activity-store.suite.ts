import { decideBy } from '../builders/decide-all.js';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ForgeEvent } from '../../src/core/event.js';
import type { EventKind } from '../../src/core/event-kinds.js';
import type { IdKind } from '../../src/api/id-store.port.js';
import type { NewRun } from '../../src/core/run.js';
import type { CauseFilter, CauseRef } from '../../src/insight/activity-store.port.js';
import type { Stores } from '../../src/store/open-stores.js';
import { aDelivery, anEvent } from '../builders/arrivals.js';
import { aRun, anIntent, claimOne } from '../builders/journal.js';
import { because } from '../builders/reasons.js';
import { storeEvent } from '../builders/store-event.js';

const WINDOW = 2_000;

/** The timeline and the counts, over a store. Ids grow with time, as those of the program do. */
export function activityStoreSuite(open: () => Promise<Stores>): void {
  let stores: Stores;
  let minute: number;

  beforeEach(async () => {
    stores = await open();
    minute = 0;
  });

  /** The id of something that was made so many minutes after the first. */
  function idAt(minutes: number): string {
    const ms = Date.UTC(2026, 10, 20, 12, minutes).toString(16).padStart(12, '0');
    return `${ms.slice(0, 8)}-${ms.slice(8)}-7000-8000-000000000000`;
  }

  const next = (): string => idAt((minute += 1));

  async function event(over: Partial<ForgeEvent> = {}): Promise<string> {
    const id = next();
    const delivery = aDelivery({ id: `${id.slice(0, -1)}1`, org: over.org ?? 'acme' });
    await storeEvent(stores.inbox, anEvent({ id, factKey: id, ...over }), delivery);
    return id;
  }

  async function decide(over: Partial<NewRun>, intents = 0): Promise<string> {
    const run = aRun({ id: next(), ...over });
    const wanted = Array.from({ length: intents }, (_, n) =>
      anIntent({ id: `${run.id}-${n}`, runId: run.id, org: run.org, rule: run.rule }),
    );
    const { cause } = run;
    await stores.journal.recordDecision(cause.kind === 'event' ? { eventId: cause.eventId } : {}, [
      { run: { ...run, runKey: run.id }, intents: wanted },
    ]);
    return run.id;
  }

  const about = (eventId: string): Pick<NewRun, 'cause'> => ({ cause: { kind: 'event', eventId } });
  const tick = (repo: string): Pick<NewRun, 'cause'> => ({
    cause: { kind: 'tick', tickId: 'tick-1', subject: '7', repo },
  });
  const causes = async (filter: Partial<CauseFilter> = {}): Promise<string[]> =>
    (await stores.activity.causes({ visibility: null, limit: 100, ...filter })).causes.map(
      ({ what, id }: CauseRef) => `${what} ${id}`,
    );

  it('tells events, arrivals without one, and what schedules caused, newest first', async () => {
    const pushed = await event();
    await decide({ ...about(pushed), state: 'not-fired' });
    const alone = next();
    await stores.inbox.storeDeliveries([aDelivery({ id: alone })]);
    const scheduled = await decide(tick('acme/app'));
    await decide({ ...tick('acme/app'), rule: 'shadow/r1' });

    expect(await causes()).toEqual([`run ${scheduled}`, `arrival ${alone}`, `event ${pushed}`]);
    expect(await stores.activity.causes({ visibility: null, limit: 100 })).toMatchObject({ next: null });
  });

  it('gives each row once, page by page', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) ids.unshift(`event ${await event()}`);
    const seen: string[] = [];
    let before: string | undefined;
    for (let pages = 0; pages < 4; pages += 1) {
      const page = await stores.activity.causes({ visibility: null, limit: 2, before });
      seen.push(...page.causes.map(({ what, id }) => `${what} ${id}`));
      if (page.next === null) break;
      before = page.next;
    }

    expect(seen).toEqual(ids);
  });

  it('finds by repository, person, kind, state and organization', async () => {
    const [forked, kit] = [
      { id: '8', owner: 'acme', name: 'kit', full_name: 'acme/kit' },
      { id: '9', owner: 'acme', name: 'lib', full_name: 'acme/lib' },
    ];
    const opened = await event({ kind: 'issue.opened', actor: { id: '4', login: 'Bob' }, repo: forked });
    const closed = await event({ kind: 'issue.closed', repo: kit });
    const other = await event({ org: 'butler' });
    await decide({ ...about(opened), state: 'not-fired' });
    const failed = await decide({ ...tick('acme/lib'), state: 'failed' });

    expect(await causes({ repo: 'ACME/Kit' })).toEqual([`event ${opened}`]);
    expect(await causes({ repo: 'acme/lib' })).toEqual([`run ${failed}`, `event ${closed}`]);
    expect(await causes({ repo: 'acme' })).toEqual([]);
    expect(await causes({ person: 'bob' })).toEqual([`event ${opened}`]);
    expect(await causes({ kind: 'issue' })).toEqual([`event ${closed}`, `event ${opened}`]);
    expect(await causes({ kind: 'issue.closed' })).toEqual([`event ${closed}`]);
    expect(await causes({ kind: 'issue_' })).toEqual([]);
    expect(await causes({ state: 'failed' })).toEqual([`run ${failed}`]);
    expect(await causes({ state: 'not-fired' })).toEqual([`event ${opened}`]);
    expect(await causes({ orgs: ['butler'] })).toEqual([`event ${other}`]);
    expect(await causes({ changed: true })).toEqual([`run ${failed}`]);
  });

  it('finds what one rule decided about, each event once, and goes on behind its last run', async () => {
    const [first, second] = [await event(), await event({ kind: 'issue.opened' })];
    await decide({ ...about(first), rule: 'greet' });
    await decide({ ...about(first), rule: 'other' });
    await decide({ ...about(second), rule: 'greet' });
    await decide({ ...about(second), rule: 'greet', state: 'done' });
    const orgs = ['acme'];

    expect(await causes({ rule: 'greet', orgs })).toEqual([`event ${second}`, `event ${first}`]);
    expect(await causes({ rule: 'greet', orgs, kind: 'push' })).toEqual([`event ${first}`]);
    expect(await causes({ rule: 'greet', orgs: ['butler'] })).toEqual([]);
    const page = await stores.activity.causes({ rule: 'greet', orgs, visibility: null, limit: 2 });
    expect(page.causes).toEqual([{ what: 'event', id: second }]);
    expect(await causes({ rule: 'greet', orgs, before: page.next ?? '' })).toEqual([`event ${first}`]);
  });

  it('finds by the state of effects, newest first', async () => {
    const [first, second] = [await event(), await event({ kind: 'issue.opened' })];
    const run = await decide(about(first), 2);
    await decide({ ...about(second), rule: 'greet' }, 1);
    await decide(about(second));
    const claim = await claimOne(stores.journal, `${run}-0`, 'me', 60_000);
    await stores.journal.move({
      ...{ intentId: `${run}-0`, epoch: claim?.epoch ?? 0, from: ['claimed'], to: 'dead' },
      reason: because('it is gone'),
    });

    expect(await causes({ effects: 'dead' })).toEqual([`event ${first}`]);
    expect(await causes({ effects: 'planned' })).toEqual([`event ${second}`, `event ${first}`]);
    expect(await causes({ effects: 'planned', rule: 'greet' })).toEqual([`event ${second}`]);
    expect(await causes({ effects: 'dead', orgs: ['butler'] })).toEqual([]);
    expect(await causes({ effects: 'dead', visibility: [{ org: 'acme', repositories: ['8'] }] })).toEqual([]);
    expect(await causes({ effects: 'unknown' })).toEqual([]);
  });

  it('looks at a bounded number of rows, says how far, and finds the rest behind that', async () => {
    const wanted = await event({ kind: 'release.published' });
    await stores.inbox.storeDeliveries(Array.from({ length: WINDOW + 10 }, () => aDelivery({ id: next() })));

    const first = await stores.activity.causes({ visibility: null, limit: 10, kind: 'release' });
    expect(first.causes).toEqual([]);
    expect(first.next).not.toBeNull();
    const second = await stores.activity.causes({
      visibility: null,
      limit: 10,
      kind: 'release',
      before: first.next ?? '',
    });
    expect(second).toEqual({ causes: [{ what: 'event', id: wanted }], next: null });
  });

  it('changes its mark when an arrival, a decision or the state of an effect does, and only then', async () => {
    const marks = [await stores.activity.mark()];
    const pushed = await event();
    marks.push(await stores.activity.mark());
    const run = await decide(about(pushed), 1);
    marks.push(await stores.activity.mark());
    const claim = await claimOne(stores.journal, `${run}-0`, 'me', 60_000);
    marks.push(await stores.activity.mark());
    await stores.journal.move({
      ...{ intentId: `${run}-0`, epoch: claim?.epoch ?? 0, from: ['claimed'], to: 'unchanged' },
      reason: because('it is there'),
    });
    marks.push(await stores.activity.mark());

    expect(new Set(marks).size).toBe(5);
    expect(await stores.activity.mark()).toBe(marks.at(-1));
  });

  it('counts runs of a span by rule, state and what their reason names', async () => {
    const pushed = await event();
    const falseAt = (condition: string): Partial<NewRun> => ({
      ...about(pushed),
      state: 'not-fired',
      reason: {
        code: 'run.not-fired',
        params: { because: { code: 'verdict.condition-false', params: { condition, at: 'r.yaml:3:5' } } },
      },
    });
    await decide(falseAt('by "team"'));
    await decide(falseAt('by "team"'));
    await decide(falseAt('is urgent'));
    await decide({ ...about(pushed), state: 'done', rule: 'other' });
    const until = new Date(Date.UTC(2026, 10, 20, 12, minute + 1));
    await decide({ ...about(pushed), state: 'done', rule: 'later' });
    const span = { orgs: ['acme', 'none'], from: new Date('2026-11-20T12:00:00Z'), until, visibility: null };

    const counts = await stores.activity.runCounts(span);
    expect(counts).toHaveLength(3);
    expect(counts).toEqual(
      expect.arrayContaining([
        { org: 'acme', rule: 'r1', state: 'not-fired', code: 'run.not-fired', because: 'by "team"', count: 2 },
        { org: 'acme', rule: 'r1', state: 'not-fired', code: 'run.not-fired', because: 'is urgent', count: 1 },
        expect.objectContaining({ rule: 'other', state: 'done', count: 1 }),
      ]),
    );
    const visibility = [{ org: 'acme', repositories: ['8'] }];
    expect(await stores.activity.runCounts({ ...span, visibility })).toEqual([]);
  });

  it.each([
    ['issues', ['7/issues'], ['issue.opened']],
    ['pull requests', ['7/pulls'], ['pull_request.opened', 'review.approved']],
    [
      'issues and pull requests',
      ['7/issues', '7/pulls', '7/comments'],
      ['issue.opened', 'comment.created', 'pull_request.opened', 'review.approved'],
    ],
    ['code of another repository', ['8/code'], []],
  ])('tells who may read %s alone what belongs there, wherever it is asked for', async (_units, repositories, told) => {
    const visibility = [{ org: 'acme', repositories }];
    const made: Array<{ kind: EventKind; event: string; runs: string[]; intent: string }> = [];
    for (const kind of [
      'issue.opened',
      'comment.created',
      'pull_request.opened',
      'review.approved',
      'push',
      'repository.renamed',
    ] as const) {
      const id = await event({ kind });
      const alone = aRun({ id: next(), ...about(id), state: 'open' });
      // What this one read may be of any unit.
      const reading = aRun({
        id: next(),
        ...about(id),
        rule: 'reads',
        state: 'not-fired',
        lookups: { pulls: { value: [] } },
      });
      const intent = anIntent({ id: next(), runId: alone.id, orderKey: 'main/repository/7' });
      await stores.journal.recordDecision({ eventId: id }, [
        { run: { ...alone, runKey: alone.id }, intents: [intent] },
        { run: { ...reading, runKey: reading.id }, intents: [] },
      ]);
      made.push({ kind, event: id, runs: [alone.id], intent: intent.id });
    }
    await decide(tick('acme/app'));
    const seen = made.filter(({ kind }) => told.includes(kind)).toReversed();
    const idsOf = async (kind: IdKind, all: readonly string[]): Promise<string[]> =>
      (await Promise.all(all.map((id) => stores.ids.like(id, [kind], 2, visibility)))).flat().map(({ id }) => id);

    expect(await causes({ visibility })).toEqual(seen.map(({ event: id }) => `event ${id}`));
    expect((await stores.journal.runs({ visibility, limit: 100 })).map(({ id }) => id)).toEqual(
      seen.flatMap(({ runs }) => runs),
    );
    const everyEvent = made.map(({ event: id }) => id);
    expect(await idsOf('event', everyEvent)).toEqual(seen.map(({ event: id }) => id).toReversed());
    expect(
      await idsOf(
        'intent',
        made.map(({ intent }) => intent),
      ),
    ).toEqual(seen.map(({ intent }) => intent).toReversed());
    expect((await stores.activity.sources(everyEvent, visibility, 10)).map(({ eventId }) => eventId).sort()).toEqual(
      seen.map(({ event: id }) => id).sort(),
    );
  });

  describe('of an event', () => {
    it('tells its arrivals, with those that came again, and whether it is decided', async () => {
      const id = next();
      const delivery = aDelivery();
      await storeEvent(stores.inbox, anEvent({ id }), delivery);
      const again = { ...delivery, id: next() };
      await stores.inbox.storeDeliveries([again]);
      await decideBy(stores.inbox, again.id, async (tx) => {
        tx.countWith(delivery);
        tx.close('decided', 'it came again', 'duplicate');
      });

      const found = await stores.activity.sources([id, 'nothing'], null, 10);
      expect(found).toEqual([
        {
          eventId: id,
          isDecided: false,
          arrivals: [{ id: delivery.id, source: 'webhook', hook: 'acme', at: delivery.receivedAt, repeats: 1 }],
        },
      ]);
      expect(await stores.activity.arrivals([delivery.id], null)).toMatchObject([{ id: delivery.id, eventIds: [id] }]);
      await decide({ ...about(id), state: 'not-fired' });
      expect(await stores.activity.sources([id], null, 10)).toMatchObject([{ isDecided: true }]);
    });
  });
}
