import { describe, expect, it } from '@jest/globals';
import type { Reach } from '../reach-bot.js';
import { BotWatch } from './watch-bot.js';

/** A bot whose poller stores a row just after it was asked whether anything is left; it decides and does what the row says two looks later. */
class PolledMeanwhile {
  private looks = 0;
  private storedAt = Number.POSITIVE_INFINITY;

  readonly reach = {
    call: async (name: string): Promise<unknown> => {
      if (name === 'deliveries') {
        this.storedAt = Math.min(this.storedAt, this.looks);
        return { rows: [{ id: 'row' }] };
      }
      if (name === 'runs') return { rows: this.isDone ? [{ run: { id: 'run' } }] : [] };
      this.looks += 1;
      const arrivals = this.looks > this.storedAt && !this.isDone ? 1 : 0;
      return { backlog: { arrivals, events: 0 }, intents: { planned: 0, claimed: 0, sent: 0 } };
    },
  };

  private get isDone(): boolean {
    return this.looks > this.storedAt + 2;
  }
}

describe('cli/demo/watch-bot', () => {
  it('waits for what the feed told while nothing seemed left, so that no run is told with the next act', async () => {
    const watch = new BotWatch(
      new PolledMeanwhile().reach as unknown as Reach,
      { deliveriesAfter: async () => [] },
      'acme',
    );

    expect(await watch.settled()).toMatchObject({
      arrivals: [{ id: 'row' }],
      runs: [{ run: { id: 'run' } }],
      deliveries: [],
    });
    expect(await watch.settled()).toEqual({ arrivals: [], runs: [], deliveries: [] });
  });
});
