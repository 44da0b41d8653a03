import { beforeEach, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { aDelivery } from '../../../test/builders/arrivals.js';
import { InMemoryInboxStore } from '../../../test/fakes/in-memory-inbox-store.js';
import { REPOSITORY, SENDER, SHA_A, SHA_B, ZERO_SHA, sampleBody } from '../../../test/builders/sample-bodies.js';
import { systemClock } from '../../core/clock.js';
import { newId } from '../../core/ids.js';
import type { JsonObject } from '../../core/json.js';
import { stringifyJson } from '../../core/json.js';
import { silentLogger } from '../../core/logger.js';
import type { SecurityEvent } from '../../core/security-log.js';
import { type ArrivalParts, decideArrival, EVENT_READER } from '../../../test/builders/decide-all.js';
import { given } from '../../../test/builders/given.js';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Knows which events were decided with their arrival, and nothing of what was decided. */
class InboxWithJournal extends InMemoryInboxStore {
  private readonly decided = new Set<string>();

  protected override async recordDecision(eventId: string): Promise<void> {
    this.decided.add(eventId);
  }

  protected override isDecided(eventId: string): boolean {
    return this.decided.has(eventId);
  }
}

function aWorld(events: Partial<ArrivalParts['events']> = {}, settings: Partial<ArrivalParts> = {}) {
  const inbox = new InboxWithJournal();
  const rung: string[] = [];
  const counted: string[] = [];
  const recorded: SecurityEvent[] = [];
  const deps: ArrivalParts = {
    inbox,
    clock: systemClock,
    logger: silentLogger,
    queue: { ring: (topic, org) => void rung.push(`${topic} of ${org}`) },
    events: { ...EVENT_READER, ...events },
    security: { record: (event) => void recorded.push(event) },
    counted: ({ kind, source }) => void counted.push(`${source} ${kind}`),
    ...settings,
  };
  let rows = 0;
  const decide = async (id: string) => given(await decideArrival(deps, id));
  return {
    inbox,
    rung,
    counted,
    recorded,
    deps,
    decide,
    async deliver(eventType: string, change: JsonObject = {}) {
      const text = stringifyJson({ ...sampleBody(eventType), ...change });
      const delivery = aDelivery({ eventType, event: eventType, text, receivedAt: new Date() });
      await inbox.storeDeliveries([delivery]);
      return decide(delivery.id);
    },
    async readRow(fields: JsonObject, source: 'feed' | 'tasks' = 'feed') {
      rows += 1;
      const base =
        source === 'feed'
          ? {
              id: rows,
              act_user_id: 29,
              act_user: SENDER,
              repo_id: 37,
              repo: REPOSITORY,
              comment_id: 0,
              ref_name: '',
              content: '',
              created: '2026-11-20T19:34:37+01:00',
            }
          : { id: rows, repository: REPOSITORY };
      const text = stringifyJson({ ...base, ...fields });
      const [stored] = await inbox.storeEntries([
        {
          id: newId(),
          forge: 'main',
          org: 'acme',
          source,
          entryKey: String(rows),
          text,
          textHash: sha256(text),
          readAt: new Date(),
        },
      ]);
      return decide(given(stored).id);
    },
  };
}

function actionRun(beside: JsonObject): JsonObject {
  const repository = { id: 99, name: 'vault', full_name: 'victim/vault', owner: { login: 'victim' } };
  return { run: { ...(sampleBody('action_run_success').run as JsonObject), repository }, ...beside };
}

function linkedPackage(): JsonObject {
  const repository = { id: 99, name: 'vault', full_name: 'victim/vault', owner: { login: 'victim' } };
  return { package: { ...(sampleBody('package').package as JsonObject), repository } };
}

const closed = { action: 'closed' };
const closedRow = { op_type: 'close_issue', content: '1|', created: '2026-11-20T19:36:05+01:00' };

describe('pipeline/decide/decide-arrival', () => {
  it('makes one event of a delivery, stores it with its own facts and announces it', async () => {
    const world = aWorld();

    const { created, arrivalId } = await world.deliver('issues');

    expect(await world.inbox.event(given(created[0]))).toMatchObject({
      forge: 'main',
      org: 'acme',
      kind: 'issue.opened',
      source: 'webhook',
      actor: { login: 'ben' },
      data: { number: 1 },
    });
    expect(await world.inbox.get(arrivalId)).toMatchObject({ state: 'decided', eventId: created[0] });
    expect(world.rung).toEqual(['events of acme']);
    expect(world.counted).toEqual(['webhook issue.opened']);
  });

  it('decides an arrival once', async () => {
    const world = aWorld();

    const { arrivalId } = await world.deliver('issues');

    expect(await decideArrival(world.deps, arrivalId)).toBeNull();
    expect(world.inbox.allEvents()).toHaveLength(1);
  });

  it.each<[string, Array<'delivery' | 'row'>, number]>([
    ['delivery, row', ['delivery', 'row'], 1],
    ['row, delivery', ['row', 'delivery'], 1],
    ['row, row', ['row', 'row'], 2],
    ['delivery, delivery with another text', ['delivery', 'delivery'], 2],
    ['delivery, delivery, row, row', ['delivery', 'delivery', 'row', 'row'], 2],
    ['row, row, delivery, delivery', ['row', 'row', 'delivery', 'delivery'], 2],
    ['delivery, row, row, delivery', ['delivery', 'row', 'row', 'delivery'], 2],
    ['delivery, row, delivery, row', ['delivery', 'row', 'delivery', 'row'], 2],
    ['delivery, row, row', ['delivery', 'row', 'row'], 2],
    ['row, delivery, delivery, delivery', ['row', 'delivery', 'delivery', 'delivery'], 3],
  ])('closing an issue told by %s => so many events', async (_title, arrivals, events) => {
    const world = aWorld();

    for (const [n, arrival] of arrivals.entries())
      await (arrival === 'row' ? world.readRow(closedRow) : world.deliver('issues', { ...closed, n }));

    expect(world.inbox.allEvents().map(({ kind }) => kind)).toEqual(Array(events).fill('issue.closed'));
  });

  it('never pairs across issues, kinds or repositories', async () => {
    const world = aWorld();

    await world.deliver('issues', closed);
    await world.readRow({ ...closedRow, content: '2|' });
    await world.readRow({ op_type: 'reopen_issue', content: '1|' });
    await world.readRow({ ...closedRow, repo: { ...REPOSITORY, id: 38 }, repo_id: 38 });

    expect(world.inbox.allEvents()).toHaveLength(4);
  });

  it('joins the row of a pushed tag to both its deliveries', async () => {
    const world = aWorld();
    const push = await world.deliver('push', { ref: 'refs/tags/v1', before: ZERO_SHA, after: SHA_B });
    const create = await world.deliver('create', { ref: 'v1', ref_type: 'tag', sha: SHA_B });

    const row = await world.readRow({
      op_type: 'push_tag',
      ref_name: 'refs/tags/v1',
      content: stringifyJson({
        Commits: null,
        HeadCommit: null,
        CompareURL: `acme/app/compare/${ZERO_SHA}...${SHA_B}`,
        Len: 0,
      }),
    });

    expect(row).toMatchObject({ created: [], joined: [push.created[0], create.created[0]] });
    expect(world.inbox.eventsToldBy(row.arrivalId)).toEqual([push.created[0], create.created[0]]);
  });

  it('joins one delivery of a pushed tag and tells the one that never came', async () => {
    const world = aWorld();
    const push = await world.deliver('push', { ref: 'refs/tags/v1', before: ZERO_SHA, after: SHA_B });

    const row = await world.readRow({
      op_type: 'push_tag',
      ref_name: 'refs/tags/v1',
      content: stringifyJson({
        Commits: null,
        HeadCommit: null,
        CompareURL: `acme/app/compare/${ZERO_SHA}...${SHA_B}`,
        Len: 0,
      }),
    });
    const late = await world.deliver('create', { ref: 'v1', ref_type: 'tag', sha: SHA_B });

    expect(row.joined).toEqual(push.created);
    expect(row.created).toHaveLength(1);
    expect(late).toMatchObject({ created: [], joined: row.created });
  });

  it('joins all rows of a review to its one delivery, whichever comes first, and a comment beside it to none', async () => {
    const rowOf = (id: number, body: string, created = '2026-11-20T19:36:31+01:00'): JsonObject => ({
      op_type: 'comment_pull',
      content: `4|${body}`,
      comment_id: id,
      comment: { id, body },
      created,
    });
    const of_review = { kind: 'review.commented', body: 'LGTM' };
    const deliver = (world: ReturnType<typeof aWorld>) => world.deliver('pull_request_review_comment');
    const orders: Array<(world: ReturnType<typeof aWorld>) => Promise<unknown>> = [
      async (world) => [
        await deliver(world),
        await world.readRow(rowOf(79, 'why?')),
        await world.readRow(rowOf(80, 'LGTM')),
      ],
      async (world) => [
        await world.readRow({ ...rowOf(79, 'why?'), of_review }),
        await world.readRow({ ...rowOf(80, 'LGTM'), of_review }),
        await deliver(world),
      ],
      async (world) => [
        await world.readRow({ ...rowOf(79, 'why?'), of_review }),
        await deliver(world),
        await world.readRow({ ...rowOf(80, 'LGTM'), of_review }),
      ],
      async (world) => [
        await world.readRow(rowOf(79, 'why?')),
        await world.readRow({ ...rowOf(80, 'LGTM'), of_review }),
        await deliver(world),
      ],
    ];
    for (const tell of orders) {
      const world = aWorld();
      await tell(world);
      await world.readRow(rowOf(90, 'and?', '2026-11-20T19:36:40+01:00'));

      expect(world.inbox.allEvents().map(({ kind }) => kind)).toEqual([
        expect.stringMatching(/review.commented|comment.created/),
        'comment.created',
      ]);
    }
  });

  it.each<[string, string, Date, string[]]>([
    ['until its delivery says that it is a review', 'pull_request_review_comment', new Date(), ['review.commented']],
    ['until its delivery says that it is a comment', 'pull_request_comment', new Date(), ['comment.created']],
    ['no longer than its delivery may take', '', new Date(Date.now() - 60_000), ['comment.created']],
  ])('lets a row that may be a comment or a review wait %s', async (_title, eventType, readAt, kinds) => {
    const world = aWorld({}, { awaitMs: ({ kind }) => (kind === 'comment.created' ? 60_000 : 0) });
    const told = (sampleBody('pull_request_comment').comment as JsonObject).id as number;
    const text = stringifyJson({
      ...{ id: 1, op_type: 'comment_pull', content: '4|LGTM', comment_id: told, comment: { id: told, body: 'LGTM' } },
      ...{ act_user_id: 29, act_user: SENDER, repo_id: 37, repo: REPOSITORY, created: '2026-11-20T19:36:31+01:00' },
    });
    const entry = { id: newId(), forge: 'main', org: 'acme', entryKey: '1', text, textHash: sha256(text), readAt };
    await world.inbox.storeEntries([{ ...entry, source: 'feed' }]);
    const atFirst = await decideArrival(world.deps, entry.id);
    if (eventType !== '') {
      expect(atFirst).toBeNull();
      // It is left alone for a while.
      expect(await world.inbox.dueArrivals(9, { org: 'acme', except: [] })).toEqual([]);
      await world.deliver(eventType);
      await world.decide(entry.id);
    }

    expect(world.inbox.allEvents().map(({ kind }) => kind)).toEqual(kinds);
  });

  it.each([
    ['the end of a run', 'workflow_run', 'workflow_run', 'completed', 'completed_at'],
    ['the start of a run', 'workflow_run', 'workflow_run', 'in_progress', 'started_at'],
    ['the end of a job', 'workflow_job', 'workflow_job', 'completed', 'completed_at'],
    ['the start of a job', 'workflow_job', 'workflow_job', 'in_progress', 'started_at'],
  ])(
    'makes one event of %s that deliveries of two texts tell, and another of the next',
    async (_what, type, of, action, time) => {
      const world = aWorld();
      const body = (at: string, over: JsonObject = {}): JsonObject => ({
        action,
        [of]: { ...(sampleBody(type)[of] as JsonObject), [time]: at, ...over },
      });
      const tell = (change: JsonObject, updated_at: string) =>
        world.deliver(type, {
          ...change,
          workflow: { id: 'ci.yaml', updated_at },
          repository: { ...REPOSITORY, updated_at },
        });

      const first = await tell(body('2026-11-20T18:00:09Z'), '2026-11-20T18:00:00Z');
      const again = await tell(body('2026-11-20T18:00:09Z'), '2026-11-20T18:00:08Z');
      const next = await tell(body('2026-11-20T18:01:00Z'), '2026-11-20T18:00:08Z');
      const other = await tell(
        body('2026-11-20T18:01:00Z', { id: 7, html_url: 'http://forge/acme/app/actions/runs/7/jobs/7' }),
        '2026-11-20T18:00:08Z',
      );

      expect([first, again, next, other].map(({ created }) => created.length)).toEqual([1, 0, 1, 1]);
      expect(again.closed).toBe(`it says what delivery ${first.arrivalId} said`);
    },
  );

  it.each([
    ['another person', (body: JsonObject): JsonObject => ({ ...body, sender: { id: 666, login: 'otto' } })],
    [
      'another branch',
      (body: JsonObject): JsonObject => ({
        ...body,
        workflow_run: { ...(body['workflow_run'] as JsonObject), head_branch: 'nowhere' },
      }),
    ],
  ])('keeps the end of a run of which a thief told %s before', async (_what, lie) => {
    const world = aWorld();
    const true_ = {
      ...sampleBody('workflow_run'),
      action: 'completed',
      workflow_run: {
        ...(sampleBody('workflow_run')['workflow_run'] as JsonObject),
        completed_at: '2026-11-20T18:00:09Z',
      },
    };

    const forged = await world.deliver('workflow_run', lie(true_));
    const honest = await world.deliver('workflow_run', true_);

    expect([forged, honest].map(({ created }) => created.length)).toEqual([1, 1]);
  });

  it('tells apart what is queued twice without a time of its own', async () => {
    const world = aWorld();
    const queued = { action: 'queued' };

    await world.deliver('workflow_job', { ...queued, n: 1 });
    await world.deliver('workflow_job', { ...queued, n: 2 });

    expect(world.inbox.allEvents().map(({ kind }) => kind)).toEqual(['task.queued', 'task.queued']);
  });

  it("joins a task row to the delivery of its job, and a rerun to the rerun's", async () => {
    const world = aWorld();
    const row = { name: 'build', head_sha: SHA_A, status: 'success', url: '/acme/app/actions/runs/6' };

    const first = await world.deliver('workflow_job');
    const told = await world.readRow(row, 'tasks');
    const rerun = await world.deliver('workflow_job', { attempt: 2 });
    const toldAgain = await world.readRow(row, 'tasks');

    expect(told.joined).toEqual(first.created);
    expect(toldAgain.joined).toEqual(rerun.created);
  });

  it('closes a row that tells nothing, and says why', async () => {
    const world = aWorld();

    const row = await world.readRow({ op_type: 'create_issue', content: '1|x', repo: null });

    expect(row).toMatchObject({ created: [], joined: [], closed: 'the row names no repository' });
    expect(await world.inbox.list({ limit: 1 })).toMatchObject([
      { state: 'decided', reason: 'the row names no repository', code: 'no_repository', eventId: null },
    ]);
    expect(world.counted).toEqual(['feed none']);
  });

  const theirs = { id: 99, name: 'vault', full_name: 'victim/vault', owner: { id: 98, login: 'victim' } };

  it.each<[string, string, JsonObject, string, string, string]>([
    [
      'a repository of another organization',
      'issues',
      { repository: theirs },
      'tenant_other_owner',
      'repository',
      'victim',
    ],
    [
      'a run of another organization beside a repository of ours',
      'action_run_success',
      actionRun({ repository: REPOSITORY }),
      'tenant_other_owner',
      'run.repository',
      'victim',
    ],
    [
      'a package of ours linked to a repository of another organization',
      'package',
      linkedPackage(),
      'tenant_other_owner',
      'package.repository',
      'victim',
    ],
    [
      'our owner beside the full name of another',
      'push',
      { repository: { ...theirs, owner: { name: 'acme' } } },
      'tenant_contradiction',
      'repository',
      'victim',
    ],
  ])('quarantines %s with a code, and records it once', async (_title, eventType, change, code, place, named) => {
    const world = aWorld();

    const { arrivalId } = await world.deliver(eventType, change);

    expect(await world.inbox.list({ limit: 9 })).toMatchObject([
      { state: 'quarantined', code, eventId: null, eventKinds: [] },
    ]);
    expect(world.inbox.allEvents()).toEqual([]);
    expect(world.rung).toEqual([]);
    expect(world.recorded).toEqual([
      {
        class: 'tenant_mismatch',
        org: 'acme',
        arrivalId,
        source: 'webhook',
        hook: 'acme',
        type: eventType,
        code,
        place,
        named: expect.stringContaining(named),
      },
    ]);
  });

  it.each([
    ['the forge does too', true, []],
    ['the forge calls it as before', false, ['tenant_mismatch']],
  ])(
    'suspects a delivery that calls the organization otherwise, unless the forge does too: %s',
    async (_title, isRenamed, suspected) => {
      const world = aWorld(
        {},
        { orgs: { numberOf: async () => '77', numberAtHand: () => '77', isRenamed: async () => isRenamed } },
      );
      const owner = { id: 77, login: 'newname', username: 'newname' };
      await world.deliver('push', { repository: { ...REPOSITORY, full_name: 'newname/app', owner } });

      expect(await world.inbox.list({ limit: 9 })).toMatchObject([{ state: 'quarantined', code: 'tenant_renamed' }]);
      expect(world.recorded.map((one) => one.class)).toEqual(suspected);
    },
  );

  it('quarantines a delivery with the number of another organization by itself', async () => {
    const asked: boolean[] = [];
    let number: string | undefined;
    // Asked outside of the transaction, since an embedded store has one connection.
    const numberOf = async () => (asked.push(true), (number = '77'));
    const world = aWorld({}, { orgs: { numberOf, numberAtHand: () => number, isRenamed: async () => false } });
    const owner = { id: 78, login: 'acme', username: 'acme' };
    await world.deliver('push', { repository: { ...REPOSITORY, owner } });
    await world.deliver('push', { repository: { ...REPOSITORY, owner: { ...owner, id: 77 } } });

    expect((await world.inbox.list({ limit: 9 })).map(({ state, code }) => [state, code])).toEqual(
      expect.arrayContaining([
        ['quarantined', 'tenant_other_number'],
        ['decided', null],
      ]),
    );
  });

  it('binds what a person released once more, and quarantines it again', async () => {
    const world = aWorld();
    const { arrivalId } = await world.deliver('issues', { repository: theirs });

    expect(world.inbox.reopen(arrivalId)).toBe(true);
    await world.decide(arrivalId);

    expect(await world.inbox.list({ limit: 9 })).toMatchObject([{ state: 'quarantined', code: 'tenant_other_owner' }]);
    expect(world.inbox.allEvents()).toEqual([]);
    expect(world.recorded).toHaveLength(2);
  });

  it('keeps the event of a row whose repository moved away, about no repository', async () => {
    const world = aWorld();

    const { created } = await world.readRow({ ...closedRow, repo: theirs, repo_id: 99 });

    expect(await world.inbox.event(given(created[0]))).toMatchObject({ kind: 'issue.closed', org: 'acme', repo: null });
    expect(await world.inbox.list({ limit: 9 })).toMatchObject([
      { state: 'decided', code: 'repository_moved', eventKinds: ['issue.closed'] },
    ]);
    expect(world.recorded).toEqual([]);
  });

  it('sets a delivery aside that cannot be read any more', async () => {
    const world = aWorld();

    await world.deliver('issues', { issue: null });

    expect(await world.inbox.list({ limit: 1 })).toMatchObject([
      { state: 'quarantined', eventId: null, code: 'misfit' },
    ]);
  });

  it('sets an arrival aside whose reading fails, so that it holds nobody up', async () => {
    const world = aWorld({
      normalizeEntry: () => {
        throw new Error('a mistake of ours');
      },
    });

    const row = await world.readRow(closedRow);

    expect(row.closed).toBe('reading it failed');
    expect(await world.inbox.dueArrivals(10)).toEqual([]);
  });

  it('announces nothing when the transaction fails', async () => {
    const world = aWorld();
    const { deps } = world;
    const failing: ArrivalParts = {
      ...deps,
      inbox: {
        ...deps.inbox,
        inBatch: async (work) => {
          await deps.inbox.inBatch(work);
          throw new Error('commit failed');
        },
      },
    };
    const text = stringifyJson(sampleBody('issues'));
    const delivery = aDelivery({ eventType: 'issues', event: 'issues', deliveryId: 'd', text, receivedAt: new Date() });
    await world.inbox.storeDeliveries([delivery]);

    await expect(decideArrival(failing, delivery.id)).rejects.toThrow('commit failed');

    expect(world.rung).toEqual([]);
    expect(world.counted).toEqual([]);
  });

  describe('deliveries of one text', () => {
    const AT = Date.parse('2026-11-20T12:00:00Z');
    interface Sent {
      readonly action?: string;
      readonly hook?: string;
      readonly deliveryId?: string;
      readonly second?: number;
    }

    async function sent(world: ReturnType<typeof aWorld>, ...all: readonly Sent[]) {
      const deliveries = all.map(({ action = 'closed', second = 0, ...over }) =>
        aDelivery({
          eventType: 'issues',
          event: 'issues',
          text: stringifyJson({ ...sampleBody('issues'), action }),
          receivedAt: new Date(AT + second * 1_000),
          ...over,
        }),
      );
      await world.inbox.storeDeliveries(deliveries);
      for (const { id } of deliveries) await decideArrival(world.deps, id);
      return deliveries;
    }
    const kinds = (world: ReturnType<typeof aWorld>): string[] => world.inbox.allEvents().map(({ kind }) => kind);
    const REOPENED = { action: 'reopened' };

    it('make one event; the others are counted with the first, and only that', async () => {
      const setAside: unknown[] = [];
      const alerts: string[] = [];
      const world = aWorld(
        {},
        { setAside: (what) => void setAside.push(what), alerts: { raise: (key) => void alerts.push(key) } },
      );

      const [first, again] = await sent(world, {}, {}, { second: 3600 });

      expect(kinds(world)).toEqual(['issue.closed']);
      expect(await world.inbox.list({ limit: 9 })).toMatchObject([{ id: first?.id, repeats: 2 }]);
      expect(await world.inbox.get(given(again).id)).toMatchObject({ state: 'decided', text: '' });
      expect(setAside).toEqual([1, 2].map(() => ({ org: 'acme', hook: 'acme', code: 'duplicate' })));
      expect([world.counted, world.recorded, alerts]).toEqual([['webhook issue.closed'], [], []]);
    });

    it('make a second event where an act that undoes the first came between', async () => {
      const world = aWorld();

      await sent(world, {}, REOPENED, { second: 1 });

      expect(kinds(world)).toEqual(['issue.closed', 'issue.reopened', 'issue.closed']);
    });

    it('never make a third', async () => {
      const world = aWorld();

      await sent(world, {}, REOPENED, {}, REOPENED, {}, REOPENED, {});

      expect(kinds(world)).toEqual(['issue.closed', 'issue.reopened', 'issue.closed', 'issue.reopened']);
    });

    it.each<[string, readonly Sent[]]>([
      ['nothing came between', [{}, {}]],
      ['another act came between', [{}, { action: 'edited' }, {}]],
      ['the opposite came before', [REOPENED, {}, {}]],
      ['the opposite came by another hook', [{}, { ...REOPENED, hook: 'second' }, {}]],
      ['it comes by another hook', [{}, REOPENED, { hook: 'second' }]],
      ['it comes under the same id', [{ deliveryId: 'same' }, REOPENED, { deliveryId: 'same' }]],
      ['it comes too late', [{}, REOPENED, { second: 11 }]],
    ])('are duplicates where %s', async (_title, all) => {
      const world = aWorld();

      await sent(world, ...all);

      expect(kinds(world).filter((kind) => kind === 'issue.closed')).toHaveLength(1);
    });

    it('wait for what came between and is not decided yet, but not for ever', async () => {
      for (const [waitedMs, kept] of [
        [0, ['issue.closed', 'issue.reopened', 'issue.closed']],
        [3_601_000, ['issue.closed', 'issue.reopened']],
      ] as const) {
        const world = aWorld();
        const receivedAt = new Date(Date.now() - waitedMs);
        const [first, undo, again] = [{}, REOPENED, {}].map((change) =>
          aDelivery({
            eventType: 'issues',
            event: 'issues',
            text: stringifyJson({ ...sampleBody('issues'), action: 'closed', ...change }),
            receivedAt,
          }),
        );
        await world.inbox.storeDeliveries([given(first), given(undo), given(again)]);
        await decideArrival(world.deps, given(first).id);

        const decided = await decideArrival(world.deps, given(again).id);
        expect([decided === null, await world.inbox.dueArrivals(9)]).toEqual(
          waitedMs === 0 ? [true, [given(undo).id, given(again).id]] : [false, [given(undo).id]],
        );

        await decideArrival(world.deps, given(undo).id);
        await decideArrival(world.deps, given(again).id);

        expect(kinds(world)).toEqual(kept);
      }
    });
  });

  describe('a delivery of an old act', () => {
    const DAY = 86_400_000;
    const WEEK = 7 * DAY;
    const issue = sampleBody('issues').issue as JsonObject;
    /** Closed so long before now, when it arrives. */
    const closedBefore = (ms: number): JsonObject => ({
      ...closed,
      issue: { ...issue, state: 'closed', closed_at: new Date(Date.now() - ms).toISOString() },
    });

    it('is quarantined with the time of the act, and is no event, until a person releases it', async () => {
      const world = aWorld({}, { maxActAgeMs: WEEK });
      const change = closedBefore(31 * DAY);

      const { arrivalId, created, joined } = await world.deliver('issues', change);

      expect([created, joined, world.rung, world.inbox.allEvents()]).toEqual([[], [], [], []]);
      const actAt = (change.issue as JsonObject).closed_at as string;
      expect(await world.inbox.list({ limit: 1 })).toMatchObject([
        { state: 'quarantined', code: 'act_too_old', reason: expect.stringContaining(actAt) },
      ]);
      expect(world.recorded).toEqual([
        {
          class: 'act_too_old',
          arrivalId,
          org: 'acme',
          source: 'webhook',
          hook: 'acme',
          type: 'issues',
          kind: 'issue.closed',
          actAt,
        },
      ]);

      world.inbox.reopen(arrivalId);

      expect((await world.decide(arrivalId)).created).toHaveLength(1);
      expect(world.recorded).toHaveLength(1);
    });

    it('is decided where no age is set, or the act is younger', async () => {
      expect((await aWorld().deliver('issues', closedBefore(400 * DAY))).created).toHaveLength(1);
      expect((await aWorld({}, { maxActAgeMs: WEEK }).deliver('issues', closedBefore(6 * DAY))).created).toHaveLength(
        1,
      );
    });

    it('is decided where its kind tells no time of the act, however old its objects are', async () => {
      const world = aWorld({}, { maxActAgeMs: WEEK });
      const old = new Date(Date.now() - 400 * DAY).toISOString();

      expect(
        (await world.deliver('issues', { issue: { ...issue, created_at: old, updated_at: old } })).created,
      ).toHaveLength(1);
      expect((await world.deliver('push')).created).toHaveLength(1);
      // The label was there already: the forge sends the delivery and leaves `updated_at` as it was.
      expect(
        (await world.deliver('issue_label', { issue: { ...issue, created_at: old, updated_at: old } })).created,
      ).toHaveLength(1);
    });

    it('does not grow old while it waits for a worker', async () => {
      const world = aWorld(
        {},
        { maxActAgeMs: WEEK, clock: { ...systemClock, now: () => new Date(Date.now() + 30 * DAY) } },
      );

      expect((await world.deliver('issues', closedBefore(DAY))).created).toHaveLength(1);
    });

    it('is another thing than an old row of the feed, which the forge tells now', async () => {
      const world = aWorld({}, { maxActAgeMs: WEEK });

      expect((await world.readRow({ ...closedRow, created: '2020-11-20T19:36:05+01:00' })).created).toHaveLength(1);
    });

    it('stays quarantined after a release where it names another organization', async () => {
      const world = aWorld({}, { maxActAgeMs: WEEK });
      const repository = { id: 99, name: 'vault', full_name: 'victim/vault', owner: { login: 'victim' } };

      const { arrivalId } = await world.deliver('issues', { ...closedBefore(31 * DAY), repository });
      world.inbox.reopen(arrivalId);
      await world.decide(arrivalId);

      expect(await world.inbox.list({ limit: 1 })).toMatchObject([
        { state: 'quarantined', code: expect.stringMatching(/^tenant_/) },
      ]);
      expect(world.inbox.allEvents()).toEqual([]);
    });
  });

  describe('tells what became of an arrival', () => {
    function aTellingWorld(settings: Partial<ArrivalParts> = {}) {
      const lines: string[] = [];
      const facts: object[] = [];
      const line = (level: string) => (fields: object, name: string) => {
        lines.push(`${level} ${name}`);
        facts.push(fields);
      };
      const alerts: string[] = [];
      const aside: string[] = [];
      const world = aWorld(
        {},
        {
          logger: {
            debug: line('debug'),
            info: line('info'),
            warn: line('warn'),
            error: line('error'),
          } as ArrivalParts['logger'],
          alerts: { raise: (key, { code }, more) => void alerts.push(`${key} ${code} ${JSON.stringify(more)}`) },
          setAside: ({ org, hook, code }) => void aside.push(`${org} ${hook} ${code}`),
          ...settings,
        },
      );
      return { ...world, lines, facts, alerts, aside };
    }

    it('as an event, and once more', async () => {
      const world = aTellingWorld();
      const { created, arrivalId } = await world.deliver('issues', closed);
      await world.readRow(closedRow);

      expect(world.lines).toEqual(['debug event.stored', 'debug arrival.duplicate']);
      expect(world.facts).toMatchObject([
        { arrivalId, org: 'acme', source: 'webhook', eventId: created[0], kind: 'issue.closed' },
        { org: 'acme', source: 'feed', eventId: created[0] },
      ]);
      expect([world.alerts, world.aside]).toEqual([[], []]);
      expect(world.counted).toEqual(['webhook issue.closed']);
    });

    it('as a duplicate of a text, which nobody counts as an arrival without an event', async () => {
      const world = aTellingWorld();
      await world.deliver('push');
      await world.deliver('push');

      expect(world.lines).toEqual(['debug event.stored', 'debug delivery.duplicate']);
      expect(world.facts[1]).toMatchObject({ reason: expect.stringMatching(/^it says what delivery .+ said$/) });
      expect(world.aside).toEqual(['acme acme duplicate']);
      expect(world.counted).toEqual(['webhook push']);
      expect(world.alerts).toEqual([]);
    });

    it('as a delivery that cannot be read, with an alert of its hook and code', async () => {
      const world = aTellingWorld();
      const { arrivalId, closed: reason } = await world.deliver('issues', { action: 'pinned' });

      expect(world.lines).toEqual(['info arrival.no-event']);
      expect(world.facts).toEqual([{ arrivalId, org: 'acme', source: 'webhook', reason }]);
      expect(world.aside).toEqual(['acme acme unknown_kind']);
      expect(world.alerts).toEqual([
        `delivery.quarantined/acme/acme/unknown_kind delivery.quarantined ${JSON.stringify({ arrivalId, org: 'acme', source: 'webhook' })}`,
      ]);
      expect(world.counted).toEqual(['webhook none']);
    });

    it('as one of another tenant, where the security log raises its own alert', async () => {
      const world = aTellingWorld();
      const repository = { id: 99, name: 'vault', full_name: 'victim/vault', owner: { login: 'victim' } };
      await world.deliver('issues', { ...closed, repository });

      expect(world.recorded).toMatchObject([{ class: 'tenant_mismatch', hook: 'acme', type: 'issues' }]);
      expect(world.alerts).toEqual([]);
      expect(world.aside).toHaveLength(1);
    });

    it('as a row that tells nothing, without an alert', async () => {
      const world = aTellingWorld();
      await world.readRow({ op_type: 'create_issue', content: '1|x', repo: null });

      expect(world.lines).toEqual(['info arrival.no-event']);
      expect([world.alerts, world.aside]).toEqual([[], []]);
      expect(world.counted).toEqual(['feed none']);
      expect(await world.inbox.list({ limit: 1 })).toMatchObject([{ state: 'decided' }]);
    });
  });

  describe('where events are decided with their arrival', () => {
    type AtHand = NonNullable<ArrivalParts['atHand']>;
    const UNWANTED = { by: { revisionId: 'rev-1', bot: null }, runs: [] };
    let asked: string[];
    const recorder: ArrivalParts['recorder'] = {
      written: async (decisions) => {
        for (const { runs } of decisions) asked.push(`written ${runs.length}`);
      },
    };
    const atHand = (over: Partial<AtHand> = {}): AtHand => ({
      touchedBy: ({ kind }) => (asked.push(`touched by ${kind}`), { effectKeys: [], orderKey: null }),
      decide: async ({ kind }) => (asked.push(`decide ${kind}`), UNWANTED),
      ...over,
    });

    beforeEach(() => {
      asked = [];
    });

    it('decides in the same transaction, and tells after it; nobody has to be woken', async () => {
      const world = aWorld({}, { atHand: atHand(), recorder });
      await world.deliver('issues', closed);

      expect(asked).toEqual(['touched by issue.closed', 'decide issue.closed', 'written 0']);
      expect(world.rung).toEqual([]);
    });

    it('takes the longer way where the decision needs an answer, or the event may touch an effect of ours', async () => {
      const needsAnswer = aWorld({}, { atHand: atHand({ decide: async () => null }) });
      await needsAnswer.deliver('issues', closed);
      expect(needsAnswer.rung).toEqual(['events of acme']);

      const touches = aWorld({}, { atHand: atHand({ touchedBy: () => null }) });
      await touches.deliver('issues', closed);
      expect(touches.rung).toEqual(['events of acme']);
      expect(asked).toEqual(['touched by issue.closed']);
    });

    it('decides an event of an object behind those of it that are not decided', async () => {
      let isAtHand = false;
      const world = aWorld(
        {},
        { atHand: atHand({ decide: async ({ kind }) => (asked.push(kind), isAtHand ? UNWANTED : null) }), recorder },
      );
      await world.deliver('issues', closed);
      isAtHand = true;
      await world.deliver('issues', { action: 'reopened' });

      expect(asked.filter((one) => one.startsWith('issue.'))).toEqual(['issue.closed']);
      expect(world.rung.at(-1)).toBe('events of acme');
    });
  });
});
