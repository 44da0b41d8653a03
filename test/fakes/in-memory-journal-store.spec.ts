import { beforeEach, describe, expect, it } from '@jest/globals';
import { aRun, anIntent, claimOne, dueOf } from '../builders/journal.js';
import { InMemoryJournalStore } from './in-memory-journal-store.js';
import { ManualClock } from './manual-clock.js';
import { because } from '../builders/reasons.js';

const LEASE_MS = 5_000;

describe('test/fakes/in-memory-journal-store', () => {
  let clock: ManualClock;
  let store: InMemoryJournalStore;

  beforeEach(() => {
    clock = new ManualClock();
    store = new InMemoryJournalStore(clock);
  });

  async function plan(id: string, over: Partial<Parameters<typeof anIntent>[0]> = {}): Promise<void> {
    const intent = anIntent({ id, runId: `run-${id}`, ...over });
    await store.recordDecision({}, [
      {
        run: aRun({ id: intent.runId, rule: intent.rule, org: intent.org, runKey: `key-${intent.runId}` }),
        intents: [intent],
      },
    ]);
  }

  async function send(id: string): Promise<number> {
    const claim = await claimOne(store, id, 'me', LEASE_MS);
    await store.markSent(id, claim!.epoch, { id: `attempt-${id}`, operation: 'createLabel', requestHash: 'h' });
    return claim!.epoch;
  }

  it('leaves a decision that was made before alone, and marks its cause', async () => {
    const run = aRun({ id: 'r1', runKey: 'k' });

    const first = await store.recordDecision({ eventId: 'e1' }, [
      { run, intents: [anIntent({ id: 'i1', runId: 'r1' })] },
    ]);
    const second = await store.recordDecision({ eventId: 'e1' }, [
      { run: { ...run, id: 'r2' }, intents: [anIntent({ id: 'i2', runId: 'r2' })] },
    ]);

    expect([first, second]).toEqual([['i1'], []]);
    expect(await store.run('r2')).toBeNull();
    expect([...store.decidedEvents]).toEqual(['e1']);
  });

  it('lets one of two claims win', async () => {
    await plan('a');

    const claims = [await claimOne(store, 'a', 'me', LEASE_MS), await claimOne(store, 'a', 'you', LEASE_MS)];

    expect(claims.map((claim) => claim?.epoch ?? null)).toEqual([1, null]);
  });

  it('keeps the order of an order key while an earlier intent is planned, claimed or sent', async () => {
    await plan('a', { orderKey: 'l' });
    await plan('b', { orderKey: 'l' });

    expect(await dueOf(store, 9)).toEqual(['a']);
    const epoch = await send('a');
    expect(await claimOne(store, 'b', 'me', LEASE_MS)).toBeNull();
    await store.move({ intentId: 'a', epoch, from: ['sent'], to: 'done', reason: null });

    expect(await store.dueNear('a', 9)).toEqual([{ id: 'b', isBackground: false }]);
  });

  it('lets an intent in back-off hold its order key', async () => {
    await plan('a', { orderKey: 'l' });
    await plan('b', { orderKey: 'l' });
    const claim = await claimOne(store, 'a', 'me', LEASE_MS);
    await store.move({
      intentId: 'a',
      epoch: claim!.epoch,
      from: ['claimed'],
      to: 'planned',
      reason: because('forge away'),
      dueAt: new Date(clock.now().getTime() + 1_000),
      failed: 'counted',
    });

    expect(await dueOf(store, 9)).toEqual([]);
    clock.advance(1_000);

    expect(await dueOf(store, 9)).toEqual(['a']);
    expect(await store.intent('a')).toMatchObject({ tries: 1, failingSince: new Date('2026-11-20T12:00:00Z') });
  });

  it('does not let paused or standing intents hold an order key', async () => {
    await plan('paused', { orderKey: 'l', rule: 'p' });
    await plan('b', { orderKey: 'l' });
    await store.pause({ org: 'acme', rule: 'p', by: 'ann', at: clock.now() });

    expect(await dueOf(store, 9)).toEqual(['b']);
  });

  it('queues an effect key behind one that waits for a person, and others of the order key go on', async () => {
    await plan('a', { orderKey: 'l', effectKey: 'k' });
    const epoch = await send('a');
    await store.move({ intentId: 'a', epoch, from: ['sent'], to: 'unknown', reason: because('no answer') });
    await store.move({ intentId: 'a', epoch, from: ['unknown'], to: 'waiting', reason: because('no answer') });
    await plan('same', { orderKey: 'l', effectKey: 'k' });
    await plan('other', { orderKey: 'l' });

    expect(await dueOf(store, 9)).toEqual(['other']);
  });

  it('starts a step when the earlier ones ended well, and cancels it when one did not', async () => {
    const intents = ['s0', 's1'].map((id, stepNo) => anIntent({ id, runId: 'r', stepNo }));
    await store.recordDecision({}, [{ run: aRun({ id: 'r' }), intents }]);
    expect(await dueOf(store, 9)).toEqual(['s0']);

    const claim = await claimOne(store, 's0', 'me', LEASE_MS);
    await store.move({ intentId: 's0', epoch: claim!.epoch, from: ['claimed'], to: 'refused', reason: because('no') });

    expect((await store.intent('s1'))?.state).toBe('cancelled');
    expect(await store.run('r')).toMatchObject({ state: 'failed', endedAt: clock.now() });
  });

  it('revives a refused intent with the steps that its end cancelled', async () => {
    const intents = ['s0', 's1'].map((id, stepNo) => anIntent({ id, runId: 'r', stepNo }));
    await store.recordDecision({}, [{ run: aRun({ id: 'r' }), intents }]);
    const claim = await claimOne(store, 's0', 'me', LEASE_MS);
    await store.move({
      intentId: 's0',
      epoch: claim!.epoch,
      from: ['claimed'],
      to: 'refused',
      reason: because('no'),
      failed: 'counted',
    });

    expect(await store.retry('s0', 'ann')).toBe(true);

    expect(await store.intent('s0')).toMatchObject({ state: 'planned', tries: 0, failingSince: null });
    expect(await store.intent('s1')).toMatchObject({ state: 'planned' });
    expect(await store.run('r')).toMatchObject({ state: 'open', endedAt: null });
    expect(await store.retry('s0', 'ann')).toBe(false);
  });

  it('takes expired leases back: claimed is planned again, sent is unknown', async () => {
    await plan('a');
    await plan('b', { orderKey: 'm' });
    await claimOne(store, 'a', 'me', LEASE_MS);
    await send('b');
    expect(await store.reclaimExpired()).toBe(0);

    clock.advance(LEASE_MS);

    expect(await store.reclaimExpired()).toBe(2);
    expect([(await store.intent('a'))?.state, (await store.intent('b'))?.state]).toEqual(['planned', 'unknown']);
  });

  it.each<[string, (epoch: number) => Promise<unknown>]>([
    ['another epoch', async () => undefined],
    ['a lease that ran out', async () => clock.advance(LEASE_MS)],
    ['a pause', async () => store.pause({ org: null, rule: null, by: 'ann', at: clock.now() })],
  ])('does not let %s send', async (what, change) => {
    await plan('a');
    const claim = await claimOne(store, 'a', 'me', LEASE_MS);
    await change(claim!.epoch);

    const sent = await store.markSent('a', claim!.epoch + (what === 'another epoch' ? 1 : 0), {
      id: 'x',
      operation: 'createLabel',
      requestHash: 'h',
    });

    expect(sent).toBeNull();
    expect((await store.intent('a'))?.state).toBe('claimed');
  });

  it('refuses moves that the table, the epoch or the expected state refuse', async () => {
    await plan('a');
    const claim = await claimOne(store, 'a', 'me', LEASE_MS);
    const move = { intentId: 'a', epoch: claim!.epoch, from: ['claimed'] as const, reason: null };

    expect(await store.move({ ...move, to: 'done' })).toBe(false);
    expect(await store.move({ ...move, epoch: 7, to: 'unchanged' })).toBe(false);
    expect(await store.move({ ...move, from: ['sent'], to: 'unchanged' })).toBe(false);
    expect(await store.move({ ...move, to: 'unchanged' })).toBe(true);
  });

  it('remembers the newest settled intent of an effect key', async () => {
    for (const id of ['a', 'b']) {
      await plan(id, { effectKey: 'k' });
      const epoch = await send(id);
      await store.move({
        intentId: id,
        epoch,
        from: ['sent'],
        to: id === 'a' ? 'done' : 'refused',
        reason: null,
        result: { by: id },
      });
    }

    expect((await store.lastSettled('k'))?.id).toBe('a');
    expect(await store.lastSettled('other')).toBeNull();
  });
});
