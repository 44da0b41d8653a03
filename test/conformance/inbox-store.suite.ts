import { beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../src/core/clock.js';
import type { ForgeEvent } from '../../src/core/event.js';
import { hashOf, newId } from '../../src/core/ids.js';
import { readText } from '../../src/core/json-bytes.js';
import type { Json, JsonObject } from '../../src/core/json.js';
import { stringifyJson } from '../../src/core/json.js';
import { silentLogger } from '../../src/core/logger.js';
import { type StatedObject, deriveFacts, isNews, statedObjectOf } from '../../src/events/derive/derive-facts.js';
import { deduplicateInto } from '../../src/events/deduplicate.js';
import { readDelivery } from '../../src/events/normalize-delivery.js';
import { normalizeEntry } from '../../src/events/normalize-entry.js';
import { decideArrival, decideBy } from '../builders/decide-all.js';
import type { ArrivalDecision, ArrivalNeeds } from '../../src/pipeline/decide/batch-knowledge.js';
import type { InboxStore } from '../../src/pipeline/inbox-store.port.js';
import { aDelivery, anEntry, anEvent } from '../builders/arrivals.js';
import { sampleBody } from '../builders/sample-bodies.js';

const THEIRS: JsonObject = { id: 99, name: 'vault', full_name: 'victim/vault', owner: { id: 98, login: 'victim' } };

/** What every inbox does, on whatever it stands. */
export function inboxStoreSuite(open: () => Promise<InboxStore>): void {
  let inbox: InboxStore;

  beforeEach(async () => {
    inbox = await open();
  });

  /** Deliver, and tell an event of that fact unless one is there: what deciding does in short. */
  async function tell(arrivalId: string, event: ForgeEvent): Promise<string | null> {
    return decideBy(inbox, arrivalId, (tx) => foldOrInsert(tx, event), naming(event.factKey));
  }

  it('keeps a delivery byte for byte', async () => {
    const body = Buffer.from([0x7b, 0x22, 0x00, 0xff, 0xfe, 0x22, 0x7d]);
    const delivery = aDelivery({ body, ...readText('json', body) });

    await inbox.storeDeliveries([delivery]);

    expect(await inbox.get(delivery.id)).toEqual({
      ...delivery,
      kind: 'delivery',
      state: 'stored',
      eventId: null,
      repeats: 0,
      archivedAt: null,
    });
  });

  it('keeps of each delivery of a batch what its own hook and headers say', async () => {
    const batch = [
      aDelivery(),
      aDelivery({ hook: 'app', eventType: 'issues', event: 'issues' }),
      aDelivery({ targetType: null }),
      aDelivery({ targetType: 'null' }),
      aDelivery({ targetType: '' }),
      aDelivery({ eventType: '', event: 'push', verdict: 'unsigned', deliveryId: '' }),
      aDelivery({ hook: 'app', eventType: 'issues', event: 'issues' }),
    ];

    await inbox.storeDeliveries(batch);

    for (const delivery of batch) expect(await inbox.get(delivery.id)).toMatchObject(delivery);
  });

  it('keeps body and text of a form apart', async () => {
    const text = '{"ref":"refs/heads/main"}';
    const form = aDelivery({ contentType: 'form', text, body: Buffer.from(`payload=${encodeURIComponent(text)}`) });
    const json = aDelivery();

    await inbox.storeDeliveries([form, json]);

    expect(await inbox.get(form.id)).toMatchObject({ text, body: form.body });
    expect(await inbox.get(json.id)).toMatchObject({ text: json.text, body: json.body });
  });

  /** What deciding does with equal texts, in short. @returns the id of the delivery that counts */
  const place = (id: string, keys: readonly string[]): Promise<string | null> =>
    decideBy(
      inbox,
      id,
      async (tx) => {
        const [key = ''] = keys;
        const [first] = tx.actsOfText([key]);
        if (first) tx.countWith(first);
        else tx.claimText(key, 'create');
        tx.close('decided', first ? 'again' : 'first', first ? 'duplicate' : null);
        return first?.id ?? id;
      },
      { texts: keys },
    );
  const aKey = (): string => hashOf(newId());

  it('counts deliveries of a text with the one that counts, and drops their bodies', async () => {
    const key = aKey();
    const [first, second] = [aDelivery(), aDelivery()];
    await inbox.storeDeliveries([first, second]);

    expect([await place(first.id, [key]), await place(second.id, [key])]).toEqual([first.id, first.id]);

    expect(await inbox.get(first.id)).toMatchObject({ repeats: 1, eventType: 'create', text: first.text });
    expect(await inbox.get(second.id)).toMatchObject({ state: 'decided', text: '', archivedAt: expect.anything() });
    expect((await inbox.list({ limit: 9 })).map(({ id }) => id)).toEqual([first.id]);
    expect(await inbox.undecidedBytes()).toEqual([]);
  });

  it('knows what counts by its key: its hook, its delivery id and when it was received', async () => {
    const [key, other] = [aKey(), aKey()];
    const [first, asking] = [aDelivery(), aDelivery()];
    await inbox.storeDeliveries([first, asking]);
    await place(first.id, [key]);

    const { id, hook, deliveryId, receivedAt } = first;
    expect(await decideBy(inbox, asking.id, (tx) => tx.actsOfText([other, key]), { texts: [key, other] })).toEqual([
      null,
      { id, hook, deliveryId, receivedAt },
    ]);
  });

  it('counts one of 50 equal deliveries that are decided at once', async () => {
    const key = aKey();
    const deliveries = Array.from({ length: 50 }, () => aDelivery());
    await inbox.storeDeliveries(deliveries);

    const counting = await Promise.all(deliveries.map(({ id }) => place(id, [key])));

    expect(new Set(counting).size).toBe(1);
    expect(await inbox.get(counting[0] ?? '')).toMatchObject({ repeats: 49 });
    expect(await inbox.dueArrivals(100)).toEqual([]);
  });

  it('decides overlapping texts at once, whatever their order', async () => {
    const keys = Array.from({ length: 20 }, aKey);
    const batches = Array.from({ length: 10 }, (_, n) =>
      (n % 2 === 0 ? keys : keys.toReversed()).map((key) => ({ key, delivery: aDelivery() })),
    );
    await Promise.all(batches.map((batch) => inbox.storeDeliveries(batch.map(({ delivery }) => delivery))));

    const counting = await Promise.all(batches.flat().map(({ key, delivery }) => place(delivery.id, [key])));

    expect(new Set(counting).size).toBe(20);
    expect((await inbox.list({ limit: 99 })).map(({ repeats }) => repeats)).toEqual(keys.map(() => 9));
  });

  it('sees what a hook brought between two deliveries: an act of a fact, or something undecided', async () => {
    const [before, first, undo, foreign, again, after] = [
      aDelivery(),
      aDelivery(),
      aDelivery(),
      aDelivery({ hook: 'other' }),
      aDelivery(),
      aDelivery(),
    ];
    for (const one of [before, first, undo, foreign, again, after]) await inbox.storeDeliveries([one]);
    const { id, hook, deliveryId, receivedAt } = first;
    const seen = (factKeys: string[]) =>
      decideBy(inbox, again.id, (tx) => tx.receivedBetween({ id, hook, deliveryId, receivedAt }, factKeys));
    for (const [one, factKey] of [
      [before, '7|before'],
      [foreign, '7|foreign'],
      [after, '7|after'],
    ] as const)
      await tell(one.id, anEvent({ factKey }));

    expect(await seen(['7|undo', '7|before', '7|foreign', '7|after'])).toBe('undecided');

    await tell(undo.id, anEvent({ factKey: '7|undo|twice' }));

    expect(await seen(['7|undo'])).toBe('opposite');
    expect(await seen(['7|undo|twice'])).toBe('opposite');
    expect(await seen(['7|und', '7|before', '7|foreign', '7|after'])).toBe('nothing');
  });

  it('stores a delivery once, however often it is told to', async () => {
    const [first, second, third] = [aDelivery(), aDelivery(), aDelivery()];
    await inbox.storeDeliveries([first, second]);

    await inbox.storeDeliveries([first, second]);
    await inbox.storeDeliveries([second, third, first]);

    expect(await inbox.dueArrivals(9)).toEqual([first.id, second.id, third.id]);
  });

  it('stores an entry once for each key, and knows which are known', async () => {
    const [first, second] = [anEntry({ entryKey: '1' }), anEntry({ entryKey: '2' })];

    expect(await inbox.storeEntries([first, second])).toEqual([
      { id: first.id, duplicate: false },
      { id: second.id, duplicate: false },
    ]);
    expect(
      await inbox.storeEntries([anEntry({ entryKey: '2' }), anEntry({ entryKey: '2', source: 'tasks' })]),
    ).toMatchObject([{ id: second.id, duplicate: true }, { duplicate: false }]);

    expect(await inbox.knownEntries('main', 'acme', 'feed', ['1', '2', '3'])).toEqual(new Set(['1', '2']));
    expect(await inbox.knownEntries('main', 'acme', 'tasks', ['1', '2', '3'])).toEqual(new Set(['2']));
    expect(await inbox.get(first.id)).toEqual({
      ...first,
      kind: 'entry',
      state: 'stored',
      eventId: null,
      repeats: 0,
      archivedAt: null,
    });
  });

  it('keeps entries from before the first start as known, never due', async () => {
    const entry = anEntry();

    await inbox.storeEntries([entry], { reason: 'from before the first start' });

    expect(await inbox.dueArrivals(9)).toEqual([]);
    expect(await inbox.list({ limit: 9 })).toMatchObject([
      { id: entry.id, state: 'decided', reason: 'from before the first start', eventId: null },
    ]);
  });

  it('gives due arrivals oldest first, up to the limit', async () => {
    const deliveries = [aDelivery(), aDelivery(), aDelivery()];
    await inbox.storeDeliveries(deliveries);

    expect(await inbox.dueArrivals(2)).toEqual(deliveries.slice(0, 2).map(({ id }) => id));
  });

  it('joins an arrival to its event, and it is due no more', async () => {
    const delivery = aDelivery();
    const event = anEvent({
      data: { ref: 'refs/heads/main', big: 9007199254740993n, title: 'nul \0 and \ud800' },
      factAt: null,
      actor: null,
    });
    await inbox.storeDeliveries([delivery]);

    expect(await tell(delivery.id, event)).toBe(event.id);

    expect(await inbox.dueArrivals(9)).toEqual([]);
    expect(await inbox.get(delivery.id)).toMatchObject({ state: 'decided', eventId: event.id });
    const stored = await inbox.event(event.id);
    expect(stored).toMatchObject({
      id: event.id,
      kind: 'push',
      factKey: event.factKey,
      factAt: null,
      actor: null,
      repo: event.repo,
      storedAt: event.storedAt,
    });
    expect(stored?.data).toMatchObject({ ref: 'refs/heads/main', big: 9007199254740993n });
    expect(await inbox.undecidedEvents(9)).toEqual([event.id]);
  });

  it('counts what waits: arrivals, and the events that came of them', async () => {
    expect(await inbox.backlog()).toEqual({ arrivals: 0, events: 0 });
    const deliveries = Array.from({ length: 1_200 }, () => aDelivery());
    await inbox.storeDeliveries(deliveries);
    for (const { id } of deliveries.slice(0, 3)) await tell(id, anEvent({ factKey: id }));

    expect(await inbox.backlog()).toEqual({ arrivals: 1_197, events: 3 });
  });

  it('counts the bytes of deliveries that wait, by hook; entries and what is decided do not count', async () => {
    expect(await inbox.undecidedBytes()).toEqual([]);
    const [first, second, decided] = [
      aDelivery({ hook: 'one' }),
      aDelivery({ hook: 'two' }),
      aDelivery({ hook: 'two' }),
    ];
    await inbox.storeDeliveries([first, second, decided]);
    await inbox.storeEntries([anEntry()]);
    await tell(decided.id, anEvent());

    expect((await inbox.undecidedBytes()).toSorted((a, b) => a.hook.localeCompare(b.hook))).toEqual([
      { hook: 'one', bytes: first.body.length },
      { hook: 'two', bytes: second.body.length },
    ]);
  });

  it('tells of which repositories deliveries told events of some kinds since a time', async () => {
    const before = new Date();
    const told = async (over: Partial<ForgeEvent>, org = 'acme'): Promise<void> => {
      const delivery = aDelivery({ org });
      await inbox.storeDeliveries([delivery]);
      await tell(delivery.id, anEvent({ factKey: newId(), org, ...over }));
    };
    const repo = (id: string): ForgeEvent['repo'] => ({ id, owner: 'acme', name: 'r', full_name: 'acme/r' });
    await told({ kind: 'task.started', repo: repo('1') });
    await told({ kind: 'task.finished', repo: repo('1') });
    await told({ kind: 'workflow.finished', repo: repo('2') });
    await told({ kind: 'push', repo: repo('3') });
    await told({ kind: 'task.started', repo: null });
    await told({ kind: 'task.started', repo: repo('4') }, 'other');
    const entry = anEntry({ source: 'tasks' });
    await inbox.storeEntries([entry]);
    await tell(entry.id, anEvent({ kind: 'task.started', source: 'tasks', factKey: newId(), repo: repo('5') }));

    const asked = async (since: Date, forge = 'main'): Promise<string[]> =>
      (await inbox.repositoriesTold({ forge, org: 'acme' }, ['task.started', 'workflow.finished'], since)).sort();
    expect([await asked(before), await asked(before, 'far'), await asked(new Date(Date.now() + 60_000))]).toEqual([
      ['1', '2'],
      [],
      [],
    ]);
  });

  it('shows an arrival the events of its fact that the other class of source alone has told, oldest first', async () => {
    const [delivery, entry, second, third] = [aDelivery(), anEntry(), aDelivery(), anEntry()];
    await inbox.storeDeliveries([delivery, second]);
    await inbox.storeEntries([entry, third]);
    const [paired, open] = [anEvent(), anEvent()];
    await tell(delivery.id, paired);
    const openTo = (id: string) => decideBy(inbox, id, (tx) => tx.eventsOfFact(paired.factKey), naming(paired.factKey));

    expect(await openTo(third.id)).toEqual([
      {
        ...{ id: paired.id, kind: 'push', factKey: paired.factKey, factAt: paired.factAt, data: {} },
        ...{ sources: ['webhook'], deniedAt: null },
      },
    ]);
    expect(await openTo(second.id)).toEqual([]);

    await tell(entry.id, anEvent());
    await decideBy(inbox, second.id, async (tx) => {
      tx.insertEvent(open);
      tx.join(open.id);
    });

    expect((await openTo(third.id))?.map(({ id }) => id)).toEqual([open.id]);
    expect(await inbox.arrivalsOfEvent(paired.id)).toEqual([
      {
        ...{ id: delivery.id, source: 'webhook', at: delivery.receivedAt, repeats: 0 },
        ...{ hook: delivery.hook, deliveryId: delivery.deliveryId },
      },
      { id: entry.id, source: 'feed', at: entry.readAt, hook: null, deliveryId: null, repeats: 0 },
    ]);
    expect(await inbox.arrivalsOfEvent('nothing')).toEqual([]);
    expect(await inbox.get(third.id)).toMatchObject({ state: 'stored' });
  });

  it('shows the events of a discussion beside those of the fact', async () => {
    const entries = [anEntry(), anEntry(), anEntry()];
    const delivery = aDelivery();
    await inbox.storeEntries(entries);
    await inbox.storeDeliveries([delivery]);
    const [review, comment, other] = [
      anEvent({ factKey: 'review' }),
      anEvent({ factKey: 'comment' }),
      anEvent({ factKey: 'comment', forge: 'second' }),
    ];
    for (const [n, event] of [review, comment, other].entries()) {
      await decideBy(inbox, entries[n]?.id ?? '', async (tx) => {
        tx.insertEvent(event, n === 1 ? undefined : 'talk');
        tx.join(event.id);
      });
    }

    const seen = async (factKey: string, discussionKey?: string) =>
      (
        await decideBy(inbox, delivery.id, (tx) => tx.eventsOfFact(factKey, discussionKey), {
          facts: [{ factKey, discussionKey }],
        })
      )?.map(({ id }) => id);

    expect(await seen('comment')).toEqual([comment.id]);
    expect(await seen('comment', 'talk')).toEqual([review.id, comment.id]);
    expect(await seen('nothing', 'talk')).toEqual([review.id]);
    expect(await seen('nothing')).toEqual([]);
  });

  it('joins several events to one arrival and names the first', async () => {
    const entry = anEntry();
    await inbox.storeEntries([entry]);
    const events = [anEvent({ factKey: 'a' }), anEvent({ factKey: 'b', kind: 'tag.created' })];

    await decideBy(inbox, entry.id, async (tx) => {
      for (const event of events) {
        tx.insertEvent(event);
        tx.join(event.id);
      }
    });

    expect(await inbox.get(entry.id)).toMatchObject({ eventId: events[0]?.id });
    expect(await inbox.eventsOfArrival(entry.id)).toEqual(events.map(({ id }) => id));
    expect(await inbox.undecidedEvents(9)).toEqual(events.map(({ id }) => id));
    expect(await inbox.list({ limit: 9 })).toMatchObject([
      { eventId: events[0]?.id, eventKinds: [events[0]?.kind, 'tag.created'] },
    ]);
  });

  it('closes an arrival that makes no event, with its reason', async () => {
    const delivery = aDelivery({ eventType: 'something_new' });
    await inbox.storeDeliveries([delivery]);

    await decideBy(inbox, delivery.id, (tx) => tx.close('decided', 'no such kind', 'no_such_kind'));

    expect(await inbox.list({ limit: 9 })).toEqual([
      {
        id: delivery.id,
        kind: 'delivery',
        org: 'acme',
        hook: 'acme',
        source: 'webhook',
        eventType: 'something_new',
        deliveryId: delivery.deliveryId,
        state: 'decided',
        reason: 'no such kind',
        code: 'no_such_kind',
        eventId: null,
        eventKinds: [],
        eventIds: [],
        repeats: 0,
        verdict: 'signed',
        at: delivery.receivedAt,
        archivedAt: null,
      },
    ]);
  });

  it('writes nothing when deciding fails', async () => {
    const delivery = aDelivery();
    await inbox.storeDeliveries([delivery]);
    const event = anEvent();

    const failing = decideBy(inbox, delivery.id, async (tx) => {
      tx.insertEvent(event);
      tx.join(event.id);
      throw new Error('half way');
    });

    await expect(failing).rejects.toThrow('half way');
    expect(await inbox.event(event.id)).toBeNull();
    expect(await inbox.get(delivery.id)).toMatchObject({ state: 'stored', eventId: null });
  });

  it('decides an arrival once, however many try at once', async () => {
    const delivery = aDelivery();
    await inbox.storeDeliveries([delivery]);

    const decided = await Promise.all(Array.from({ length: 10 }, () => tell(delivery.id, anEvent())));

    expect(decided.filter((id) => id !== null)).toHaveLength(1);
    expect(await inbox.undecidedEvents(99)).toHaveLength(1);
  });

  it('makes one event of twins that are decided at once', async () => {
    const [delivery, entry] = [aDelivery(), anEntry()];
    await inbox.storeDeliveries([delivery]);
    await inbox.storeEntries([entry]);

    const [one, other] = await Promise.all([tell(delivery.id, anEvent()), tell(entry.id, anEvent())]);

    expect(one).toBe(other);
    expect(await inbox.undecidedEvents(9)).toEqual([one]);
  });

  it.each<[string, string, JsonObject, string]>([
    ['a repository of another organization', 'push', { repository: THEIRS }, 'tenant_other_owner'],
    [
      'our owner beside the full name of another',
      'push',
      { repository: { ...THEIRS, owner: { name: 'acme' } } },
      'tenant_contradiction',
    ],
    [
      'a run of another organization beside a repository of ours',
      'action_run_success',
      {
        repository: sampleBody('push').repository ?? null,
        run: { ...(sampleBody('action_run_success').run as JsonObject), repository: THEIRS },
      },
      'tenant_other_owner',
    ],
    [
      'a package of ours with a repository of another organization',
      'package',
      { package: { ...(sampleBody('package').package as JsonObject), repository: THEIRS } },
      'tenant_other_owner',
    ],
  ])('keeps %s as quarantined, with its code', async (_title, eventType, change, code) => {
    const events = { readDelivery, normalizeEntry, deduplicateInto, statedObjectOf, deriveFacts, isNews };
    const text = stringifyJson({ ...sampleBody(eventType), ...change });
    const delivery = aDelivery({ eventType, text, body: Buffer.from(text) });
    await inbox.storeDeliveries([delivery]);

    await decideArrival(
      { inbox, queue: { ring: () => undefined }, clock: systemClock, logger: silentLogger, events },
      delivery.id,
    );

    expect(await inbox.list({ limit: 9 })).toMatchObject([
      { state: 'quarantined', code, eventId: null, eventKinds: [] },
    ]);
    expect(await inbox.undecidedEvents(9)).toEqual([]);
    expect(await inbox.dueArrivals(9)).toEqual([]);
  });

  it('decides about many facts at once, each locking several in its own order', async () => {
    const deliveries = Array.from({ length: 6 }, () => aDelivery());
    const entries = Array.from({ length: 6 }, () => anEntry());
    await inbox.storeDeliveries(deliveries);
    await inbox.storeEntries(entries);
    const tellAll = (id: string, facts: string[]) =>
      decideBy(
        inbox,
        id,
        async (tx) => {
          for (const factKey of facts) foldOrInsert(tx, anEvent({ factKey }));
        },
        naming(...facts),
      );

    await Promise.all(
      deliveries.flatMap(({ id }, n) => [tellAll(id, ['a', 'b', 'c']), tellAll(entries[n]?.id ?? '', ['c', 'b', 'a'])]),
    );

    // Each telling of one source has met one of the other.
    expect(await inbox.undecidedEvents(99)).toHaveLength(18);
  });

  it('decides those about one thing one after the other, each seeing what the one before wrote', async () => {
    const deliveries = Array.from({ length: 12 }, () => aDelivery());
    await inbox.storeDeliveries(deliveries);
    const object = { repoId: '7', kind: 'issue', objectId: 'counted' } as const;

    const counts = await Promise.all(
      deliveries.map(({ id }) =>
        decideBy(
          inbox,
          id,
          async (tx) => {
            const count = Number(tx.objectState(object)?.['count'] ?? 0) + 1;
            tx.keepObjectState(object, { count });
            tx.close('decided', `number ${count}`);
            return count;
          },
          { objects: [object] },
        ),
      ),
    );

    expect(counts.sort((a, b) => Number(a) - Number(b))).toEqual(deliveries.map((_, n) => n + 1));
  });

  it('spoils no other when one of many that are decided at once fails', async () => {
    const deliveries = Array.from({ length: 9 }, () => aDelivery());
    await inbox.storeDeliveries(deliveries);

    const ended = await Promise.allSettled(
      deliveries.map(({ id }, n) =>
        decideBy(
          inbox,
          id,
          async (tx) => {
            foldOrInsert(tx, anEvent({ factKey: `one of many ${n}` }));
            if (n === 4) throw new Error('half way');
          },
          naming(`one of many ${n}`),
        ),
      ),
    );

    expect(ended.map(({ status }) => status)).toEqual(deliveries.map((_, n) => (n === 4 ? 'rejected' : 'fulfilled')));
    expect(await inbox.dueArrivals(99)).toEqual([deliveries[4]?.id]);
    expect(await inbox.undecidedEvents(99)).toHaveLength(8);
  });

  it('decides many large ones at once', async () => {
    const texts = Array.from({ length: 5 }, (_, n) => JSON.stringify({ n, text: 'x'.repeat(700_000) }));
    const deliveries = texts.map((text) => aDelivery({ text, body: Buffer.from(text) }));
    await inbox.storeDeliveries(deliveries);

    const read = await Promise.all(
      deliveries.map(({ id }) =>
        decideBy(inbox, id, async (tx) => {
          tx.close('decided', 'large');
          return tx.arrival.text.length;
        }),
      ),
    );

    expect(read).toEqual(texts.map(({ length }) => length));
    expect(await inbox.dueArrivals(99)).toEqual([]);
  });

  it('stores facts and names of any length and content', async () => {
    const long = `7|push|refs/heads/${'ä\0'.repeat(20_000)}`;
    const [delivery, entry] = [aDelivery(), anEntry({ entryKey: long })];
    await inbox.storeDeliveries([delivery]);
    await inbox.storeEntries([entry]);

    const event = await tell(delivery.id, anEvent({ factKey: long }));

    expect(await tell(entry.id, anEvent({ factKey: long }))).toBe(event);
    expect(await inbox.knownEntries('main', 'acme', 'feed', [long])).toEqual(new Set([long]));
  });

  it('lists newest first, by organization and kind', async () => {
    const [old, young, foreign] = [aDelivery(), anEntry(), aDelivery({ org: 'other' })];
    await inbox.storeDeliveries([old]);
    await inbox.storeEntries([young]);
    await inbox.storeDeliveries([foreign]);

    const ids = async (filter: Parameters<InboxStore['list']>[0]): Promise<string[]> =>
      (await inbox.list(filter)).map(({ id }) => id);

    expect(await ids({ limit: 2 })).toEqual([foreign.id, young.id]);
    expect(await ids({ org: 'Acme', limit: 9 })).toEqual([young.id, old.id]);
    expect(await ids({ org: 'acme', kind: 'delivery', limit: 9 })).toEqual([old.id]);
  });

  it('gives up the bodies of old arrivals that are decided, the oldest first, and keeps what makes them known', async () => {
    const at = (day: number): Date => new Date(Date.UTC(2026, 0, day));
    const [oldest, old, young, waiting] = [
      aDelivery({ receivedAt: at(1) }),
      anEntry({ readAt: at(2) }),
      aDelivery({ receivedAt: at(9) }),
      aDelivery({ receivedAt: at(1) }),
    ];
    await inbox.storeDeliveries([oldest, young, waiting]);
    await inbox.storeEntries([old]);
    const [key, event] = [aKey(), anEvent()];
    await decideBy(
      inbox,
      oldest.id,
      async (tx) => {
        tx.claimText(key, 'push');
        foldOrInsert(tx, event);
      },
      naming(event.factKey),
    );
    await decideBy(inbox, old.id, (tx) => tx.close('decided', 'tells nothing'));
    await decideBy(inbox, young.id, (tx) => tx.close('quarantined', 'cannot be read'));

    expect([await inbox.archive(at(5), 1), await inbox.archive(at(5), 9), await inbox.archive(at(5), 9)]).toEqual([
      1, 1, 0,
    ]);

    expect(await inbox.get(oldest.id)).toMatchObject({
      body: Buffer.alloc(0),
      text: '',
      textHash: oldest.textHash,
      eventId: event.id,
      archivedAt: expect.anything(),
    });
    expect(await inbox.get(old.id)).toMatchObject({ text: '', archivedAt: expect.anything() });
    expect((await inbox.get(young.id))?.text).toBe(young.text);
    expect((await inbox.get(waiting.id))?.text).toBe(waiting.text);
    expect((await inbox.list({ limit: 9 })).flatMap(({ id, archivedAt }) => (archivedAt ? [id] : [])).sort()).toEqual(
      [oldest.id, old.id].sort(),
    );
    const again = aDelivery({ receivedAt: at(20) });
    await inbox.storeDeliveries([again]);
    expect(await place(again.id, [key])).toBe(oldest.id);
    expect(await inbox.knownEntries('main', 'acme', 'feed', [old.entryKey])).toEqual(new Set([old.entryKey]));
  });

  it.each(['', 'nothing', newId()])('has nothing under the id "%s"', async (id) => {
    expect(await inbox.get(id)).toBeNull();
    expect(await inbox.event(id)).toBeNull();
    expect(await inbox.eventsOfArrival(id)).toEqual([]);
    expect(await decideBy(inbox, id, async () => 1)).toBeNull();
  });

  describe('the state of an object', () => {
    const issue = { repoId: '7', kind: 'issue', objectId: '1' } as const;
    const stateOf = async (object: StatedObject, forge = 'main', org = 'acme'): Promise<JsonObject | null> => {
      const delivery = aDelivery({ org, forge });
      await inbox.storeDeliveries([delivery]);
      return decideBy(inbox, delivery.id, (tx) => tx.objectState(object), { objects: [object] });
    };
    const keep = async (state: JsonObject, object: StatedObject = issue): Promise<void> => {
      const delivery = aDelivery();
      await inbox.storeDeliveries([delivery]);
      await decideBy(inbox, delivery.id, (tx) => tx.keepObjectState(object, state));
    };

    it('is what was kept last, and nothing before', async () => {
      expect(await stateOf(issue)).toBeNull();

      await keep({ labels: { value: ['a'], at: null, told: true } });
      await keep({ labels: { value: ['b', 'ü'], at: '2026-11-20T12:00:00.000Z', told: true } });

      expect(await stateOf(issue)).toEqual({
        labels: { value: ['b', 'ü'], at: '2026-11-20T12:00:00.000Z', told: true },
      });
    });

    it('is seen in the transaction that keeps it', async () => {
      const delivery = aDelivery();
      await inbox.storeDeliveries([delivery]);

      const seen = await decideBy(
        inbox,
        delivery.id,
        async (tx) => {
          tx.keepObjectState(issue, { a: 1 });
          return tx.objectState(issue);
        },
        { objects: [issue] },
      );

      expect(seen).toEqual({ a: 1 });
    });

    it.each<[string, StatedObject, string]>([
      ['another repository', { ...issue, repoId: '8' }, 'main'],
      ['another kind', { ...issue, kind: 'pull_request' }, 'main'],
      ['another object', { ...issue, objectId: '2' }, 'main'],
      ['another forge', issue, 'other'],
    ])('is not that of %s', async (_title, object, forge) => {
      await keep({ a: 1 });

      expect(await stateOf(object, forge)).toBeNull();
    });

    it('is not that of another organization, which may name any number in its bodies', async () => {
      await keep({ a: 1 });
      const delivery = aDelivery({ org: 'other' });
      await inbox.storeDeliveries([delivery]);
      await decideBy(inbox, delivery.id, (tx) => tx.keepObjectState(issue, { a: 'poisoned' }));

      expect([await stateOf(issue), await stateOf(issue, 'main', 'other')]).toEqual([{ a: 1 }, { a: 'poisoned' }]);
    });

    it('is not kept when the decision fails', async () => {
      const delivery = aDelivery();
      await inbox.storeDeliveries([delivery]);

      await expect(
        decideBy(inbox, delivery.id, async (tx) => {
          tx.keepObjectState(issue, { a: 1 });
          throw new Error('no');
        }),
      ).rejects.toThrow('no');

      expect(await stateOf(issue)).toBeNull();
    });

    it('gives events what the forge does not say', async () => {
      const events = { readDelivery, normalizeEntry, deduplicateInto, statedObjectOf, deriveFacts, isNews };
      const deps = { inbox, queue: { ring: () => undefined }, clock: systemClock, logger: silentLogger, events };
      const told = async (
        eventType: string,
        action: string,
        second: number,
        labels: string[],
      ): Promise<Json | undefined> => {
        const at = new Date(Date.UTC(2026, 10, 20, 12, 0, second)).toISOString();
        const subject = {
          id: 11,
          number: 1,
          title: 'Crash',
          state: 'open',
          created_at: at,
          updated_at: at,
          labels: labels.map((name) => ({ name })),
        };
        const text = stringifyJson({ ...sampleBody('issues'), action, issue: subject });
        const delivery = aDelivery({ eventType, text, body: Buffer.from(text) });
        await inbox.storeDeliveries([delivery]);
        const decided = await decideArrival(deps, delivery.id);
        return (await inbox.event(decided?.created[0] ?? ''))?.data.derived;
      };

      await told('issues', 'opened', 1, []);

      expect(await told('issue_label', 'label_updated', 2, ['bug'])).toEqual({
        labels_added: ['bug'],
        labels_removed: [],
        not_known: [],
      });
      expect(await told('issue_label', 'label_updated', 9, ['race'])).toEqual({
        labels_added: ['race'],
        labels_removed: ['bug'],
        not_known: [],
      });
      // Comes late: what stood before it is not held, and it takes nothing back.
      expect(await told('issue_label', 'label_updated', 5, ['bug', 'race'])).toEqual({
        not_known: ['labels_added', 'labels_removed'],
      });
      expect(await told('issue_label', 'label_updated', 10, [])).toMatchObject({ labels_removed: ['race'] });
    });
  });
}

const naming = (...factKeys: readonly string[]): ArrivalNeeds => ({ facts: factKeys.map((factKey) => ({ factKey })) });

function foldOrInsert(tx: ArrivalDecision, event: ForgeEvent): string {
  const known = tx.eventsOfFact(event.factKey)[0]?.id;
  if (known === undefined) tx.insertEvent(event);
  tx.join(known ?? event.id);
  return known ?? event.id;
}
