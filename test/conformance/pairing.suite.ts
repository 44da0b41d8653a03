import { beforeEach, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { systemClock } from '../../src/core/clock.js';
import { LEARNED, isClaimed, isUnknown, withLearned } from '../../src/core/event-knowledge.js';
import type { JsonObject } from '../../src/core/json.js';
import { stringifyJson } from '../../src/core/json.js';
import { silentLogger } from '../../src/core/logger.js';
import { deriveFacts, isNews, statedObjectOf } from '../../src/events/derive/derive-facts.js';
import { deduplicateInto } from '../../src/events/deduplicate.js';
import { readDelivery } from '../../src/events/normalize-delivery.js';
import { normalizeEntry } from '../../src/events/normalize-entry.js';
import { decideArrival } from '../builders/decide-all.js';
import type { InboxStore } from '../../src/pipeline/inbox-store.port.js';
import { aDelivery, anEntry } from '../builders/arrivals.js';
import { REPOSITORY, SENDER, sampleBody } from '../builders/sample-bodies.js';

type Arrival = () => Promise<string | null>;

const AT = Date.parse('2026-11-20T18:00:00Z');
const timeOf = (second: number): string => new Date(AT + second * 1000).toISOString().replace('.000', '');

/** One issue, closed, reopened and closed again, each in a second of its own, all within three. */
const STORY = [
  ['closed', 0],
  ['reopened', 1],
  ['closed', 2],
] as const;

/** The pairing of what deliveries and rows tell, with the real deciding, on whatever the inbox stands. */
export function pairingSuite(open: () => Promise<InboxStore>, { runs }: { runs: number }): void {
  let inbox: InboxStore;
  let issue = 0;

  beforeEach(async () => {
    inbox = await open();
  });

  const decide = async (id: string): Promise<void> =>
    void (await decideArrival(
      {
        inbox,
        queue: { ring: () => undefined },
        clock: systemClock,
        logger: silentLogger,
        events: { readDelivery, normalizeEntry, deduplicateInto, statedObjectOf, deriveFacts, isNews },
      },
      id,
    ));

  const bodyOf = (action: string, second: number): JsonObject => {
    const at = timeOf(second);
    const told = {
      id: issue,
      number: issue,
      title: 'Crash',
      state: action === 'closed' ? 'closed' : 'open',
      updated_at: at,
    };
    return {
      ...sampleBody('issues'),
      action,
      number: issue,
      issue: { ...told, created_at: timeOf(-60), ...(action === 'closed' ? { closed_at: at } : {}) },
    };
  };

  const delivered = (action: string, second: number, hook = 'acme'): Arrival => {
    const text = stringifyJson(bodyOf(action, second));
    return async () => {
      const delivery = aDelivery({ eventType: 'issues', text, body: Buffer.from(text), hook });
      await inbox.storeDeliveries([delivery]);
      return delivery.id;
    };
  };

  const read = (action: string, second: number): Arrival => {
    const opType = action === 'closed' ? 'close_issue' : 'reopen_issue';
    const row = {
      id: issue * 10 + second,
      op_type: opType,
      content: `${issue}|`,
      created: timeOf(second),
      repo: REPOSITORY,
      act_user: SENDER,
      ref_name: '',
    };
    return async () => {
      const [stored] = await inbox.storeEntries([anEntry({ entryKey: String(row.id), text: stringifyJson(row) })]);
      return stored && !stored.duplicate ? stored.id : null;
    };
  };

  async function tell(arrivals: readonly Arrival[]): Promise<string[]> {
    const kinds: string[] = [];
    for (const arrive of arrivals) {
      const id = await arrive();
      if (id) await decide(id);
    }
    for (const id of await inbox.undecidedEvents(10_000)) {
      const event = await inbox.event(id);
      if (event?.data.number === issue) kinds.push(event.kind);
    }
    return kinds.sort();
  }

  const newIssue = (): void => void (issue += 1);
  const deliveries = (): Arrival[] => STORY.map(([action, second]) => delivered(action, second));
  const rows = (): Arrival[] => STORY.map(([action, second]) => read(action, second));
  const WHOLE = ['issue.closed', 'issue.closed', 'issue.reopened'];

  describe('a delivery of what polling saw first', () => {
    const theOne = async () => {
      for (const id of await inbox.undecidedEvents(10_000)) {
        const event = await inbox.event(id);
        if (event?.data.number === issue) return event;
      }
      throw new Error('there is no such event');
    };

    it('tells the event what the row left out, and leaves alone what it told', async () => {
      newIssue();
      await tell([read('closed', 0)]);
      const before = await theOne();
      expect(isUnknown(before, 'issue.labels')).toBe(true);

      await tell([delivered('closed', 0)]);
      const after = await theOne();

      expect(after).toMatchObject({ id: before.id, source: 'feed', factAt: before.factAt, actor: before.actor });
      expect(after.data).toMatchObject({
        number: issue,
        issue: { title: 'Crash', state: 'closed', id: String(issue) },
      });
      expect(isClaimed(after)).toBe(true);
      expect(isUnknown(after, 'issue.created_at')).toBe(false);
    });

    it('that came first learns nothing from the row', async () => {
      newIssue();
      await tell([delivered('closed', 0)]);
      const before = await theOne();
      await tell([read('closed', 0)]);

      expect(await theOne()).toEqual(before);
    });

    it('and what was read stand beside each other', async () => {
      newIssue();
      await tell([read('closed', 0)]);
      const { id, data, repo } = await theOne();
      await tell([delivered('closed', 0)]);
      await inbox.learn(id, { data: withLearned(data, { issue: { body: 'read' } }, ['issue']), repo });
      const after = await theOne();

      expect(after.data).toMatchObject({ issue: { title: 'Crash', body: 'read' } });
      expect(after.data[LEARNED]).toEqual(['delivery', 'issue']);
    });
  });

  describe('an issue closed, reopened and closed within three seconds', () => {
    it.each<[string, () => Arrival[]]>([
      ['deliveries', deliveries],
      ['rows', rows],
      ['deliveries, then rows', () => [...deliveries(), ...rows()]],
      ['rows, then deliveries', () => [...rows(), ...deliveries()]],
      ['turn by turn', () => deliveries().flatMap((delivery, n) => [delivery, ...rows().slice(n, n + 1)])],
      [
        'two hooks, then rows',
        () => [...deliveries(), ...STORY.map(([action, second]) => delivered(action, second, 'app')), ...rows()],
      ],
    ])('by %s => two closes and one reopening', async (_name, arrivals) => {
      newIssue();

      expect(await tell(arrivals())).toEqual(WHOLE);
    });

    it('in any order, one source whole and the other with any losses => two closes and one reopening', async () => {
      const withLosses = (whole: 'delivery' | 'row', other: 'delivery' | 'row') => {
        const told = fc.constantFrom([whole], [whole, other]);
        return fc.tuple(told, told, told);
      };
      const anySides = fc.oneof(withLosses('row', 'delivery'), withLosses('delivery', 'row'));
      await fc.assert(
        fc.asyncProperty(anySides, fc.infiniteStream(fc.nat()), fc.boolean(), async (told, order, isTwice) => {
          newIssue();
          const arrivals = (hook: string): Arrival[] =>
            STORY.flatMap(([action, second], n) =>
              (told[n] ?? []).map((side) => (side === 'row' ? read(action, second) : delivered(action, second, hook))),
            );
          const all = isTwice ? [...arrivals('acme'), ...arrivals('app')] : arrivals('acme');
          const shuffled = all
            .map((arrival) => ({ arrival, key: order.next().value as number }))
            .sort((a, b) => a.key - b.key);

          expect(await tell(shuffled.map(({ arrival }) => arrival))).toEqual(WHOLE);
        }),
        { numRuns: runs },
      );
    });

    it('all at once => two closes and one reopening', async () => {
      newIssue();
      const ids = await Promise.all([...rows(), ...deliveries()].map((arrive) => arrive()));

      await Promise.all(ids.flatMap((id) => (id ? [decide(id)] : [])));

      expect(await tell([])).toEqual(WHOLE);
    });
  });

  it('pairs a delivery that comes a day late', async () => {
    newIssue();
    const late = delivered('closed', 0);

    expect(await tell([read('closed', 0), read('reopened', 86_000), read('closed', 86_399), late])).toEqual(WHOLE);
  });
}
