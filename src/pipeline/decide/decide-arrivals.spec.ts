import { beforeEach, describe, expect, it } from '@jest/globals';
import { aDelivery } from '../../../test/builders/arrivals.js';
import { type ArrivalParts, decideArrivals, decideBy, EVENT_READER } from '../../../test/builders/decide-all.js';
import { InMemoryInboxStore } from '../../../test/fakes/in-memory-inbox-store.js';
import { sampleBody } from '../../../test/builders/sample-bodies.js';
import { systemClock } from '../../core/clock.js';
import { StoreUnavailable } from '../../core/errors.js';
import { stringifyJson } from '../../core/json.js';
import { silentLogger } from '../../core/logger.js';
import type { ArrivalBatch } from '../inbox-store.port.js';
import type { ArrivalDecision } from './batch-knowledge.js';

/** Tells which steps its batches take. */
class WatchedInbox extends InMemoryInboxStore {
  readonly steps: string[] = [];
  failsWith: (ids: readonly string[]) => Error | null = () => null;

  override inBatch<T>(work: (batch: ArrivalBatch) => Promise<T>): Promise<T> {
    return super.inBatch(async (batch) => {
      let claimed: readonly string[] = [];
      const answer = await work({
        ...batch,
        claim: async (ids) => {
          const arrivals = await batch.claim(ids);
          claimed = arrivals.map(({ id }) => id);
          this.steps.push(`claim ${ids.length}`);
          return arrivals;
        },
        load: async (needs) => (this.steps.push('load'), batch.load(needs)),
        write: async (news) => (this.steps.push(`write ${news.length}`), batch.write(news)),
      });
      const failure = this.failsWith(claimed);
      if (failure) throw failure;
      return answer;
    });
  }
}

function thinkForAMillisecond(): void {
  const until = performance.now() + 1;
  while (performance.now() < until);
}

describe('pipeline/decide/decide-arrivals', () => {
  let inbox: WatchedInbox;
  let deps: ArrivalParts;
  let rung: string[];
  let ids: string[];

  beforeEach(async () => {
    inbox = new WatchedInbox();
    rung = [];
    const queue = { ring: (topic: string, org: string): void => void rung.push(`${topic} of ${org}`) };
    deps = { inbox, queue, clock: systemClock, logger: silentLogger, events: EVENT_READER };
    const deliveries = Array.from({ length: 10 }, (_, n) => {
      const text = stringifyJson({ ...sampleBody('issues'), number: n + 1 });
      return aDelivery({ eventType: 'issues', event: 'issues', text, receivedAt: new Date() });
    });
    await inbox.storeDeliveries(deliveries);
    ids = deliveries.map(({ id }) => id);
  });

  const stored = (): Promise<string[]> => inbox.dueArrivals(99);

  it('claims, reads and writes once, however many there are', async () => {
    expect(await decideArrivals(deps, ids)).toBe(10);

    expect(inbox.steps).toEqual(['claim 10', 'load', 'write 10']);
    expect([await stored(), new Set(rung)]).toEqual([[], new Set(['events of acme'])]);
  });

  it('reads all, then decides one after the other, and lets other work of the process go on', async () => {
    const order: string[] = [];
    const otherWork = (name: string): void => void setImmediate(() => order.push(name));
    const { readDelivery, deduplicateInto } = EVENT_READER;
    deps = {
      ...deps,
      events: {
        ...EVENT_READER,
        readDelivery: (delivery, number) => {
          if (delivery.id === ids[0]) otherWork('other work in the reading');
          thinkForAMillisecond();
          order.push('read');
          return readDelivery(delivery, number);
        },
        deduplicateInto: (...asked) => {
          if (!order.includes('decided')) otherWork('other work in the deciding');
          thinkForAMillisecond();
          order.push('decided');
          return deduplicateInto(...asked);
        },
      },
    };

    await decideArrivals(deps, ids);

    const before = (name: string, other: string): boolean => order.slice(0, order.lastIndexOf(other)).includes(name);
    expect(order.filter((one) => !one.startsWith('other'))).toEqual([
      ...ids.map(() => 'read'),
      ...ids.map(() => 'decided'),
    ]);
    expect(before('other work in the reading', 'read')).toBe(true);
    expect(before('other work in the deciding', 'decided')).toBe(true);
  });

  it('leaves alone what is decided, and asks for nothing then', async () => {
    await decideArrivals(deps, ids);
    inbox.steps.length = 0;

    expect(await decideArrivals(deps, ids)).toBe(0);
    expect(inbox.steps).toEqual(['claim 10']);
  });

  it('repeats a batch without the arrival that cannot be written, which is left alone for a while', async () => {
    const bad = ids[6] ?? '';
    inbox.failsWith = (claimed) => (claimed.includes(bad) ? new Error('a row is in the way') : null);

    expect(await decideArrivals(deps, ids)).toBe(10);

    expect(await stored()).toEqual([bad]);
    expect(await inbox.dueArrivals(9, { org: 'acme', except: [] })).toEqual([]);
    expect(inbox.allEvents()).toHaveLength(9);
  });

  it('fails as a whole while the store is away', async () => {
    inbox.failsWith = () => new StoreUnavailable('gone');

    await expect(decideArrivals(deps, ids)).rejects.toThrow('gone');
    expect(inbox.steps).toEqual(['claim 10', 'load', 'write 10']);
  });

  it('asks for the number of an organization outside of the transaction, and reads nothing before', async () => {
    let number: string | undefined;
    const asked: string[] = [];
    const orgs = {
      numberAtHand: () => number,
      numberOf: async (forge: string, org: string) => {
        asked.push(`${forge} ${org} after ${inbox.steps.join(', ')}`);
        return (number = '3');
      },
      isRenamed: async () => false,
    };

    expect(await decideArrivals({ ...deps, orgs }, ids)).toBe(10);
    expect(asked).toEqual(['main acme after claim 10']);
    expect(inbox.steps).toEqual(['claim 10', 'claim 10', 'load', 'write 10']);
  });

  it('reads nothing that was not named before', async () => {
    const object = { repoId: '7', kind: 'issue', objectId: '1' } as const;
    const reads: Array<[string, (tx: ArrivalDecision) => unknown]> = [
      ['fact', (tx) => tx.eventsOfFact('a')],
      ['object', (tx) => tx.objectState(object)],
      ['text', (tx) => tx.actsOfText(['ab'])],
      ['effect', (tx) => tx.isKnown({ effectKeys: ['a'], orderKey: null })],
      ['orderKey', (tx) => tx.isKnown({ effectKeys: [], orderKey: 'a' })],
    ];
    for (const [what, read] of reads)
      await expect(decideBy(inbox, ids[0] ?? '', read)).rejects.toThrow(
        `a decision reads a ${what} that its needs do not name`,
      );
  });
});
