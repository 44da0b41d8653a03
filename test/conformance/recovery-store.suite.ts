import { beforeEach, expect, it } from '@jest/globals';
import type { IntentState } from '../../src/core/states.js';
import type { JournalStore } from '../../src/pipeline/journal-store.port.js';
import type { RecoveryStore } from '../../src/pipeline/recovery-store.port.js';
import { aRun, anIntent, claimOne, dueOf } from '../builders/journal.js';
import { because, saying } from '../builders/reasons.js';

export interface RecoveryUnderTest {
  journal: JournalStore;
  recovery: RecoveryStore;
  /** Make calls this much older, and every due time, lease and look too. */
  letPass(ms: number): Promise<void>;
  /** An event, for the echo of it. */
  anEvent(id: string): Promise<void>;
}

const LEASE_MS = 5_000;
const SETTLE_MS = 60_000;

/** What every store does about unknown outcomes, on whatever it stands. */
export function recoveryStoreSuite(open: () => Promise<RecoveryUnderTest>): void {
  let test: RecoveryUnderTest;
  let journal: JournalStore;
  let recovery: RecoveryStore;

  beforeEach(async () => {
    test = await open();
    ({ journal, recovery } = test);
  });

  async function unknown(id: string, { answer }: { answer?: 'done' } = {}): Promise<number> {
    const intent = anIntent({ id, runId: `run-${id}` });
    await journal.recordDecision({}, [{ run: aRun({ id: intent.runId }), intents: [intent] }]);
    const claim = await claimOne(journal, id, 'me', LEASE_MS);
    const attempt = {
      id: `attempt-${id}`,
      operation: 'createLabel',
      requestHash: 'h',
      snapshot: { ids: ['4', '9007199254740993'] },
    };
    await journal.markSent(id, claim?.epoch ?? 0, attempt);
    if (answer) await journal.recordAnswer(attempt.id, { outcome: answer, status: 201, message: null, objectId: '5' });
    await journal.move({ intentId: id, epoch: null, from: ['sent'], to: 'unknown', reason: because('no answer') });
    return claim?.epoch ?? 0;
  }

  const claim = (id: string): ReturnType<RecoveryStore['claimRecovery']> =>
    recovery.claimRecovery(id, 'reader', LEASE_MS, SETTLE_MS);

  it('keeps what the action remembered with its call', async () => {
    await unknown('a');

    expect((await journal.attemptsOfIntent('a'))[0]?.snapshot).toEqual({ ids: ['4', '9007199254740993'] });
  });

  it('gives an unknown intent to nobody before the settle time is over, and is not due meanwhile', async () => {
    await unknown('a');
    expect(await recovery.dueRecoveries(9)).toEqual(['a']);

    expect(await claim('a')).toBeNull();

    expect(await recovery.dueRecoveries(9)).toEqual([]);
    expect(await journal.intent('a')).toMatchObject({ state: 'unknown', epoch: 1 });
  });

  it('gives it to one of many readers when the time is over, with its calls and their age', async () => {
    await unknown('a');
    await claim('a');
    await test.letPass(SETTLE_MS);
    expect(await recovery.dueRecoveries(9)).toEqual(['a']);

    const claims = await Promise.all([claim('a'), claim('a'), claim('a')]);

    const won = claims.filter((one) => one !== null);
    expect(won).toMatchObject([
      {
        epoch: 2,
        reads: 0,
        sightings: 0,
        attempts: [{ id: 'attempt-a', outcome: null }],
        intent: { id: 'a', state: 'unknown' },
      },
    ]);
    expect(won[0]?.sentAgoMs).toBeGreaterThanOrEqual(SETTLE_MS);
    expect(await recovery.dueRecoveries(9)).toEqual([]);
  });

  it('does not wait beside a call whose answer was stored', async () => {
    await unknown('a', { answer: 'done' });

    expect(await claim('a')).toMatchObject({ attempts: [{ outcome: 'done', objectId: '5' }] });
  });

  it('gives it to another when its reader was lost, and takes no word of that one any more', async () => {
    await unknown('a');
    await test.letPass(SETTLE_MS);
    const lost = await claim('a');
    expect(await journal.renew('a', lost?.epoch ?? 0, LEASE_MS)).toBe(true);
    await test.letPass(LEASE_MS + 1_000);

    const next = await claim('a');

    expect(next?.epoch).toBe(3);
    expect(
      await journal.move({
        intentId: 'a',
        epoch: lost?.epoch ?? 0,
        from: ['unknown'],
        to: 'done',
        reason: because('late'),
      }),
    ).toBe(false);
    expect(
      await recovery.putOffRecovery('a', lost?.epoch ?? 0, { inMs: 0, reason: because('late'), counted: 'reads' }),
    ).toBe(false);
    expect(await journal.renew('a', lost?.epoch ?? 0, LEASE_MS)).toBe(false);
  });

  it('puts a read off, and counts it', async () => {
    await unknown('a');
    await test.letPass(SETTLE_MS);
    const first = await claim('a');

    expect(
      await recovery.putOffRecovery('a', first?.epoch ?? 0, {
        inMs: 4_000,
        reason: because('later'),
        counted: 'reads',
      }),
    ).toBe(true);

    expect([await recovery.dueRecoveries(9), await claim('a')]).toEqual([[], null]);
    await test.letPass(5_000);
    const second = await claim('a');
    await recovery.putOffRecovery('a', second?.epoch ?? 0, { inMs: 0, reason: because('seen'), counted: 'sightings' });
    expect(await claim('a')).toMatchObject({ reads: 1, sightings: 1, intent: { reason: saying('seen') } });
  });

  it('counts anew when it is unknown once more', async () => {
    await unknown('a');
    await test.letPass(SETTLE_MS);
    const first = await claim('a');
    await recovery.putOffRecovery('a', first?.epoch ?? 0, { inMs: 0, reason: because('later'), counted: 'reads' });
    await journal.move({
      intentId: 'a',
      epoch: null,
      from: ['unknown'],
      to: 'planned',
      reason: because('absent'),
      dueAt: new Date(0),
    });
    const again = await claimOne(journal, 'a', 'me', LEASE_MS);
    await journal.markSent('a', again?.epoch ?? 0, { id: 'second', operation: 'createLabel', requestHash: 'h' });
    await journal.move({ intentId: 'a', epoch: null, from: ['sent'], to: 'unknown', reason: because('no answer') });
    await test.letPass(SETTLE_MS);

    expect(await claim('a')).toMatchObject({ reads: 0, attempts: [{ n: 1 }, { n: 2 }] });
  });

  it('looks at an ended intent once more, one worker at a time', async () => {
    await unknown('a');
    await recovery.lookAgain('a', 1_000);
    await test.letPass(2_000);
    expect(await recovery.dueLooks(9)).toEqual([]);
    await journal.move({ intentId: 'a', epoch: null, from: ['unknown'], to: 'done', reason: null });
    expect(await recovery.dueLooks(9)).toEqual(['a']);

    const looks = await Promise.all([recovery.claimLook('a', LEASE_MS), recovery.claimLook('a', LEASE_MS)]);

    expect(looks.filter((look) => look !== null)).toMatchObject([{ intent: { id: 'a' }, attempts: [{ n: 1 }] }]);
    expect(
      await recovery.noteRemoval('a', { id: 'removal', operation: 'deleteLabel', requestHash: 'h' }),
    ).toMatchObject({ n: 2, outcome: null });
    await recovery.lookAgain('a', null);
    await test.letPass(LEASE_MS * 2);
    expect([
      await recovery.dueLooks(9),
      await recovery.claimLook('a', LEASE_MS),
      (await journal.intent('a'))?.state,
    ]).toEqual([[], null, 'done']);
  });

  it.each<[boolean, string]>([
    [true, 'done'],
    [false, 'planned'],
  ])('does as a person says, once, and stops who reads about it (exists: %s)', async (exists, state) => {
    await unknown('a');
    await test.letPass(SETTLE_MS);
    const reading = await claim('a');

    expect(await recovery.resolve('a', exists, 'ann', { said: 'ann' })).toBe(true);

    expect(await recovery.resolve('a', exists, 'ann', null)).toBe(false);
    expect(
      await journal.move({
        intentId: 'a',
        epoch: reading?.epoch ?? 0,
        from: ['unknown'],
        to: 'conflict',
        reason: because('late'),
      }),
    ).toBe(false);
    expect(await journal.intent('a')).toMatchObject({
      state,
      tries: 0,
      reason: saying(expect.stringContaining('ann says')),
      result: exists ? { said: 'ann' } : null,
    });
    expect(await journal.run('run-a')).toMatchObject({ state: exists ? 'done' : 'open' });
    expect(await dueOf(journal, 9)).toEqual(exists ? [] : ['a']);
  });

  it('resolves what waits, and nothing else', async () => {
    await unknown('a');
    await journal.move({ intentId: 'a', epoch: null, from: ['unknown'], to: 'waiting', reason: because('ask') });
    await journal.recordDecision({}, [
      { run: aRun({ id: 'run-b' }), intents: [anIntent({ id: 'b', runId: 'run-b' })] },
    ]);

    expect([
      await recovery.resolve('a', true, 'ann', null),
      await recovery.resolve('b', true, 'ann', null),
      await recovery.resolve('none', true, 'ann', null),
    ]).toEqual([true, false, false]);
  });

  it('settles by an answer that names the number of attempts, whoever has it by then, and not after a further call', async () => {
    await unknown('a');
    await test.letPass(SETTLE_MS);
    await claim('a');
    const late = {
      intentId: 'a',
      epoch: null,
      from: ['unknown', 'waiting'] as const,
      to: 'done' as const,
      reason: because('late'),
    };

    expect(await journal.move({ ...late, attempts: 2 })).toBe(false);
    expect(await journal.move({ ...late, attempts: 1 })).toBe(true);
  });

  it('remembers what somebody undid of ours, until it is revived', async () => {
    await unknown('a');
    const undo = {
      effectKey: 'effect-a',
      eventId: 'event-1',
      by: 'ann',
      summary: 'ann deleted it',
      at: new Date('2026-11-20T12:00:00Z'),
    };

    expect(await recovery.noteUndo({ ...undo, effectKey: 'effect-of-nobody' })).toBe(false);
    expect(await recovery.noteUndo(undo)).toBe(true);
    expect(await recovery.noteUndo({ ...undo, eventId: 'event-2' })).toBe(false);
    expect(await recovery.undoOf('effect-a')).toEqual(undo);

    await journal.move({
      intentId: 'a',
      epoch: null,
      from: ['unknown'],
      to: 'suppressed',
      reason: because('ann deleted it'),
    });
    expect(await journal.retry('a', 'ann')).toBe(true);
    expect([await recovery.undoOf('effect-a'), (await journal.intent('a'))?.state]).toEqual([null, 'planned']);
  });

  it('does not revive what a dry run suppressed', async () => {
    const intent = anIntent({ id: 'a', runId: 'run-a', mode: 'dry-run' });
    await journal.recordDecision({}, [{ run: aRun({ id: 'run-a' }), intents: [intent] }]);
    await journal.move({ intentId: 'a', epoch: null, from: ['planned'], to: 'suppressed', reason: because('dry-run') });

    expect(await journal.retry('a', 'ann')).toBe(false);
  });

  it('finds the intents of an effect that were sent, the newest first', async () => {
    await unknown('a');
    await journal.recordDecision({}, [
      { run: aRun({ id: 'run-b' }), intents: [anIntent({ id: 'b', runId: 'run-b', effectKey: 'effect-a' })] },
    ]);

    expect(await recovery.sentOfEffects([], 9)).toEqual([]);
    expect((await recovery.sentOfEffects(['effect-a', 'effect-x'], 9)).map(({ intent }) => intent.id)).toEqual(['a']);
    expect((await recovery.sentOfEffects(['effect-a'], 9))[0]?.sentAt).toBeTruthy();
  });

  it('finds what was sent in an order key, by action, the newest first', async () => {
    const planned = [
      { id: 'a', action: 'issue.label', orderKey: 'main/repository/7' },
      { id: 'b', action: 'issue.label', orderKey: 'main/repository/7' },
      { id: 'c', action: 'issue.state', orderKey: 'main/repository/7' },
      { id: 'd', action: 'issue.label', orderKey: 'main/repository/8' },
      { id: 'e', action: 'issue.label', orderKey: 'main/repository/7' },
    ];
    await journal.recordDecision(
      {},
      planned.map((one) => ({
        run: aRun({ id: `run-${one.id}` }),
        intents: [anIntent({ ...one, runId: `run-${one.id}`, effectKey: `effect-${one.id}` })],
      })),
    );
    for (const { id } of planned.slice(0, 4)) {
      // The next of an order key is not claimed before this one has ended.
      const epoch = (await claimOne(journal, id, 'me', LEASE_MS))?.epoch ?? 0;
      await journal.markSent(id, epoch, { id: `attempt-${id}`, operation: 'op', requestHash: 'h' });
      await journal.move({ intentId: id, epoch: null, from: ['sent'], to: 'unknown', reason: because('no answer') });
    }
    const found = async (actions: string[], limit: number, since = new Date(0)): Promise<string[]> =>
      (await recovery.sentWithOrderKey({ orderKey: 'main/repository/7', actions, since, limit })).map(
        ({ intent }) => intent.id,
      );

    expect(await found(['issue.label', 'issue.state'], 9)).toEqual(['b', 'a', 'c']);
    expect(await found(['issue.label', 'issue.state'], 1)).toEqual(['b', 'c']);
    expect(await found(['issue.label'], 9, new Date('2100-01-01'))).toEqual([]);
    expect(await found(['push'], 9)).toEqual([]);
    const [newest] = await recovery.sentWithOrderKey({
      orderKey: 'main/repository/7',
      actions: ['issue.label'],
      since: new Date(0),
      limit: 1,
    });
    expect(newest?.attempts.map(({ intentId, n }) => [intentId, n])).toEqual([['b', 1]]);
  });

  it('may have work while something is due for a sweep, and has none in between', async () => {
    const seen: boolean[] = [];
    const look = async (): Promise<void> => void seen.push(await recovery.mayHaveWork());
    const move = (from: IntentState, to: IntentState) =>
      journal.move({ intentId: 'a', epoch: null, from: [from], to, reason: because('moved') });

    await look();
    await journal.recordDecision({}, [
      { run: aRun({ id: 'run-a' }), intents: [anIntent({ id: 'a', runId: 'run-a' })] },
    ]);
    await look();
    expect(seen.splice(0)).toEqual([false, true]);

    const claimed = await claimOne(journal, 'a', 'me', LEASE_MS);
    await look();
    await test.letPass(LEASE_MS + 1_000);
    await look();
    expect(seen.splice(0)).toEqual([false, true]);

    await journal.renew('a', claimed?.epoch ?? 0, LEASE_MS);
    await journal.markSent('a', claimed?.epoch ?? 0, { id: 'attempt-a', operation: 'createLabel', requestHash: 'h' });
    await look();
    await test.letPass(LEASE_MS + 1_000);
    await look();
    expect(seen.splice(0)).toEqual([false, true]);

    await move('sent', 'unknown');
    await look();
    await claim('a');
    await look();
    await test.letPass(SETTLE_MS);
    await look();
    await claim('a');
    await look();
    expect(seen.splice(0)).toEqual([true, false, true, false]);

    await move('unknown', 'done');
    await look();
    await recovery.lookAgain('a', 1_000);
    await look();
    await test.letPass(2_000);
    await look();
    await recovery.claimLook('a', LEASE_MS);
    await look();
    expect(seen.splice(0)).toEqual([false, false, true, false]);
  });

  it('may have work when the window of a run is over', async () => {
    const run = aRun({ id: 'run-g', state: 'gathering' });
    await journal.recordDecision({}, [{ run, intents: [], gathering: { key: 'acme/app', windowMs: 10_000 } }]);
    expect(await recovery.mayHaveWork()).toBe(false);

    await test.letPass(11_000);

    expect([await journal.dueRuns(9), await recovery.mayHaveWork()]).toEqual([['run-g'], true]);
  });

  it('keeps whose echo an event is', async () => {
    await test.anEvent('event-1');
    await recovery.noteEcho({ eventId: 'event-1', intentId: 'a', depth: 2 });
    await recovery.noteEcho({ eventId: 'event-1', intentId: 'b', depth: 9 });

    expect(await recovery.echoOf('event-1')).toEqual({ eventId: 'event-1', intentId: 'a', depth: 2 });
    expect(await recovery.echoOf('event-2')).toBeNull();
  });
}
