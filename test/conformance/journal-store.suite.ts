import { beforeEach, describe, expect, it } from '@jest/globals';
import type { IntentState } from '../../src/core/states.js';
import { INTENT_STATES } from '../../src/core/states.js';
import { BudgetSpent, type BudgetLimit } from '../../src/core/budgets.js';
import { keptBy, type DueIntent, type JournalStore, type RecordedRun } from '../../src/pipeline/journal-store.port.js';
import type { Cause, NewIntent } from '../../src/core/run.js';
import type { Reason } from '../../src/core/reason.js';
import { intentReason, runReason } from '../../src/core/run-reasons.js';
import { canMove } from '../../src/core/state-table.js';
import { aRun, anIntent, claimOne, dueOf } from '../builders/journal.js';
import { because, saying } from '../builders/reasons.js';

const LEASE_MS = 60_000;
const HOUR_MS = 3_600_000;

export interface JournalUnderTest {
  journal: JournalStore;
  /** Let the leases of all claims run out, without waiting for it. */
  expireLeases(): Promise<void>;
  /** Let the turn of all that a budget holds come, without waiting for it. */
  endHolds(): Promise<void>;
  /** Today's time as this store sees it. */
  now(): Date;
}

const UNKNOWN = runReason('run.unknown', { fields: ['event.before'], source: 'feed', seconds: 60 });

/** What every journal does, on whatever it stands. */
export function journalStoreSuite(open: () => Promise<JournalUnderTest>): void {
  let test: JournalUnderTest;
  let journal: JournalStore;

  beforeEach(async () => {
    test = await open();
    journal = test.journal;
  });

  /** One run with one intent for each id; order keys and effect keys of their own unless told. */
  async function plan(id: string, over: Partial<NewIntent> = {}): Promise<void> {
    const intent = anIntent({ id, runId: `run-${id}`, ...over });
    await journal.recordDecision({}, [
      { run: aRun({ id: intent.runId, rule: intent.rule, org: intent.org }), intents: [intent] },
    ]);
  }

  /** One run with one intent for each step. */
  async function planSteps(...ids: string[]): Promise<void> {
    const intents = ids.map((id, stepNo) => anIntent({ id, runId: 'run-steps', stepNo, orderKey: 'orderKey' }));
    await journal.recordDecision({}, [{ run: aRun({ id: 'run-steps' }), intents }]);
  }

  async function claim(id: string): Promise<number> {
    const claimed = await claimOne(journal, id, 'me', LEASE_MS);
    if (!claimed) throw new Error(`${id} could not be claimed`);
    return claimed.epoch;
  }

  async function send(id: string): Promise<number> {
    const epoch = await claim(id);
    const attempt = await journal.markSent(id, epoch, {
      id: `attempt-${id}-${epoch}`,
      operation: 'createLabel',
      requestHash: 'hash',
    });
    if (!attempt) throw new Error(`${id} could not be sent`);
    return epoch;
  }

  const move = (
    intentId: string,
    from: IntentState,
    to: IntentState,
    over: Partial<Parameters<JournalStore['move']>[0]> = {},
  ): Promise<boolean> => journal.move({ intentId, epoch: null, from: [from], to, reason: null, ...over });

  /** Bring a planned intent into a state along allowed moves. */
  async function bringTo(id: string, state: IntentState): Promise<void> {
    if (state === 'planned') return;
    if (state === 'cancelled' || state === 'suppressed') return void (await move(id, 'planned', state));
    if (state === 'claimed') return void (await claim(id));
    await send(id);
    if (state === 'sent') return;
    const via = canMove('sent', state) ? null : 'unknown';
    if (via) await move(id, 'sent', via);
    await move(id, via ?? 'sent', state);
  }

  const due = (id: string): DueIntent => ({ id, isBackground: false });

  const stateOf = async (id: string): Promise<IntentState | undefined> => (await journal.intent(id))?.state;

  it('keeps what was decided, and answers what is due', async () => {
    const run = aRun({
      id: 'r',
      trace: [{ n: 9007199254740993n }],
      lookups: { latest: { value: { id: '5', nul: '\0' } } },
      cause: { kind: 'tick', tickId: 't', subject: 'acme/app' },
    });
    const intents = [anIntent({ id: 'a', runId: 'r' }), anIntent({ id: 'b', runId: 'r', stepNo: 1 })];

    expect(await journal.recordDecision({}, [{ run, intents }])).toEqual(['a']);

    expect(await journal.run('r')).toEqual({ ...run, endedAt: null });
    expect(await journal.intent('a')).toEqual({
      ...intents[0],
      state: 'planned',
      reason: null,
      dueAt: expect.anything(),
      epoch: 0,
      attempts: 0,
      tries: 0,
      failingSince: null,
      result: null,
      updatedAt: expect.anything(),
    });
    expect((await journal.intentsOfRun('r')).map(({ id }) => id)).toEqual(['a', 'b']);
  });

  it('leaves a decision that was made before alone', async () => {
    const first = await journal.recordDecision({}, [
      { run: aRun({ id: 'r1', runKey: 'k' }), intents: [anIntent({ id: 'i1', runId: 'r1' })] },
    ]);
    const second = await journal.recordDecision({}, [
      { run: aRun({ id: 'r2', runKey: 'k' }), intents: [anIntent({ id: 'i2', runId: 'r2' })] },
    ]);

    expect([first, second]).toEqual([['i1'], []]);
    expect(await journal.run('r2')).toBeNull();
    expect(await journal.intent('i2')).toBeNull();
  });

  it('makes one run of a key when many decide at once', async () => {
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        journal.recordDecision({}, [
          { run: aRun({ id: `r${n}`, runKey: 'k' }), intents: [anIntent({ id: `i${n}`, runId: `r${n}` })] },
        ]),
      ),
    );

    expect(await journal.runs({ limit: 99 })).toHaveLength(1);
    expect(await dueOf(journal, 99)).toHaveLength(1);
  });

  it('writes all of a decision or nothing', async () => {
    await plan('a', { intentKey: 'taken' });

    const doubled = journal.recordDecision({}, [
      { run: aRun({ id: 'r' }), intents: [anIntent({ id: 'b', runId: 'r', intentKey: 'taken' })] },
    ]);

    await expect(doubled).rejects.toThrow();
    expect(await journal.run('r')).toBeNull();
  });

  it('ends a run at once that has nothing to do', async () => {
    await journal.recordDecision({}, [{ run: aRun({ id: 'r', state: 'not-fired' }), intents: [] }]);

    expect(await journal.run('r')).toMatchObject({ state: 'not-fired', endedAt: expect.anything() });
  });

  it('lets one of many claims win', async () => {
    await plan('a');

    const claims = await Promise.all(
      Array.from({ length: 10 }, (_, n) => claimOne(journal, 'a', `worker-${n}`, LEASE_MS)),
    );

    expect(claims.filter((won) => won !== null)).toMatchObject([
      { epoch: 1, leaseMs: LEASE_MS, intent: { id: 'a', state: 'claimed', epoch: 1 } },
    ]);
  });

  it('has one holder of an effect key when many claim at once', async () => {
    const ids = Array.from({ length: 10 }, (_, n) => `i${n}`);
    for (const id of ids) await plan(id, { effectKey: 'the same' });

    const claims = await Promise.all(ids.map((id) => claimOne(journal, id, 'me', LEASE_MS)));

    expect(claims.filter((won) => won !== null)).toHaveLength(1);
  });

  it('has one worker in an order key when many claim at once, the earliest first', async () => {
    const ids = Array.from({ length: 10 }, (_, n) => `i${n}`);
    for (const id of ids) await plan(id, { orderKey: 'the same' });

    const claims = await Promise.all([...ids].reverse().map((id) => claimOne(journal, id, 'me', LEASE_MS)));

    expect(claims.filter((won) => won !== null).map((won) => won?.intent.id)).toEqual(['i0']);
  });

  it.each<[IntentState, string[]]>([
    ['planned', ['a']],
    ['claimed', []],
    ['sent', []],
    ['unknown', ['b']],
    ['waiting', ['b']],
    ['done', ['b']],
    ['refused', ['b']],
  ])('gives the order key on when the earlier intent is %s => due %j', async (state, due) => {
    await plan('a', { orderKey: 'orderKey' });
    await plan('b', { orderKey: 'orderKey' });

    await bringTo('a', state);

    expect(await dueOf(journal, 9)).toEqual(due);
  });

  it.each<[IntentState, string[]]>([
    ['claimed', []],
    ['sent', []],
    ['unknown', []],
    ['waiting', []],
    ['done', ['b']],
    ['unchanged', ['b']],
    ['refused', ['b']],
    ['conflict', ['b']],
    ['dead', ['b']],
  ])('queues the same effect behind its holder while that is %s => due %j', async (state, due) => {
    await plan('a', { effectKey: 'the same' });
    await plan('b', { effectKey: 'the same' });

    await bringTo('a', state);

    expect(await dueOf(journal, 9)).toEqual(due);
    expect(await claimOne(journal, 'b', 'me', LEASE_MS)).toEqual(
      due.length === 0 ? null : expect.objectContaining({ epoch: 1 }),
    );
  });

  it.each<[IntentState, string[]]>([
    ['planned', ['a']],
    ['claimed', []],
    ['unknown', []],
    ['waiting', []],
    ['done', ['b']],
    ['unchanged', ['b']],
    ['suppressed', ['b']],
  ])('starts a step when the one before is %s => due %j', async (state, due) => {
    await planSteps('a', 'b');

    await bringTo('a', state);

    expect(await dueOf(journal, 9)).toEqual(due);
  });

  it('starts a step only when all items of the one before ended well', async () => {
    const intents = [
      anIntent({ id: 'a1', runId: 'r' }),
      anIntent({ id: 'a2', runId: 'r' }),
      anIntent({ id: 'b', runId: 'r', stepNo: 1 }),
    ];
    await journal.recordDecision({}, [{ run: aRun({ id: 'r' }), intents }]);

    await bringTo('a1', 'done');
    expect(await dueOf(journal, 9)).toEqual(['a2']);
    await bringTo('a2', 'done');

    expect(await dueOf(journal, 9)).toEqual(['b']);
  });

  it('does not let an intent hold its order key whose run stands at an earlier step', async () => {
    await planSteps('a', 'b');
    await plan('c', { orderKey: 'orderKey' });

    await bringTo('a', 'waiting');

    expect(await dueOf(journal, 9)).toEqual(['c']);
  });

  it('does not let an intent hold its order key whose effect key is held by one that waits', async () => {
    await plan('a', { effectKey: 'the same' });
    await plan('b', { effectKey: 'the same', orderKey: 'orderKey' });
    await plan('c', { orderKey: 'orderKey' });

    await bringTo('a', 'unknown');

    expect(await dueOf(journal, 9)).toEqual(['c']);
  });

  it('does not let an intent hold its order key when an earlier step of its run is behind one that waits', async () => {
    await plan('holder', { effectKey: 'effect-a' });
    await planSteps('a', 'b');
    await plan('c', { orderKey: 'orderKey' });

    await bringTo('holder', 'waiting');

    expect(await dueOf(journal, 9)).toEqual(['c']);
  });

  describe('an intent that cannot end for a reason of its own', () => {
    const inMs = (ms: number): Date => new Date(test.now().getTime() + ms);
    const stepAside = async (id: string): Promise<void> => {
      await claim(id);
      await move(id, 'claimed', 'planned', { aside: true, failed: 'counted', dueAt: inMs(HOUR_MS) });
    };
    const ways = {
      'a read that fails': stepAside,
      'an unknown outcome': (id: string) => bringTo(id, 'unknown'),
      'a question to a person': (id: string) => bringTo(id, 'waiting'),
    };

    describe.each(Object.entries(ways))('(%s)', (_what, stop) => {
      it('holds back the later steps of its run, what writes or names its object, and nothing else', async () => {
        const inOrder = { orderKey: 'orderKey' };
        const names = ['label bug', 'label docs'];
        await plan('before', { ...inOrder, names });
        await claim('before');
        await journal.recordDecision({}, [
          {
            run: aRun({ id: 'run-a' }),
            intents: [
              anIntent({ ...inOrder, id: 'a', runId: 'run-a', object: 'label bug' }),
              anIntent({ ...inOrder, id: 'a2', runId: 'run-a', stepNo: 1, object: 'issue 9' }),
            ],
          },
        ]);
        await plan('writes', { ...inOrder, object: 'label bug' });
        await plan('names', { ...inOrder, object: 'issue 1', names });
        await plan('after', { orderKey: 'another', names: ['label bug'] });
        await plan('is like it', { ...inOrder, object: 'label bug fix', names: ['label bugs'] });
        await plan('has no object', { ...inOrder });
        await move('before', 'claimed', 'planned');
        await bringTo('before', 'done');

        await stop('a');

        expect(await everyDue()).toEqual(['after', 'is like it', 'has no object']);
      });

      it('holds back the later steps of what it holds back, and lets others of that order key go first', async () => {
        const intents = [
          anIntent({ id: 'b', runId: 'run-b', orderKey: 'orderKey', names: ['label bug'] }),
          anIntent({ id: 'b2', runId: 'run-b', orderKey: 'orderKey', stepNo: 1 }),
        ];
        await plan('a', { orderKey: 'orderKey', object: 'label bug' });
        await journal.recordDecision({}, [{ run: aRun({ id: 'run-b' }), intents }]);
        await plan('c', { orderKey: 'orderKey' });

        await stop('a');

        expect(await everyDue()).toEqual(['c']);
      });

      it('holds back nothing more once it ends, in the order of planning', async () => {
        await plan('a', { orderKey: 'orderKey', object: 'label bug' });
        await plan('b', { orderKey: 'orderKey', object: 'issue 1', names: ['label bug'] });
        await plan('c', { orderKey: 'orderKey' });
        await stop('a');
        const { state } = (await journal.intent('a')) ?? {};
        if (state === 'planned') await test.endHolds();

        if (state === 'planned') await bringTo('a', 'done');
        else await move('a', state ?? 'planned', 'done');

        expect(await journal.intent('a')).not.toHaveProperty('aside');
        expect(await everyDue()).toEqual(['b', 'c']);
      });
    });

    it('holds back what has its effect key, planned after it, while it waits to be tried again', async () => {
      await plan('a', { orderKey: 'orderKey', effectKey: 'settings' });
      await plan('b', { orderKey: 'orderKey', effectKey: 'settings' });
      await plan('c', { orderKey: 'orderKey' });

      await stepAside('a');

      expect(await everyDue()).toEqual(['c']);
    });

    it('is in its old place when its time has come', async () => {
      await plan('a', { orderKey: 'orderKey', object: 'label bug' });
      await plan('b', { orderKey: 'orderKey', names: ['label bug'] });
      await plan('c', { orderKey: 'orderKey' });
      await stepAside('a');
      expect(await dueOf(journal, 9)).toEqual(['c']);

      await test.endHolds();

      expect(await everyDue()).toEqual(['a', 'b', 'c']);
    });

    it('holds back nothing where a person has yet to consent to it', async () => {
      await plan('a', { orderKey: 'orderKey', object: 'label bug', approval: 'wanted' });
      await plan('b', { orderKey: 'orderKey', object: 'label bug' });

      expect(await dueOf(journal, 9)).toEqual(['b']);
    });

    /** All that comes to its turn, one after the other in each order key, each ending well. */
    async function everyDue(): Promise<string[]> {
      const done: string[] = [];
      for (let [next] = await dueOf(journal, 9); next !== undefined; [next] = await dueOf(journal, 9)) {
        await bringTo(next, 'done');
        done.push(next);
      }
      return done;
    }
  });

  it('keeps an order key to one worker when an earlier intent of it is revived', async () => {
    await plan('a', { orderKey: 'orderKey' });
    await bringTo('a', 'dead');
    await plan('b', { orderKey: 'orderKey' });
    await claim('b');

    await journal.retry('a', 'ann');

    expect(await claimOne(journal, 'a', 'me', LEASE_MS)).toBeNull();
    expect(await dueOf(journal, 9)).toEqual([]);
  });

  it('keeps order keys, effect keys and steps apart while many workers take all they can get', async () => {
    const orderKeys = 3;
    const ids: string[] = [];
    for (let r = 0; r < 12; r++) {
      const intents = [0, 1, 2].map((stepNo) =>
        anIntent({
          id: `r${r}-s${stepNo}`,
          runId: `r${r}`,
          stepNo,
          orderKey: `orderKey-${(r + stepNo) % orderKeys}`,
          effectKey: `effect-${(r * 5 + stepNo) % 7}`,
        }),
      );
      ids.push(...intents.map(({ id }) => id));
      await journal.recordDecision({}, [{ run: aRun({ id: `r${r}` }), intents }]);
    }
    const atWork = new Set<string>();
    const broken: string[] = [];
    const done: string[] = [];
    const work = async (worker: string): Promise<void> => {
      while (done.length < ids.length) {
        for (const id of (await dueOf(journal, 9)).reverse()) {
          const claimed = await claimOne(journal, id, worker, LEASE_MS);
          if (!claimed) continue;
          const { orderKey, effectKey, runId, stepNo } = claimed.intent;
          for (const held of [`orderKey ${orderKey}`, `effect ${effectKey}`])
            if (atWork.has(held)) broken.push(`${id}: ${held} is held twice`);
          if (stepNo > 0 && !done.includes(`${runId}-s${stepNo - 1}`)) broken.push(`${id} before the step before it`);
          atWork.add(`orderKey ${orderKey}`).add(`effect ${effectKey}`);
          await journal.markSent(id, claimed.epoch, {
            id: `attempt-${id}`,
            operation: 'createLabel',
            requestHash: 'h',
          });
          atWork.delete(`orderKey ${orderKey}`);
          atWork.delete(`effect ${effectKey}`);
          done.push(id);
          await journal.move({ intentId: id, epoch: claimed.epoch, from: ['sent'], to: 'done', reason: null });
        }
      }
    };

    await Promise.all(Array.from({ length: 6 }, (_, n) => work(`worker-${n}`)));

    expect(broken).toEqual([]);
    expect([...done].sort()).toEqual([...ids].sort());
    expect((await journal.runs({ limit: 99 })).map(({ state }) => state)).toEqual(
      Array.from({ length: 12 }, () => 'done'),
    );
  });

  it('is not due before its time, and holds its order key meanwhile', async () => {
    await plan('a', { orderKey: 'orderKey' });
    await plan('b', { orderKey: 'orderKey' });
    await claim('a');

    await move('a', 'claimed', 'planned', {
      dueAt: new Date(test.now().getTime() + HOUR_MS),
      failed: 'counted',
      reason: because('forge away'),
    });

    expect(await dueOf(journal, 9)).toEqual([]);
    expect(await claimOne(journal, 'a', 'me', LEASE_MS)).toBeNull();
    expect(await journal.intent('a')).toMatchObject({
      state: 'planned',
      tries: 1,
      reason: saying('forge away'),
      failingSince: expect.anything(),
    });
  });

  it('is due when its time has come', async () => {
    await plan('a');
    await claim('a');

    await move('a', 'claimed', 'planned', { dueAt: new Date(test.now().getTime() - 1_000) });

    expect(await dueOf(journal, 9)).toEqual(['a']);
    expect(await claim('a')).toBe(2);
  });

  it('counts failed tries, and remembers since when', async () => {
    await plan('a');
    const back = { dueAt: new Date(test.now().getTime() - 1_000) };
    await claim('a');
    await move('a', 'claimed', 'planned', { ...back, failed: 'counted' });
    const since = (await journal.intent('a'))?.failingSince;
    await claim('a');
    await move('a', 'claimed', 'planned', { ...back, failed: 'uncounted' });

    expect(await journal.intent('a')).toMatchObject({ tries: 1, failingSince: since });
  });

  it('gives due intents in the order of planning, up to the limit', async () => {
    for (const id of ['c', 'a', 'b']) await plan(id);

    expect(await dueOf(journal, 2)).toEqual(['c', 'a']);
  });

  it('gives what events caused before the background, however much earlier that was planned, and tells which is which', async () => {
    for (const id of ['b', 'a']) await plan(id, { background: true });
    await plan('c');

    expect(await dueOf(journal, 9)).toEqual(['c', 'b', 'a']);
    expect([
      await journal.dueIntents(9, { org: 'acme', background: false }),
      await journal.dueIntents(9, { org: 'acme', background: true }),
      await journal.dueIntents(1, { org: 'acme', background: true }),
      await journal.dueIntents(9, { org: 'other', background: false }),
    ]).toEqual([['c'], ['b', 'a'], ['b'], []]);
    expect([(await journal.intent('a'))?.background, (await journal.intent('c'))?.background]).toEqual([
      true,
      undefined,
    ]);
  });

  it('lets what an event caused overtake the background that waits in its order key, and not what is at work there', async () => {
    for (const id of ['a', 'b']) await plan(id, { orderKey: 'orderKey', background: true });
    await claim('a');
    await plan('c', { orderKey: 'orderKey' });
    expect(await claimOne(journal, 'c', 'me', LEASE_MS)).toBeNull();

    await move('a', 'claimed', 'unchanged');

    expect(await journal.dueNear('a', 9)).toEqual([due('c')]);
    expect(await claimOne(journal, 'b', 'me', LEASE_MS)).toBeNull();
    await claim('c');
  });

  it('finds what the end of an intent set free: in its order key, its run, behind its effect', async () => {
    await journal.recordDecision({}, [
      {
        run: aRun({ id: 'r' }),
        intents: [
          anIntent({ id: 'a', runId: 'r', orderKey: 'orderKey', effectKey: 'key' }),
          anIntent({ id: 'next', runId: 'r', stepNo: 1 }),
        ],
      },
    ]);
    await plan('in-orderKey', { orderKey: 'orderKey' });
    await plan('same-effect', { effectKey: 'key' });
    await plan('elsewhere');
    await bringTo('a', 'done');

    expect(await journal.dueNear('a', 9)).toEqual(['next', 'in-orderKey', 'same-effect'].map(due));
    expect(await journal.dueNear('a', 1)).toEqual([due('next')]);
  });

  it.each<[string, { org: string | null; rule: string | null }, string[]]>([
    ['everything', { org: null, rule: null }, []],
    ['an organization', { org: 'acme', rule: null }, ['other']],
    ['a rule', { org: 'acme', rule: 'r1' }, ['r2', 'other']],
    ['the rules of one id in every organization', { org: null, rule: 'r1' }, ['r2']],
    ['a rule of another organization', { org: 'other', rule: 'r2' }, ['r1', 'r2', 'other']],
  ])('pauses %s', async (_what, scope, due) => {
    await plan('r1', { rule: 'r1' });
    await plan('r2', { rule: 'r2' });
    await plan('other', { org: 'other', rule: 'r1' });

    await journal.pause({ ...scope, by: 'ann', at: test.now() });

    expect(keptBy(scope, await journal.plannedByRule(null))).toBe(3 - due.length);
    expect(await dueOf(journal, 9)).toEqual(due);
    for (const id of ['r1', 'r2', 'other'])
      expect((await claimOne(journal, id, 'me', LEASE_MS)) !== null).toBe(due.includes(id));
  });

  it('claims nothing of an organization whose credentials wait, keeps its place, and tells since when', async () => {
    await plan('a', { orderKey: 'orderKey' });
    await plan('b', { orderKey: 'orderKey', org: 'beta' });
    await plan('c', { org: 'beta', forge: 'another' });
    await plan('d', { org: 'gamma' });
    const hold = { credential: 'main', forge: 'main', orgs: ['', 'acme', 'beta'], reason: because('wait') };
    await journal.holdForge(hold, HOUR_MS);
    const [first] = await journal.heldForges();
    await journal.holdForge(hold, 2 * HOUR_MS);

    expect(await dueOf(journal, 9)).toEqual(['c', 'd']);
    expect(await claimOne(journal, 'a', 'me', LEASE_MS)).toBeNull();
    expect(await journal.heldForges()).toEqual([{ ...hold, since: first?.since, until: expect.any(Date) }]);

    await journal.releaseForge('main');
    expect(await journal.heldForges()).toEqual([]);
    expect(await dueOf(journal, 9)).toEqual(['a', 'c', 'd']);

    await journal.holdForge(hold, 0);
    expect(await dueOf(journal, 9)).toEqual(['a', 'c', 'd']);
  });

  it('does not let a paused intent hold its order key', async () => {
    await plan('a', { rule: 'paused', orderKey: 'orderKey' });
    await plan('b', { orderKey: 'orderKey' });

    await journal.pause({ org: 'acme', rule: 'paused', by: 'ann', at: test.now() });

    expect(await dueOf(journal, 9)).toEqual(['b']);
  });

  it('tells who paused what, and resumes it', async () => {
    const at = new Date('2026-11-20T12:00:00Z');
    await plan('a');
    await journal.pause({ org: 'acme', rule: null, by: 'ann', at });
    await journal.pause({ org: 'acme', rule: null, by: 'bob', at: test.now() });

    expect(await journal.paused()).toEqual([{ org: 'acme', rule: null, by: 'ann', at }]);
    await journal.pause({ org: 'acme', rule: null, by: 'bob', at: test.now(), reason: 'the labels move' });
    expect(await journal.paused()).toEqual([{ org: 'acme', rule: null, by: 'ann', at, reason: 'the labels move' }]);
    expect(await journal.resume('acme', 'r1', 'bob')).toBe(false);
    expect(await journal.resume('acme', null, 'bob')).toBe(true);

    expect(await journal.paused()).toEqual([]);
    expect(await dueOf(journal, 9)).toEqual(['a']);
  });

  it('writes the attempt with the move to sent', async () => {
    await plan('a');
    const epoch = await claim('a');

    let asked = 0;
    const attempt = await journal.markSent('a', epoch, {
      id: 'x',
      operation: 'createLabel',
      requestHash: 'hash',
      onAsked: () => (asked += 1),
    });

    expect(asked).toBe(1);
    expect(attempt).toEqual({
      id: 'x',
      intentId: 'a',
      n: 1,
      operation: 'createLabel',
      epoch: 1,
      requestHash: 'hash',
      snapshot: null,
      sentAt: expect.anything(),
      answeredAt: null,
      outcome: null,
      status: null,
      message: null,
      objectId: null,
    });
    expect(await journal.attemptsOfIntent('a')).toEqual([attempt]);
    expect(await journal.intent('a')).toMatchObject({ state: 'sent', attempts: 1 });
  });

  it.each<[string, () => Promise<unknown>]>([
    ['with another epoch', async () => undefined],
    ['after its lease ran out', () => test.expireLeases()],
    ['while paused', () => journal.pause({ org: null, rule: null, by: 'ann', at: test.now() })],
    ['twice', () => journal.markSent('a', 1, { id: 'first', operation: 'createLabel', requestHash: 'h' })],
  ])('does not send %s', async (what, change) => {
    await plan('a');
    const epoch = await claim('a');
    await change();
    const before = await journal.intent('a');

    expect(
      await journal.markSent('a', what === 'with another epoch' ? epoch + 1 : epoch, {
        id: 'x',
        operation: 'createLabel',
        requestHash: 'h',
      }),
    ).toBeNull();

    expect(await journal.intent('a')).toEqual(before);
    expect((await journal.attemptsOfIntent('a')).map(({ id }) => id)).not.toContain('x');
  });

  it('lets one of two senders of the same claim through', async () => {
    await plan('a');
    const epoch = await claim('a');

    const sent = await Promise.all(
      ['x', 'y'].map((id) => journal.markSent('a', epoch, { id, operation: 'createLabel', requestHash: 'h' })),
    );

    expect(sent.filter((attempt) => attempt !== null)).toHaveLength(1);
    expect(await journal.attemptsOfIntent('a')).toHaveLength(1);
  });

  it('keeps the answer of an attempt', async () => {
    await plan('a');
    await send('a');

    await journal.recordAnswer('attempt-a-1', {
      outcome: 'done',
      status: 201,
      message: null,
      objectId: '9007199254740993',
    });

    expect(await journal.attemptsOfIntent('a')).toMatchObject([
      { outcome: 'done', status: 201, objectId: '9007199254740993', answeredAt: expect.anything() },
    ]);
  });

  it('settles in one go: keeps the answer, moves, and names what that set free', async () => {
    await plan('a', { orderKey: 'orderKey' });
    await plan('waited-for', { orderKey: 'orderKey' });
    await plan('b', { orderKey: 'other' });
    await plan('by-schedule', { orderKey: 'other', background: true });
    const answer = { outcome: 'done', status: null, message: null, objectId: '7' } as const;
    const ending = async (id: string) => ({
      move: { intentId: id, epoch: await send(id), from: ['sent'], to: 'done', reason: null } as const,
      answer: { id: `attempt-${id}-1`, ...answer },
      near: 9,
    });
    const endings = [await ending('a'), await ending('b')];

    expect(await Promise.all(endings.map((one) => journal.settle(one)))).toEqual([
      { moved: true, near: [due('waited-for')] },
      { moved: true, near: [{ id: 'by-schedule', isBackground: true }] },
    ]);

    expect([(await journal.intent('a'))?.state, (await journal.intent('b'))?.state]).toEqual(['done', 'done']);
    for (const id of ['a', 'b'])
      expect(await journal.attemptsOfIntent(id)).toMatchObject([{ ...answer, answeredAt: expect.anything() }]);
  });

  it('keeps the answer of an attempt also where a later owner took over, and leaves the state to them', async () => {
    await plan('a');
    const epoch = await send('a');
    await test.expireLeases();
    await journal.reclaimExpired();
    const answer = { id: 'attempt-a-1', outcome: 'done', status: null, message: null, objectId: '7' } as const;

    const settled = await journal.settle({
      move: { intentId: 'a', epoch, from: ['sent'], to: 'done', reason: null },
      answer,
      near: 0,
    });

    expect(settled).toEqual({ moved: false, near: [] });
    expect((await journal.intent('a'))?.state).toBe('unknown');
    expect(await journal.attemptsOfIntent('a')).toMatchObject([{ outcome: 'done', objectId: '7' }]);
  });

  it('tells a claim whether anything was ever sent of its effect, by itself or by another', async () => {
    for (const id of ['a', 'b', 'c']) await plan(id, { effectKey: id === 'c' ? 'another' : 'the same' });
    const epoch = await claim('a');
    await move('a', 'claimed', 'planned');
    const unsent = await claimOne(journal, 'a', 'me', LEASE_MS);
    await journal.markSent('a', epoch + 1, { id: 'x', operation: 'createLabel', requestHash: 'h' });
    await move('a', 'sent', 'planned');
    const sent = await claimOne(journal, 'a', 'me', LEASE_MS);
    await move('a', 'claimed', 'unchanged');

    expect([unsent?.hasHistory, sent?.hasHistory]).toEqual([false, true]);
    expect((await claimOne(journal, 'b', 'me', LEASE_MS))?.hasHistory).toBe(true);
    expect((await claimOne(journal, 'c', 'me', LEASE_MS))?.hasHistory).toBe(false);
  });

  it('renews a lease for its owner alone, until somebody took it back', async () => {
    await plan('a');
    const epoch = await claim('a');

    expect(await journal.renew('a', epoch + 1, LEASE_MS)).toBe(false);
    expect(await journal.renew('a', epoch, LEASE_MS)).toBe(true);
    await test.expireLeases();
    expect(await journal.renew('a', epoch, LEASE_MS)).toBe(true);
    await test.expireLeases();
    await journal.reclaimExpired();

    expect(await journal.renew('a', epoch, LEASE_MS)).toBe(false);
  });

  it('takes expired leases back: claimed is planned again, sent is unknown', async () => {
    await plan('a');
    await plan('b');
    await plan('c');
    await claim('a');
    await send('b');
    expect(await journal.reclaimExpired()).toBe(0);

    await test.expireLeases();

    expect(await journal.reclaimExpired()).toBe(2);
    expect([await stateOf('a'), await stateOf('b'), await stateOf('c')]).toEqual(['planned', 'unknown', 'planned']);
    expect(await claim('a')).toBe(2);
  });

  it('takes a lease back once, however many try at once', async () => {
    await plan('a');
    await claim('a');
    await test.expireLeases();

    const taken = await Promise.all(Array.from({ length: 5 }, () => journal.reclaimExpired()));

    expect(taken.reduce((sum, n) => sum + n, 0)).toBe(1);
  });

  it('does not accept the result of an owner that was overtaken', async () => {
    await plan('a');
    const old = await claim('a');
    await test.expireLeases();
    await journal.reclaimExpired();
    await claim('a');

    expect(await move('a', 'claimed', 'unchanged', { epoch: old })).toBe(false);

    expect(await stateOf('a')).toBe('claimed');
  });

  it.each(INTENT_STATES.filter((state) => state !== 'planned'))(
    'moves an intent that is %s as the table allows, and no other way',
    async (state) => {
      for (const to of INTENT_STATES) {
        const id = `${state}-${to}`;
        await plan(id);
        await bringTo(id, state);

        expect([to, await move(id, state, to)]).toEqual([to, canMove(state, to)]);

        expect(await stateOf(id)).toBe(canMove(state, to) ? to : state);
      }
    },
  );

  it('refuses a move from a state that it is not in', async () => {
    await plan('a');
    await claim('a');

    expect(
      await journal.move({ intentId: 'a', epoch: null, from: ['planned', 'sent'], to: 'cancelled', reason: null }),
    ).toBe(false);
  });

  it('keeps the result, and the reason people read', async () => {
    await plan('a');
    const epoch = await send('a');

    await move('a', 'sent', 'done', {
      epoch,
      reason: because('created'),
      result: { id: '5', nul: '\0', big: 9007199254740993n },
    });

    expect(await journal.intent('a')).toMatchObject({
      state: 'done',
      reason: saying('created'),
      result: { id: '5', nul: '\0', big: 9007199254740993n },
    });
  });

  it.each<[IntentState[], string, string]>([
    [['done', 'unchanged'], 'done', 'all went well'],
    [['done', 'refused'], 'failed', 'one was refused'],
    [['done', 'cancelled'], 'cancelled', 'one was cancelled'],
  ])('ends a run whose intents ended %j => %s', async (states, state) => {
    const intents = states.map((_, n) => anIntent({ id: `i${n}`, runId: 'r' }));
    await journal.recordDecision({}, [{ run: aRun({ id: 'r' }), intents }]);

    for (const [n, end] of states.entries()) {
      expect(await journal.run('r')).toMatchObject({ state: 'open', endedAt: null });
      await bringTo(`i${n}`, end);
    }

    expect(await journal.run('r')).toMatchObject({ state, endedAt: expect.anything() });
  });

  it('ends a run whose intents end at the same time', async () => {
    const intents = Array.from({ length: 8 }, (_, n) => anIntent({ id: `i${n}`, runId: 'r' }));
    await journal.recordDecision({}, [{ run: aRun({ id: 'r' }), intents }]);
    for (const { id } of intents) await send(id);

    await Promise.all(intents.map(({ id }) => move(id, 'sent', 'done')));

    expect(await journal.run('r')).toMatchObject({ state: 'done' });
  });

  it('cancels the later steps of a run after a bad end, and says why', async () => {
    await planSteps('a', 'b', 'c');
    await claim('a');

    await move('a', 'claimed', 'refused');

    expect(await stateOf('b')).toBe('cancelled');
    expect(await journal.intent('c')).toMatchObject({
      state: 'cancelled',
      reason: saying('an earlier step of the run did not end well'),
    });
    expect(await journal.run('run-steps')).toMatchObject({ state: 'failed' });
  });

  it.each<IntentState>(['dead', 'refused'])(
    'revives a %s intent with the steps that its end cancelled',
    async (state) => {
      await planSteps('a', 'b');
      await bringTo('a', state);

      expect(await journal.retry('a', 'ann')).toBe(true);

      expect(await journal.intent('a')).toMatchObject({ state: 'planned', tries: 0, failingSince: null });
      expect(await stateOf('b')).toBe('planned');
      expect(await journal.run('run-steps')).toMatchObject({ state: 'open', endedAt: null });
      expect(await dueOf(journal, 9)).toEqual(['a']);
      expect(await journal.retry('a', 'ann')).toBe(false);
    },
  );

  it.each<IntentState>(['planned', 'claimed', 'unknown', 'waiting', 'done', 'unchanged', 'conflict', 'cancelled'])(
    'does not revive one that is %s',
    async (state) => {
      await plan('a');
      await bringTo('a', state);

      expect(await journal.retry('a', 'ann')).toBe(false);
    },
  );

  it('revives once when two try at once', async () => {
    await plan('a');
    await bringTo('a', 'dead');

    const revived = await Promise.all([journal.retry('a', 'ann'), journal.retry('a', 'bob')]);

    expect(revived.sort()).toEqual([false, true]);
  });

  it('remembers the newest settled intent of an effect key', async () => {
    for (const [id, end] of [
      ['a', 'done'],
      ['b', 'unchanged'],
      ['c', 'refused'],
    ] as const) {
      await plan(id, { effectKey: 'key' });
      await bringTo(id, end);
    }

    expect((await journal.lastSettled('key'))?.id).toBe('b');
    expect(await journal.lastSettled('other')).toBeNull();
  });

  it('tells what the newest pass of each schedule made, equal runs counted', async () => {
    let n = 0;
    const decide = (rule: string, cause: Cause, more: object = {}) =>
      journal.recordDecision({}, [
        { run: aRun({ id: `p${(n += 1)}`, runKey: `p${n}`, rule, cause, state: 'done', ...more }), intents: [] },
      ]);
    const tick = (tickId: string, subject: string): Cause => ({ kind: 'tick', tickId, subject });
    await decide('nightly', tick('t1', '1'), { state: 'not-fired' });
    for (const repo of ['1', '2', '3']) await decide('nightly', tick('t2', repo), { reason: because('wanted') });
    await decide('nightly', tick('t2', '4'), { state: 'not-fired', reason: because('as wanted') });
    // Somebody caused another run of it meanwhile.
    await decide('nightly', { kind: 'apply', by: 'ann', plan: 'p', subject: '1' });
    await decide('hourly', tick('t3', '"tickId":"t2"'));
    await decide('by hand', { kind: 'apply', by: 'ann', plan: 'p', subject: '1' });

    const asked = ['hourly', 'nightly', 'by hand', 'never'].map((rule) => ({ org: 'acme', rule }));
    const [hourly, nightly, ...others] = await journal.newestPasses(asked, 100);

    expect(hourly).toMatchObject([{ state: 'done', count: 1 }]);
    expect(nightly).toEqual([
      { state: 'not-fired', reason: because('as wanted'), count: 1 },
      { state: 'done', reason: because('wanted'), count: 3 },
    ]);
    expect(others).toEqual([[], []]);
    // The newest of the runs that are looked at.
    expect(await journal.newestPasses([{ org: 'acme', rule: 'nightly' }], 1)).toEqual([[]]);
    expect(await journal.newestPasses([{ org: 'other', rule: 'nightly' }], 9)).toEqual([[]]);
  });

  it('counts intents by state, and lists one state', async () => {
    for (const id of ['a', 'b', 'c']) await plan(id);
    await bringTo('b', 'dead');

    expect(await journal.countNewestByState(1_000_000, null)).toMatchObject({ planned: 2, dead: 1, waiting: 0 });
    expect(Object.keys(await journal.countNewestByState(1_000_000, null)).sort()).toEqual([...INTENT_STATES].sort());
    expect(await journal.countNewestByState(9, null, ['dead', 'sent'])).toMatchObject({ planned: 0, dead: 1 });
    expect(await journal.countNewestByState(1, null)).toMatchObject({ planned: 1, dead: 1, waiting: 0 });
    expect((await journal.intentsInState('planned', 9)).map(({ id }) => id)).toEqual(['a', 'c']);
    expect(await journal.intentsInState('planned', 1)).toHaveLength(1);
  });

  describe('budgets', () => {
    const limit = (of: string, perHour: number): BudgetLimit => ({ kind: 'rule', of, key: `key of ${of}`, perHour });

    async function sendFor(id: string, budgets: BudgetLimit[]): Promise<boolean> {
      const epoch = await claim(id);
      try {
        return (
          (await journal.markSent(id, epoch, {
            id: `attempt-${id}`,
            operation: 'createLabel',
            requestHash: 'hash',
            budgets,
          })) !== null
        );
      } catch (error) {
        if (error instanceof BudgetSpent) return false;
        throw error;
      }
    }

    const hold = async (id: string, perHour = 5, of = 'eve'): Promise<void> => {
      await claim(id);
      await move(id, 'claimed', 'planned', { spentBudget: { limit: limit(of, perHour), againInMs: HOUR_MS } });
    };

    const answer = (id: string, outcome: 'done' | 'refused' | 'unknown' | 'not-sent'): Promise<void> =>
      journal.recordAnswer(`attempt-${id}`, { outcome, status: null, message: null, objectId: null });

    it('let exactly so many calls through, however many are made at once', async () => {
      const ids = Array.from({ length: 24 }, (_, n) => `i${n}`);
      for (const id of ids) await plan(id);

      // Each counts for two budgets, named in either order: nobody may wait for another in a circle.
      const budgets = [limit('small', 5), limit('large', 100)];
      const sent = await Promise.all(ids.map((id, n) => sendFor(id, n % 2 === 0 ? budgets : [...budgets].reverse())));

      expect(sent.filter(Boolean)).toHaveLength(5);
      expect(await journal.countNewestByState(1_000_000, null)).toMatchObject({ sent: 5, claimed: 19 });
      expect(await journal.spentBudget(budgets)).toMatchObject({ limit: budgets[0] });
    });

    it('count calls that have or may have changed something, those without an answer too, and no others', async () => {
      for (const id of ['open', 'done', 'unknown', 'refused', 'not-sent', 'other']) await plan(id);
      for (const id of ['open', 'done', 'unknown', 'refused', 'not-sent']) await sendFor(id, [limit('a', 9)]);
      await sendFor('other', [limit('b', 9)]);
      for (const outcome of ['done', 'unknown', 'refused', 'not-sent'] as const) await answer(outcome, outcome);

      expect(await journal.spentBudget([limit('a', 4)])).toBeNull();
      const spent = await journal.spentBudget([limit('b', 2), limit('a', 3)]);
      expect(spent).toMatchObject({ limit: limit('a', 3) });
      expect(spent?.againInMs).toBeGreaterThan(HOUR_MS - 60_000);
      expect(spent?.againInMs).toBeLessThanOrEqual(HOUR_MS);
      expect(await journal.spentBudget([])).toBeNull();
    });

    it('write nothing of a call that they hold', async () => {
      for (const id of ['a', 'b']) await plan(id);
      await sendFor('a', [limit('one', 1)]);

      expect(await sendFor('b', [limit('one', 1), limit('another', 1)])).toBe(false);
      expect(await journal.attemptsOfIntent('b')).toEqual([]);
      expect(await stateOf('b')).toBe('claimed');
      expect(await journal.spentBudget([limit('another', 1)])).toBeNull();
    });

    it('hold an intent and not its order key: others of it go first, and it comes when there is room', async () => {
      for (const id of ['a', 'b']) await plan(id, { orderKey: 'orderKey' });
      await hold('a');

      expect(await journal.intent('a')).toMatchObject({
        state: 'planned',
        held: true,
        heldSince: expect.any(Date),
        reason: saying(
          'held: the budget of rule eve is spent, 5 effects per hour (orgs[].budgets); there is room again in 60 min',
        ),
      });
      expect(await dueOf(journal, 9)).toEqual(['b']);
      await bringTo('b', 'done');
      expect(await claimOne(journal, 'a', 'me', LEASE_MS)).toBeNull();
    });

    it('hold until then, and not any longer; since when is remembered', async () => {
      await plan('a');
      await hold('a');
      await test.endHolds();
      expect(await dueOf(journal, 9)).toEqual(['a']);

      await claim('a');

      expect(await journal.intent('a')).not.toHaveProperty('held');
      expect(await journal.intent('a')).toHaveProperty('heldSince');
    });

    it('are not all that lets others of an order key go first: what waits for others does too, until it is revisited', async () => {
      await planSteps('a', 'b');
      await plan('other', { orderKey: 'orderKey' });
      const reason = intentReason('intent.waits', { because: because('no approvals') });
      await claim('a');
      await move('a', 'claimed', 'planned', { waits: true, dueAt: new Date(test.now().getTime() + HOUR_MS), reason });
      expect(await dueOf(journal, 9)).toEqual(['other']);
      expect(await journal.heldByBudgets(9)).toEqual([]);

      expect(await journal.revisit('acme', 'another orderKey')).toEqual([]);
      expect(await journal.revisit('another organization', 'orderKey')).toEqual([]);
      expect(await journal.revisit('acme', 'orderKey')).toEqual(['a']);

      expect(await dueOf(journal, 9)).toEqual(['a']);
      await bringTo('a', 'done');
      expect(await dueOf(journal, 9)).toEqual(['b']);
      expect(await journal.revisit('acme', 'orderKey')).toEqual([]);
      expect(await journal.intent('a')).not.toHaveProperty('heldSince');
    });

    it('are told with all that is open of an action and order key, in order of planning, with what they noted', async () => {
      for (const id of ['a', 'b', 'c']) await plan(id, { orderKey: 'orderKey' });
      await plan('elsewhere', { orderKey: 'another' });
      const { action = '' } = (await journal.intent('a')) ?? {};
      await claim('a');
      const dueAt = new Date(test.now().getTime() + HOUR_MS);
      await move('a', 'claimed', 'planned', { waits: true, dueAt, result: { detail: { base: 'main' } } });
      await bringTo('b', 'done');

      const open = await journal.openInOrder('orderKey', action);

      expect(open.map(({ id }) => id)).toEqual(['a', 'c']);
      expect(open[0]?.result).toEqual({ detail: { base: 'main' } });
      expect(await journal.openInOrder('orderKey', 'another.action')).toEqual([]);
    });

    it('hold the later steps of a run too, in every order key, and let others of those order keys go first', async () => {
      const intents = ['repository', 'repository', 'organization'].map((orderKey, stepNo) =>
        anIntent({ id: `a${stepNo}`, runId: 'run-a', stepNo, orderKey }),
      );
      await journal.recordDecision({}, [{ run: aRun({ id: 'run-a' }), intents }]);
      await plan('b', { orderKey: 'repository' });
      await plan('c', { orderKey: 'organization' });
      expect(await dueOf(journal, 9)).toEqual(['a0']);

      await hold('a0');

      expect(await journal.dueNear('a0', 9)).toEqual([due('b')]);
      expect(await dueOf(journal, 9)).toEqual(['b', 'c']);
      for (const id of ['b', 'c']) await bringTo(id, 'done');
      expect(await dueOf(journal, 9)).toEqual([]);
    });

    it('hold the later steps of a run from the held one on, whichever it is', async () => {
      const intents = ['orderKey', 'orderKey', 'orderKey'].map((orderKey, stepNo) =>
        anIntent({ id: `a${stepNo}`, runId: 'run-a', stepNo, orderKey }),
      );
      await journal.recordDecision({}, [{ run: aRun({ id: 'run-a' }), intents }]);
      await plan('b', { orderKey: 'orderKey' });
      await bringTo('a0', 'done');

      await hold('a1');

      expect(await dueOf(journal, 9)).toEqual(['b']);
    });

    it('keep the steps of a run in their order when its turn comes, and the order of its order key', async () => {
      await planSteps('a', 'b');
      await hold('a');
      await plan('c', { orderKey: 'orderKey' });
      await test.endHolds();

      const done: string[] = [];
      for (let due = await dueOf(journal, 9); due.length > 0; due = await dueOf(journal, 9)) {
        expect(due).toHaveLength(1);
        done.push(...due);
        await bringTo(due[0] ?? '', 'done');
      }

      expect(done).toEqual(['a', 'b', 'c']);
      expect(await journal.run('run-steps')).toMatchObject({ state: 'done' });
    });

    it('hold nobody up by a later step that a person approved, or revived, meanwhile', async () => {
      const [a, b] = [
        anIntent({ id: 'a', runId: 'run-a' }),
        anIntent({ id: 'b', runId: 'run-a', stepNo: 1, orderKey: 'orderKey', approval: 'wanted' }),
      ];
      const items = ['c', 'd', 'e'].map((id, n) =>
        anIntent({ id, runId: 'run-c', stepNo: n === 2 ? 1 : 0, ...(n === 2 ? { orderKey: 'orderKey' } : {}) }),
      );
      await journal.recordDecision({}, [
        { run: aRun({ id: 'run-a' }), intents: [a, b] },
        { run: aRun({ id: 'run-c' }), intents: items },
      ]);
      await plan('other', { orderKey: 'orderKey' });
      for (const id of ['a', 'd']) await hold(id);
      await bringTo('c', 'dead');

      expect(await journal.decideApproval('b', 'given', 'ann')).toEqual(['b']);
      expect(await journal.retry('c', 'ann')).toBe(true);

      expect(await stateOf('e')).toBe('planned');
      expect(await dueOf(journal, 9)).toEqual(['c', 'other']);
    });

    it('end with a run that ends badly beside what they hold', async () => {
      const intents = ['a', 'b', 'c'].map((id, n) => anIntent({ id, runId: 'run-a', stepNo: n === 2 ? 1 : 0 }));
      await journal.recordDecision({}, [{ run: aRun({ id: 'run-a' }), intents }]);
      await hold('a');
      await bringTo('b', 'dead');
      expect(await stateOf('c')).toBe('cancelled');
      await test.endHolds();

      await bringTo('a', 'done');

      expect(await journal.run('run-a')).toMatchObject({ state: 'failed' });
    });

    it('give as many a turn at one time as there can be room for, and tell what they hold', async () => {
      const ids = ['a', 'b', 'c', 'd', 'e'];
      for (const id of ids) await plan(id);
      await plan('other');
      for (const id of ids) await hold(id, 2);
      await hold('other', 9, 'bob');

      const inHours = await Promise.all(
        ids.map(async (id) =>
          Math.round((((await journal.intent(id))?.dueAt.getTime() ?? 0) - test.now().getTime()) / HOUR_MS),
        ),
      );
      expect(inHours).toEqual([1, 1, 2, 2, 3]);
      const held = await journal.heldByBudgets(9);
      expect(held).toEqual([
        {
          code: 'held.budget_spent',
          org: 'acme',
          kind: 'rule',
          of: 'eve',
          perHour: 2,
          effects: 5,
          since: expect.any(Date),
          next: expect.any(Date),
          until: expect.any(Date),
        },
        expect.objectContaining({ of: 'bob', effects: 1 }),
      ]);
      const [{ since, next, until } = { since: new Date(0), next: new Date(0), until: new Date(0) }] = held;
      expect([next, until].map((time) => Math.round((time.getTime() - since.getTime()) / HOUR_MS))).toEqual([1, 3]);
      expect(await journal.heldByBudgets(1)).toHaveLength(1);
    });

    it('tell nothing of what they held once', async () => {
      await plan('a');
      await hold('a');
      await test.endHolds();

      expect(await journal.heldByBudgets(9)).toEqual([]);
    });

    it('hold no effect key: the same effect of another goes first, and is never at work twice', async () => {
      await plan('a', { effectKey: 'the same' });
      await plan('b', { effectKey: 'the same' });
      await hold('a');

      await send('b');
      await test.endHolds();
      expect(await dueOf(journal, 9)).toEqual([]);
      expect(await claimOne(journal, 'a', 'me', LEASE_MS)).toBeNull();
      await move('b', 'sent', 'done');

      expect(await claimOne(journal, 'a', 'me', LEASE_MS)).toMatchObject({ overtakenBy: { id: 'b', state: 'done' } });
    });

    it.each<[string, Cause, string]>([
      ['an event', { kind: 'event', eventId: 'the-event' }, 'the-event'],
      ['a schedule', { kind: 'tick', tickId: 'the-tick', subject: '7' }, 'the-tick'],
      ['a plan', { kind: 'apply', by: 'ann', plan: 'the-plan', subject: '7' }, 'the-plan'],
    ])('tells %s that led to it', async (_title, cause, causeId) => {
      await journal.recordDecision({}, [
        { run: aRun({ id: 'caused', cause }), intents: [anIntent({ id: 'a', runId: 'caused' })] },
      ]);

      expect(await claimOne(journal, 'a', 'me', LEASE_MS)).toMatchObject({ causeId });
    });

    it.each<[string, Partial<NewIntent>, IntentState, string | null]>([
      ['was done', {}, 'done', 'b'],
      ['found what it wants', {}, 'unchanged', 'b'],
      ['was refused', {}, 'refused', null],
      ['sets something else', { effectKey: 'another' }, 'done', null],
      ['is a dry run', { mode: 'dry-run' }, 'unchanged', null],
    ])('are told what overtook an intent: a later one that %s', async (_what, over, state, overtaker) => {
      await plan('before', { effectKey: 'the same' });
      await bringTo('before', 'done');
      await plan('a', { effectKey: 'the same' });
      await plan('b', { effectKey: 'the same', ...over });
      await hold('a');
      await bringTo('b', state);
      await test.endHolds();

      expect((await claimOne(journal, 'a', 'me', LEASE_MS))?.overtakenBy?.id ?? null).toBe(overtaker);
    });

    it('know what an intent is counted for', async () => {
      const countsFor = { rule: true, actor: { id: '9', login: 'x\0y' } };
      await plan('a', { countsFor });

      expect((await journal.intent('a'))?.countsFor?.rule).toBe(true);
      expect((await journal.intent('a'))?.countsFor?.actor?.id).toBe('9');
    });
  });

  it('lists runs newest first, by what is asked', async () => {
    await journal.recordDecision({}, [
      { run: aRun({ id: 'r1' }), intents: [anIntent({ id: 'a', runId: 'r1' })] },
      {
        run: aRun({ id: 'r2', rule: 'other', state: 'not-fired', cause: { kind: 'event', eventId: 'e2' } }),
        intents: [],
      },
      {
        run: aRun({ id: 'r3', org: 'elsewhere', state: 'error', cause: { kind: 'tick', tickId: 't', subject: '' } }),
        intents: [],
      },
    ]);
    const ids = async (filter: Partial<Parameters<JournalStore['runs']>[0]>): Promise<string[]> =>
      (await journal.runs({ limit: 9, ...filter })).map(({ id }) => id);

    expect(await ids({})).toEqual(['r3', 'r2', 'r1']);
    expect(await ids({ limit: 1 })).toEqual(['r3']);
    expect(await ids({ org: 'acme' })).toEqual(['r2', 'r1']);
    expect(await ids({ rule: 'other' })).toEqual(['r2']);
    expect(await ids({ state: 'open' })).toEqual(['r1']);
    expect(await ids({ eventId: 'e2' })).toEqual(['r2']);
  });

  it('lists runs page by page, of many events, and without those that changed nothing', async () => {
    const event = (eventId: string) => ({ cause: { kind: 'event' as const, eventId } });
    await journal.recordDecision({}, [
      { run: aRun({ id: 'r1', ...event('e1') }), intents: [anIntent({ id: 'a', runId: 'r1', orderKey: 'a' })] },
      { run: aRun({ id: 'r2', ...event('e2'), state: 'not-fired' }), intents: [] },
      { run: aRun({ id: 'r3', ...event('e3'), state: 'error' }), intents: [] },
      { run: aRun({ id: 'r4', ...event('e4') }), intents: [anIntent({ id: 'b', runId: 'r4', orderKey: 'b' })] },
      { run: aRun({ id: 'r5', ...event('e5'), state: 'done' }), intents: [] },
    ]);
    const ids = async (filter: Partial<Parameters<JournalStore['runs']>[0]>): Promise<string[]> =>
      (await journal.runs({ limit: 9, ...filter })).map(({ id }) => id);
    await bringTo('a', 'done');
    await bringTo('b', 'unchanged');

    expect(await ids({ before: 'r4', limit: 2 })).toEqual(['r3', 'r2']);
    expect(await ids({ before: 'r1' })).toEqual([]);
    expect(await ids({ eventIds: ['e4', 'e1', 'e9'] })).toEqual(['r4', 'r1']);
    expect(await ids({ eventIds: [] })).toEqual([]);
    expect(await ids({ changed: true })).toEqual(['r3', 'r1']);
    expect(await ids({ changed: true, before: 'r3' })).toEqual(['r1']);
  });

  it('tells runs of a shadow revision alone, or none of them, with the other filters and the limit', async () => {
    await journal.recordDecision({}, [
      { run: aRun({ id: 'r1', rule: 'label' }), intents: [] },
      { run: aRun({ id: 'r2', rule: 'shadow/label', mode: 'dry-run', state: 'done' }), intents: [] },
      // Names of rules that only look like it.
      { run: aRun({ id: 'r3', rule: 'shadow' }), intents: [] },
      { run: aRun({ id: 'r4', rule: 'shadowy-label' }), intents: [] },
      {
        run: aRun({ id: 'r5', rule: 'shadow/label', org: 'elsewhere', mode: 'dry-run', state: 'not-fired' }),
        intents: [],
      },
    ]);
    const ids = async (filter: Partial<Parameters<JournalStore['runs']>[0]>): Promise<string[]> =>
      (await journal.runs({ limit: 9, ...filter })).map(({ id }) => id);

    expect(await ids({})).toEqual(['r5', 'r4', 'r3', 'r2', 'r1']);
    expect(await ids({ shadow: true })).toEqual(['r5', 'r2']);
    expect(await ids({ shadow: false })).toEqual(['r4', 'r3', 'r1']);
    expect(await ids({ shadow: true, org: 'acme' })).toEqual(['r2']);
    expect(await ids({ shadow: true, state: 'not-fired' })).toEqual(['r5']);
    expect(await ids({ shadow: false, limit: 2 })).toEqual(['r4', 'r3']);
    expect(await ids({ shadow: true, rule: 'label' })).toEqual([]);
  });

  it('tells what several runs did, each in the order asked', async () => {
    await planSteps('first', 'second');
    await plan('other');
    await journal.recordDecision({}, [{ run: aRun({ id: 'run-idle', state: 'not-fired' }), intents: [] }]);
    const epoch = await send('first');
    await journal.recordAnswer(`attempt-first-${epoch}`, {
      outcome: 'done',
      status: 201,
      message: null,
      objectId: '7',
    });
    await move('first', 'sent', 'done');
    await send('other');

    const work = await journal.workOfRuns(['run-other', 'run-idle', 'nothing', 'run-steps']);

    expect(
      work.map((run) =>
        run.map(({ intent, attempts }) => [intent.id, intent.state, attempts.map(({ outcome }) => outcome)]),
      ),
    ).toEqual([
      [['other', 'sent', [null]]],
      [],
      [],
      [
        ['first', 'done', ['done']],
        ['second', 'planned', []],
      ],
    ]);
    expect(work[3]?.map(({ intent }) => intent)).toEqual(await journal.intentsOfRun('run-steps'));
    expect(work[3]?.[0]?.attempts).toEqual(await journal.attemptsOfIntent('first'));
    expect(await journal.workOfRuns([])).toEqual([]);
  });

  it('takes keys and names of any length and content', async () => {
    const long = 'ä\0'.repeat(20_000);
    await plan('a', { effectKey: long, itemKey: long });
    await plan('b', { effectKey: long });
    await bringTo('a', 'done');

    expect(await journal.lastSettled(long)).toMatchObject({ id: 'a' });
    expect(await dueOf(journal, 9)).toEqual(['b']);
  });

  it('has nothing under an unknown id', async () => {
    expect(await journal.run('x')).toBeNull();
    expect(await journal.intent('x')).toBeNull();
    expect(await claimOne(journal, 'x', 'me', LEASE_MS)).toBeNull();
    expect(await journal.retry('x', 'ann')).toBe(false);
    expect(await journal.intentsOfRun('x')).toEqual([]);
    expect(await journal.attemptsOfIntent('x')).toEqual([]);
  });

  describe('what waits for an approval', () => {
    const wanting = async (...ids: string[]): Promise<void> => {
      const intents = ids.map((id, stepNo) =>
        anIntent({
          id,
          runId: 'run-a',
          stepNo,
          orderKey: 'orderKey',
          ...(stepNo === 0 ? { approval: 'wanted' as const } : {}),
        }),
      );
      await journal.recordDecision({}, [{ run: aRun({ id: 'run-a' }), intents }]);
    };

    it('is planned into waiting, is not due, and holds up nothing of others', async () => {
      await wanting('a', 'later');
      await plan('other', { orderKey: 'orderKey', effectKey: 'effect-a' });

      expect(await journal.intent('a')).toMatchObject({ state: 'waiting', approval: 'wanted' });
      expect((await journal.waitingForApproval(9)).map(({ id }) => id)).toEqual(['a']);
      expect(await dueOf(journal, 9)).toEqual(['other']);
      await bringTo('other', 'done');
      expect(await dueOf(journal, 9)).toEqual([]);
      expect(await claimOne(journal, 'later', 'me', LEASE_MS)).toBeNull();
    });

    it('lets two of one effect key wait side by side', async () => {
      await wanting('a');
      await plan('b', { approval: 'wanted', effectKey: 'effect-a' });

      expect((await journal.waitingForApproval(9)).map(({ id }) => id)).toEqual(['a', 'b']);
      expect((await journal.waitingForApproval(9, null, 'a')).map(({ id }) => id)).toEqual(['b']);
      expect(await journal.waitingForApproval(9, null, 'b')).toEqual([]);
      expect(await journal.decideApproval('b', 'given', 'ann')).toEqual(['b']);
      expect(await dueOf(journal, 9)).toEqual(['b']);
    });

    it('is due once it is approved, and tells who did', async () => {
      await wanting('a', 'later');

      expect(await journal.decideApproval('a', 'given', 'ann')).toEqual(['a']);

      expect(await journal.intent('a')).toMatchObject({
        state: 'planned',
        approval: 'given',
        approvalBy: 'ann',
        approvalAt: expect.anything(),
        reason: saying('approved by ann'),
      });
      expect(await dueOf(journal, 9)).toEqual(['a']);
      expect(await journal.decideApproval('a', 'denied', 'bob')).toEqual([]);
    });

    it('is cancelled with its later steps when it is denied, and the run ends', async () => {
      await wanting('a', 'later');

      expect(await journal.decideApproval('run-a', 'denied', 'ann')).toEqual(['a']);

      expect(await journal.intent('a')).toMatchObject({
        state: 'cancelled',
        approval: 'denied',
        reason: saying('denied by ann'),
      });
      expect(await stateOf('later')).toBe('cancelled');
      expect(await journal.run('run-a')).toMatchObject({ state: 'cancelled', endedAt: expect.anything() });
    });

    it('keeps that it takes two people, and the names of the others beside that of the approver', async () => {
      const intents = [
        anIntent({ id: 'a', runId: 'run-a', approval: 'wanted', twoPeople: true }),
        anIntent({ id: 'b', runId: 'run-a', approval: 'wanted' }),
      ];
      await journal.recordDecision({}, [{ run: aRun({ id: 'run-a' }), intents }]);

      expect((await journal.waitingForApproval(9)).map(({ id, twoPeople }) => [id, twoPeople])).toEqual([
        ['a', true],
        ['b', undefined],
      ]);
      expect(await journal.decideApproval('a', 'given', 'bob', 'requested by ann')).toEqual(['a']);
      expect(await journal.intent('a')).toMatchObject({
        approval: 'given',
        approvalBy: 'bob',
        twoPeople: true,
        approvalBeside: 'requested by ann',
      });
    });

    it('is decided for a whole run at once', async () => {
      const intents = ['a', 'b', 'c'].map((id) =>
        anIntent({ id, runId: 'run-a', ...(id === 'c' ? {} : { approval: 'wanted' as const }) }),
      );
      await journal.recordDecision({}, [{ run: aRun({ id: 'run-a' }), intents }]);

      expect(await journal.decideApproval('run-a', 'given', 'ann')).toEqual(['a', 'b']);
      expect(await journal.decideApproval('no-such-thing', 'given', 'ann')).toEqual([]);
    });

    it('is not what waits because its outcome is unknown, and the other way round', async () => {
      await wanting('a');
      await plan('u');
      await bringTo('u', 'unknown');
      await move('u', 'unknown', 'waiting');

      expect(await journal.decideApproval('u', 'given', 'ann')).toEqual([]);
      expect(await move('a', 'waiting', 'done')).toBe(false);
      expect(await move('u', 'waiting', 'done')).toBe(true);
    });

    it('is not asked about when an earlier step ended badly, and again when that one is revived', async () => {
      const intents = [
        anIntent({ id: 'first', runId: 'run-a' }),
        anIntent({ id: 'a', runId: 'run-a', stepNo: 1, approval: 'wanted' }),
      ];
      await journal.recordDecision({}, [{ run: aRun({ id: 'run-a' }), intents }]);
      await bringTo('first', 'dead');

      expect(await stateOf('a')).toBe('cancelled');
      expect(await journal.retry('first', 'ann')).toBe(true);
      expect((await journal.waitingForApproval(9)).map(({ id }) => id)).toEqual(['a']);
    });
  });

  describe('a limit of runs per hour', () => {
    const fire = (id: string, runsPerHour: number) =>
      journal.recordDecision({}, [
        { run: aRun({ id, decidedAt: test.now() }), intents: [anIntent({ id: `i-${id}`, runId: id })], runsPerHour },
      ]);

    it('lets so many through and writes the others as held, without their intents', async () => {
      for (const id of ['r1', 'r2', 'r3']) await fire(id, 2);

      expect(await journal.firedInLastHour('acme', 'r1', 99)).toBe(2);
      expect(await journal.firedInLastHour('acme', 'r1', 1)).toBe(1);
      expect(await journal.run('r3')).toMatchObject({
        state: 'error',
        reason: saying('held: 2 runs in the last hour, the limit is 2 (limits.runs_per_hour)'),
      });
      expect(await journal.intentsOfRun('r3')).toEqual([]);
      expect(await stateOf('i-r2')).toBe('planned');
    });

    it('holds within one decision and across several at once', async () => {
      const runs = [1, 2, 3].map((n) => ({
        run: aRun({ id: `one-${n}`, decidedAt: test.now() }),
        intents: [anIntent({ id: `one-${n}`, runId: `one-${n}` })],
        runsPerHour: 5,
      }));
      await journal.recordDecision({}, runs);
      await Promise.all([1, 2, 3, 4].map((n) => fire(`at-once-${n}`, 5)));

      expect(await journal.firedInLastHour('acme', 'r1', 99)).toBe(5);
      expect((await journal.runs({ state: 'error', limit: 9 })).length).toBe(2);
    });

    it('does not count runs that wanted nothing, nor other rules, nor older ones', async () => {
      const old = new Date(test.now().getTime() - 2 * HOUR_MS);
      await journal.recordDecision({}, [
        { run: aRun({ id: 'idle', state: 'not-fired', decidedAt: test.now() }), intents: [] },
        { run: aRun({ id: 'other', rule: 'r9', decidedAt: test.now() }), intents: [] },
        { run: aRun({ id: 'old', decidedAt: old }), intents: [] },
      ]);
      await fire('r1', 1);

      expect(await journal.run('r1')).toMatchObject({ state: 'open' });
    });
  });

  describe('acts that several events tell', () => {
    const acts = ['history closed 5', 'history closed 6'];
    const tell = (id: string, eventId: string, over: Partial<RecordedRun> & { rule?: string } = {}) => {
      const { rule = 'r1', ...more } = over;
      const run = aRun({ id, rule, cause: { kind: 'event', eventId }, decidedAt: test.now() });
      return journal.recordDecision({ eventId }, [
        { run, intents: [anIntent({ id: `i-${id}`, runId: id, rule })], acts, ...more },
      ]);
    };
    const asked = { forge: 'main', org: 'acme', rule: 'r1', acts: [...acts, 'history closed 7'] };

    it('are acted upon for the event that is written first, by each rule', async () => {
      await tell('one', 'e1');
      await tell('two', 'e2', { acts: ['history closed 6'] });
      await tell('three', 'e2', { rule: 'r2' });

      expect(await journal.run('one')).toMatchObject({ state: 'open' });
      expect(await journal.run('two')).toMatchObject({
        state: 'not-fired',
        reason: saying('refused (act.told_before): event e1 told this act already'),
      });
      expect(await journal.intentsOfRun('two')).toEqual([]);
      expect(await journal.run('three')).toMatchObject({ state: 'open' });
      expect(await journal.toldActs(asked)).toEqual(new Map(acts.map((act) => [act, 'e1'])));
      expect(await journal.toldActs({ ...asked, org: 'other' })).toEqual(new Map());
    });

    it('are taken by the first event that asks, under one name', async () => {
      const first = { ...asked, rule: '@budget', acts };
      expect(await journal.takeActs(first, 'e1')).toBe(true);
      expect(await journal.takeActs(first, 'e1')).toBe(true);
      expect(await journal.takeActs({ ...first, acts: ['history closed 6', 'history closed 8'] }, 'e2')).toBe(false);
      expect(await journal.takeActs({ ...first, acts: [] }, 'e2')).toBe(true);
      expect(await journal.takeActs({ ...first, rule: 'r1' }, 'e2')).toBe(true);
      const racing = ['r1', 'r2', 'r3', 'r4'].map((id) => journal.takeActs({ ...first, acts: ['comment 9'] }, id));
      expect((await Promise.all(racing)).filter(Boolean)).toHaveLength(1);
    });

    it('are told again by their own event', async () => {
      await tell('one', 'e1');
      const run = aRun({
        id: 'again',
        runKey: 'again',
        cause: { kind: 'event', eventId: 'e1' },
        decidedAt: test.now(),
      });
      await journal.recordDecision({}, [{ run, intents: [], acts }]);

      expect(await journal.run('again')).toMatchObject({ state: 'open' });
    });

    it('are acted upon once, however many decide at the same time', async () => {
      const all = Array.from({ length: 5 }, (_, n) => `e${n}`);
      await Promise.all(all.map((eventId) => tell(`of-${eventId}`, eventId)));

      expect((await journal.runs({ state: 'not-fired', limit: 9 })).length).toBe(all.length - 1);
      expect((await journal.runs({ state: 'open', limit: 9 })).length).toBe(1);
    });

    it('are not spent by a run that does nothing', async () => {
      const idle = aRun({
        id: 'idle',
        state: 'not-fired',
        cause: { kind: 'event', eventId: 'e1' },
        decidedAt: test.now(),
      });
      await journal.recordDecision({ eventId: 'e1' }, [{ run: idle, intents: [], acts }]);
      await tell('two', 'e2');

      expect(await journal.run('two')).toMatchObject({ state: 'open' });
    });

    it('are acted upon once by runs that gather', async () => {
      const gathering = { key: 'k', windowMs: 0 };
      const cause = { kind: 'event', eventId: 'e1' } as const;
      const run = aRun({ id: 'gathers', state: 'gathering', cause, decidedAt: test.now() });
      await journal.recordDecision({ eventId: 'e1' }, [{ run, intents: [], acts, gathering }]);
      await tell('two', 'e2', { gathering });
      expect(await journal.run('two')).toMatchObject({ state: 'not-fired' });

      await journal.decideGathered({ run: { ...run, state: 'open' }, intents: [anIntent({ runId: 'gathers' })], acts });
      expect(await journal.run('gathers')).toMatchObject({ state: 'open' });
    });
  });

  describe('runs that gather', () => {
    const key = 'acme/app';
    const gather = (n: number, over: Partial<Parameters<typeof aRun>[0]> = {}, windowMs = HOUR_MS) =>
      journal.recordDecision({ eventId: `e${n}` }, [
        {
          run: aRun({
            id: `r${n}`,
            state: 'gathering',
            cause: { kind: 'event', eventId: `e${n}` },
            reason: because('waits'),
            ...over,
          }),
          intents: [],
          gathering: { key, windowMs },
        },
      ]);
    const decided = (id: string) => ({
      run: aRun({
        id,
        state: 'open',
        reason: because('held'),
        revisionId: 'rev-2',
        lookups: { a: { value: 1 } },
        cause: { kind: 'event', eventId: 'e9' },
      }),
      intents: [anIntent({ id: `i-${id}`, runId: id })],
    });

    it('become one: the last cause waits, the others point to it', async () => {
      for (const n of [1, 2, 3]) await gather(n);

      expect(await journal.run('r3')).toMatchObject({ state: 'gathering', endedAt: null, dueAt: expect.anything() });
      for (const id of ['r1', 'r2'])
        expect(await journal.run(id)).toMatchObject({
          state: 'coalesced',
          coalescedInto: 'r3',
          reason: saying('coalesced: run r3 decides for all of key "acme/app" in this window'),
          endedAt: expect.anything(),
        });
    });

    it('keep the window of the first of them', async () => {
      await gather(1);
      const { dueAt } = (await journal.run('r1')) ?? {};
      await gather(2, {}, 2 * HOUR_MS);

      expect((await journal.run('r2'))?.dueAt).toEqual(dueAt);
    });

    it('go by the order of the causes, not by that of their arrival here', async () => {
      await gather(2);
      await gather(1);

      expect(await journal.run('r1')).toMatchObject({ state: 'coalesced', coalescedInto: 'r2' });
      expect(await journal.run('r2')).toMatchObject({ state: 'gathering' });
    });

    it('are one however many decide at once', async () => {
      await Promise.all([1, 2, 3, 4, 5].map((n) => gather(n)));

      expect(await journal.runs({ state: 'gathering', limit: 9 })).toMatchObject([{ id: 'r5' }]);
      expect((await journal.runs({ state: 'coalesced', limit: 9 })).map(({ coalescedInto }) => coalescedInto)).toEqual([
        'r5',
        'r5',
        'r5',
        'r5',
      ]);
    });

    it('are left alone when the same cause is decided again', async () => {
      await gather(1);
      await gather(2);
      await gather(1, { id: 'again', runKey: 'key-r1' });

      expect(await journal.run('again')).toBeNull();
      expect(await journal.run('r1')).toMatchObject({ state: 'coalesced', coalescedInto: 'r2' });
    });

    it('of other keys, rules and organizations do not meet', async () => {
      await gather(1);
      await gather(2, { rule: 'other' });
      await gather(3, { org: 'other' });
      await journal.recordDecision({}, [
        {
          run: aRun({ id: 'r4', state: 'gathering', cause: { kind: 'event', eventId: 'e4' } }),
          intents: [],
          gathering: { key: 'acme/lib', windowMs: HOUR_MS },
        },
      ]);

      expect((await journal.runs({ state: 'gathering', limit: 9 })).length).toBe(4);
    });

    it('are due when their window is over, and decided once, under their own id', async () => {
      await gather(1, {}, 0);
      await gather(2);

      expect(await journal.dueRuns(9)).toEqual(['r1']);
      const answers = await Promise.all(
        [journal.decideGathered(decided('r1')), journal.decideGathered(decided('r1'))].map((one) =>
          one.catch(() => null),
        ),
      );

      expect(answers.filter((answer) => answer !== null)).toEqual([['i-r1']]);
      expect(await journal.run('r1')).toMatchObject({
        state: 'open',
        reason: saying('held'),
        revisionId: 'rev-2',
        lookups: { a: { value: 1 } },
        cause: { kind: 'event', eventId: 'e1' },
      });
      expect((await journal.run('r1'))?.dueAt).toBeUndefined();
      expect(await journal.dueRuns(9)).toEqual([]);
      expect(await journal.run('r2')).toMatchObject({ state: 'gathering' });
    });

    it('are due later when they are put off, unless they are decided', async () => {
      await gather(1, {}, 0);
      await journal.putOffRun('r1', HOUR_MS);

      expect(await journal.dueRuns(9)).toEqual([]);
      await journal.putOffRun('r1', 0);
      expect(await journal.dueRuns(9)).toEqual(['r1']);
      await journal.decideGathered(decided('r1'));
      await journal.putOffRun('r1', HOUR_MS);
      expect(await journal.run('r1')).toMatchObject({ state: 'open' });
      expect((await journal.run('r1'))?.dueAt).toBeUndefined();
    });

    it('are due at once where they wait for what an event does not know, and more of it is known', async () => {
      const unknown = (id: string, eventId: string, reason: Reason = UNKNOWN): RecordedRun => ({
        run: aRun({ id, runKey: `key ${id}`, state: 'gathering', reason, cause: { kind: 'event', eventId } }),
        intents: [],
        gathering: { key: id, windowMs: HOUR_MS },
      });
      await journal.recordDecision({}, [unknown('r1', 'e1'), unknown('r2', 'e2')]);
      await journal.recordDecision({}, [unknown('r3', 'e1', runReason('run.gathering', { seconds: 9, key: 'k' }))]);
      await journal.hastenRuns(['e1', 'e9']);

      expect(await journal.dueRuns(9)).toEqual(['r1']);
    });

    it('that are over take nothing more: the next cause opens a window of its own', async () => {
      await gather(1, {}, 0);
      await gather(2);

      expect(await journal.run('r1')).toMatchObject({ state: 'gathering' });
      expect(await journal.run('r2')).toMatchObject({ state: 'gathering' });
    });

    it('are held to the limit of runs per hour when they are decided', async () => {
      await journal.recordDecision({}, [{ run: aRun({ id: 'before', decidedAt: test.now() }), intents: [] }]);
      await gather(1, {}, 0);
      const { run, intents } = decided('r1');

      expect(await journal.decideGathered({ run: { ...run, decidedAt: test.now() }, intents, runsPerHour: 1 })).toEqual(
        [],
      );
      expect(await journal.run('r1')).toMatchObject({
        state: 'error',
        reason: saying(expect.stringContaining('limits.runs_per_hour')),
      });
    });
  });
}
