import { beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../src/core/clock.js';
import type { ForgeEvent } from '../../src/core/event.js';
import { runReason } from '../../src/core/run-reasons.js';
import { newId } from '../../src/core/ids.js';
import { silentLogger } from '../../src/core/logger.js';
import type { Stores } from '../../src/store/open-stores.js';
import { deriveFacts, isNews, statedObjectOf } from '../../src/events/derive/derive-facts.js';
import { deduplicateInto } from '../../src/events/deduplicate.js';
import { readDelivery } from '../../src/events/normalize-delivery.js';
import { normalizeEntry } from '../../src/events/normalize-entry.js';
import { decideArrival } from '../builders/decide-all.js';
import { actions } from '../../src/actions/index.js';
import { ALife, THE_SEALER } from '../builders/a-life.js';
import { aDelivery } from '../builders/arrivals.js';
import { given } from '../builders/given.js';
import { anIntent, aRun, claimOne } from '../builders/journal.js';

const RULES = `
version: 1
org: acme
rules:
  - id: told
    on: [issue.closed, issue.reopened]
    do: { org_variable.set: { name: 'issue_\${{ event.issue.number }}', value: '\${{ event.kind }} \${{ event.issue.updated_at }}' } }
    limits: { effects_per_run: 5, runs_per_hour: 1000 }
`;

/** Closed, reopened, closed …, a minute apart. */
function tellings(number: number, count: number): Array<{ action: string; text: string }> {
  return Array.from({ length: count }, (_, n) => {
    const action = n % 2 === 0 ? 'closed' : 'reopened';
    const at = new Date(Date.UTC(2026, 10, 20, 12, n)).toISOString().replace('.000', '');
    const text = JSON.stringify({
      action,
      number,
      issue: {
        id: 100 + number,
        number,
        title: 'one',
        state: n % 2 === 0 ? 'closed' : 'open',
        updated_at: at,
        closed_at: n % 2 === 0 ? at : null,
      },
      repository: {
        id: 7,
        name: 'app',
        full_name: 'acme/app',
        owner: { id: 3, login: 'acme' },
        private: false,
        default_branch: 'main',
      },
      sender: { id: 9, login: 'ben' },
    });
    return { action, text };
  });
}

export type OrderedStores = Pick<Stores, 'inbox' | 'journal' | 'recovery'>;

const LONG_MS = 60_000;

/** Events of one object stand in one order, whoever decides them; a step knows when that order, or the number of tellings, is in doubt. */
export function objectOrderSuite(open: () => Promise<OrderedStores>): void {
  let stores: OrderedStores;
  beforeEach(async () => {
    stores = await open();
  });

  const claimed = async (org: string, except: readonly string[] = [], leaseMs = LONG_MS): Promise<string[]> =>
    (await stores.inbox.claimEvents(org, 9, except, leaseMs)).map(({ id }) => id);

  async function comesIn(text: string, org = 'acme', hook = 'acme'): Promise<string> {
    const delivery = aDelivery({ eventType: 'issues', event: 'issues', text, org, hook });
    await stores.inbox.storeDeliveries([delivery]);
    const events = { readDelivery, normalizeEntry, deduplicateInto, statedObjectOf, deriveFacts, isNews };
    await decideArrival(
      {
        inbox: stores.inbox,
        queue: { ring: () => undefined },
        events,
        clock: systemClock,
        logger: silentLogger,
      },
      delivery.id,
    );
    return (await stores.inbox.eventsOfArrival(delivery.id))[0] ?? '';
  }

  const worker = (): ALife =>
    new ALife(RULES, async () => ({ missing: true }), {
      journal: stores.journal,
      inbox: stores.inbox,
      tools: { actions, encryptor: THE_SEALER, newId },
    });

  async function planned(): Promise<string[]> {
    // In the order of planning, which is that of the order key.
    const runs = (await stores.journal.runs({ limit: 1000 })).reverse().filter(({ state }) => state === 'open');
    return (await Promise.all(runs.map(({ id }) => stores.journal.intentsOfRun(id))))
      .flat()
      .map(({ params }) => String(params['value']));
  }

  it('makes no event of one organization wait for what another one tells of the same number', async () => {
    const [first, second] = tellings(1, 2);
    const theirs = await comesIn((first?.text ?? '').replaceAll('acme', 'other'), 'other');
    const ours = await comesIn(second?.text ?? '');
    const next = await comesIn(tellings(1, 3)[2]?.text ?? '');

    expect(await claimed('other')).toEqual([theirs]);
    expect(await claimed('acme')).toEqual([ours]);
    expect(await stores.inbox.undecidedEvents(9, 'acme')).toEqual([ours, next]);
  });

  it('knows of a fact that was told since by any of several keys, and for its organization alone', async () => {
    const [first, second] = tellings(1, 2);
    const id = await comesIn(first?.text ?? '');
    const later = await comesIn(second?.text ?? '');
    const [event, next] = [given(await stores.inbox.event(id)), given(await stores.inbox.event(later))];
    const { factKey } = next;

    expect([
      await stores.inbox.isStoredSince(event, ['none', factKey]),
      await stores.inbox.isStoredSince(event, ['none']),
      await stores.inbox.isStoredSince({ ...event, org: 'other' }, [factKey]),
      await stores.inbox.isStoredSince({ ...event, forge: 'other' }, [factKey]),
      await stores.inbox.isStoredSince(event, []),
      await stores.inbox.isStoredSince(next, [factKey]),
    ]).toEqual([true, false, false, false, false, false]);
  });

  it('knows who told a fact before, but for what the forge did not confirm to the rule', async () => {
    const texts = tellings(1, 5).flatMap(({ action, text }) => (action === 'closed' ? [text] : []));
    const ids: string[] = [];
    for (const text of texts) ids.push(await comesIn(text));
    const elsewhere = await comesIn(texts[0] ?? '', 'other');
    const [one = '', two = '', three = ''] = ids;
    const earlier = async (id: string, rule = 'r1'): Promise<string[]> =>
      (await stores.inbox.toldEarlier(id, rule, null)).map((event) => event.id);
    const all = [await earlier(one), await earlier(two), await earlier(three), await earlier(elsewhere)];

    const because = runReason('run.not-confirmed', { code: 'act.other_text', because: 'others' });
    const run = aRun({ id: 'refused', rule: 'r1', cause: { kind: 'event', eventId: two }, reason: because });
    await stores.journal.recordDecision({ eventId: two }, [{ run: { ...run, state: 'not-fired' }, intents: [] }]);

    expect(all).toEqual([[], [one], [one, two], []]);
    expect([await earlier(three), await earlier(three, 'r2')]).toEqual([[one], [one, two]]);
    expect((await stores.inbox.toldEarlier(three, 'r2', one)).map(({ id }) => id)).toEqual([two]);
    expect(await stores.inbox.toldEarlier('none', 'r1', null)).toEqual([]);
  });

  it('plans the steps of one object in the order of its events, whichever of several workers takes which', async () => {
    for (const { text } of tellings(3, 5)) await comesIn(text);
    const worksOn = async (life: ALife): Promise<void> => {
      while ((await stores.inbox.undecidedEvents(1)).length > 0)
        for (const id of await claimed('acme')) await life.decides(id);
    };

    await Promise.all([worker(), worker(), worker(), worker()].map(worksOn));

    const values = await planned();
    expect(values).toHaveLength(5);
    expect(values).toEqual([...values].sort((a, b) => (a.split(' ')[1] ?? '').localeCompare(b.split(' ')[1] ?? '')));
  });

  it('does not make one object wait for another', async () => {
    const [first] = tellings(3, 1);
    const [second] = tellings(4, 1);
    await comesIn(first?.text ?? '');
    const other = await comesIn(second?.text ?? '');

    await worker().decides(other);

    expect(await planned()).toHaveLength(1);
  });

  it('gives the next event of an object when the one before is decided, and an event to one at a time', async () => {
    const ids: string[] = [];
    for (const { text } of tellings(3, 3)) ids.push(await comesIn(text));
    const claim = (leaseMs: number, except: readonly string[] = []): Promise<string[]> =>
      claimed('acme', except, leaseMs);

    expect([await claim(LONG_MS, [ids[0] ?? '']), await claim(-1)]).toEqual([[], [ids[0]]]);
    // Its lease ran out.
    expect([await claim(LONG_MS), await claim(LONG_MS)]).toEqual([[ids[0]], []]);
    await worker().decides(ids[0] ?? '');
    expect(await claim(LONG_MS)).toEqual([ids[1]]);
  });

  describe('what a step is told about its event', () => {
    async function doubtOf(eventId: string): Promise<string | null> {
      await worker().decides(eventId);
      const run = (await stores.journal.runs({ limit: 100 })).find(
        ({ cause }) => cause.kind === 'event' && cause.eventId === eventId,
      );
      const doubt = await stores.recovery.doubtAbout(run?.id ?? '');
      const event: ForgeEvent | undefined = doubt?.event;
      if (event) expect(event.id).toBe(eventId);
      return doubt?.because ?? null;
    }

    it('nothing speaks against events that came in their order', async () => {
      const ids: string[] = [];
      for (const { text } of tellings(3, 2)) ids.push(await comesIn(text));

      expect([await doubtOf(ids[0] ?? ''), await doubtOf(ids[1] ?? '')]).toEqual([null, null]);
    });

    it('a later fact was stored before it', async () => {
      const [first, second] = tellings(3, 2);
      const late = await comesIn(second?.text ?? '');
      const early = await comesIn(first?.text ?? '');

      expect([await doubtOf(late), await doubtOf(early)]).toEqual([null, 'out-of-order']);
    });

    it('an equal delivery about its object came once more, which makes no event', async () => {
      const [first, second] = tellings(3, 2);
      const one = await comesIn(first?.text ?? '');
      const two = await comesIn(second?.text ?? '');
      expect(await comesIn(first?.text ?? '', 'acme', 'of the repository')).toBe('');

      expect(await stores.inbox.undecidedEvents(9)).toEqual([one, two]);
      expect([await doubtOf(one), await doubtOf(two)]).toEqual(['told-again', 'told-again']);
    });

    describe('when its run waited since', () => {
      const doubtOfRun = async (runId: string): Promise<string | null> =>
        (await stores.recovery.doubtAbout(runId))?.because ?? null;

      /** An event with nothing against it, and a run that it caused. */
      async function aWaitingRun(over: { approval?: 'wanted'; gathers?: true } = {}): Promise<void> {
        const eventId = await comesIn(tellings(3, 1)[0]?.text ?? '');
        const { gathers, ...wants } = over;
        const run = aRun({ id: 'run-w', cause: { kind: 'event', eventId }, state: gathers ? 'gathering' : 'open' });
        const intents = ['w0', 'w1'].map((id, stepNo) =>
          anIntent({ id, runId: 'run-w', stepNo, ...(stepNo === 0 ? wants : {}) }),
        );
        const window = gathers ? { gathering: { key: 'k', windowMs: 1 } } : {};
        await stores.journal.recordDecision({ eventId }, [{ run, intents: gathers ? [] : intents, ...window }]);
        if (gathers) await stores.journal.decideGathered({ run: { ...run, state: 'open' }, intents });
        if (!wants.approval) expect(await doubtOfRun('run-w')).toBe(gathers ? 'late' : null);
      }

      async function isDone(id: string): Promise<void> {
        const claim = await claimOne(stores.journal, id, 'me', 60_000);
        await stores.journal.markSent(id, claim?.epoch ?? 0, {
          id: `attempt-${id}`,
          operation: 'createLabel',
          requestHash: 'h',
        });
        expect(
          await stores.journal.move({
            intentId: id,
            epoch: claim?.epoch ?? 0,
            from: ['sent'],
            to: 'done',
            reason: null,
          }),
        ).toBe(true);
      }

      it('for room in a budget', async () => {
        await aWaitingRun();
        const claim = await claimOne(stores.journal, 'w0', 'me', 60_000);
        const limit = { kind: 'actor', of: 'eve', key: 'key of eve', perHour: 5 } as const;

        await stores.journal.move({
          intentId: 'w0',
          epoch: claim?.epoch ?? 0,
          from: ['claimed'],
          to: 'planned',
          reason: null,
          spentBudget: { limit, againInMs: 1_000 },
        });

        expect(claim?.isDoubted).toBe(false);
        expect(await doubtOfRun('run-w')).toBe('late');
      });

      it('for consent', async () => {
        await aWaitingRun({ approval: 'wanted' });
        expect(await doubtOfRun('run-w')).toBeNull();

        await stores.journal.decideApproval('w0', 'given', 'ann');

        expect(await doubtOfRun('run-w')).toBe('late');
        expect((await claimOne(stores.journal, 'w0', 'me', 60_000))?.isDoubted).toBe(true);
      });

      it('for the end of its window', async () => {
        await aWaitingRun({ gathers: true });

        await isDone('w0');

        // What it did itself speaks against nothing.
        expect(await doubtOfRun('run-w')).toBeNull();
      });
    });

    it('a run without an event has nothing to doubt', async () => {
      expect(await stores.recovery.doubtAbout('no such run')).toBeNull();
    });
  });
}
