import { describe, expect, it } from '@jest/globals';
import { silentLogger } from '../../core/logger.js';
import { Sweep } from './sweep.js';

const HOUR_MS = 3_600_000;

/** A sweep over arrivals alone, whose timer does not come: what is looked for is looked for because of what was decided. */
class Backlog {
  readonly looks: string[][] = [];
  /** Answers of the looks under way; each test says when they come. */
  private readonly pending: Array<(ids: string[]) => void> = [];
  private waiting: Array<() => void> = [];
  readonly sweep: Sweep;

  constructor(batch: number) {
    const none = async (): Promise<never[]> => [];
    const nothing = async (): Promise<void> => undefined;
    this.sweep = new Sweep(
      {
        journal: { dueIntents: none, backgroundAmong: none, dueRuns: none, reclaimExpired: async () => 0 },
        inbox: {
          dueArrivals: () => new Promise((resolve) => this.pending.push(resolve)),
          undecidedEvents: () => new Promise<string[]>((resolve) => this.waiting.push(() => resolve([]))),
        },
        recovery: { mayHaveWork: async () => true },
        queue: { announce: async (_topic, ids) => void this.looks.push([...ids]), healthy: async () => true },
        unknown: { pass: nothing } as never,
        handlers: { arrival: nothing, event: nothing, intent: nothing, background: nothing },
        decideRun: nothing,
        logger: silentLogger,
      },
      { everyMs: HOUR_MS, batch },
    );
  }

  /** The pass under way finds these. */
  async finds(...ids: string[]): Promise<void> {
    while (this.pending.length === 0) await turn();
    this.pending.shift()?.(ids);
    await turn();
  }

  /** The pass under way comes to its end. */
  async ends(): Promise<void> {
    while (this.waiting.length === 0) await turn();
    for (const end of this.waiting.splice(0)) end();
    await turn();
  }

  get isLooking(): boolean {
    return this.pending.length > 0;
  }
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe('pipeline/recover/sweep of a backlog', () => {
  it('looks for the next arrivals when a full batch is decided, though the pass that found it still runs', async () => {
    const backlog = new Backlog(2);
    backlog.sweep.start();
    await backlog.finds('1', '2');

    await backlog.sweep.arrival('1');
    await backlog.sweep.arrival('2');
    expect(backlog.isLooking).toBe(false);
    await backlog.ends();

    await backlog.finds('3');
    expect(backlog.looks).toEqual([['1', '2'], ['3']]);
    await backlog.ends();
    await backlog.sweep.stop();
  });

  it('leaves the rest to the timer when the last look found less than a batch', async () => {
    const backlog = new Backlog(2);
    backlog.sweep.start();
    await backlog.finds('1');
    await backlog.ends();

    await backlog.sweep.arrival('1');
    await turn();

    expect(backlog.isLooking).toBe(false);
    await backlog.sweep.stop();
  });

  it('looks no more once it is stopped', async () => {
    const backlog = new Backlog(1);
    backlog.sweep.start();
    await backlog.finds('1');
    await backlog.sweep.arrival('1');

    const stopped = backlog.sweep.stop();
    await backlog.ends();
    await stopped;
    await turn();

    expect(backlog.isLooking).toBe(false);
  });
});
