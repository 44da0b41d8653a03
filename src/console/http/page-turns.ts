import { setTimeout as sleep } from 'node:timers/promises';
import { FairScheduler } from '../../platform/fair-scheduler.js';

/** After a page the next one rests so many times as long as the page took. */
const REST_SHARE = 8;
/** A page that took longer is no reason to let somebody wait even longer. */
const LONGEST_REST_MS = 1_000;

interface PageTurnsDeps {
  /** Whether the bot has work to do. */
  readonly isBusy: () => Promise<boolean>;
  /** Turns at once while the bot has no work; a person has half of them at most. Default: 4. */
  readonly places?: number;
  readonly rest?: (ms: number) => Promise<unknown>;
  readonly nowMs?: () => number;
}

/**
 * Pages beside the work of the bot, and beside those of other people: whoever asks for many waits for their own. While the bot has work, pages are made
 * one at a time with rests between them, so that all viewers together take a ninth of the process; a single page waits for nothing.
 */
export class PageTurns {
  readonly #turns = new FairScheduler<() => Promise<void>>();
  #isBusy = false;
  #isResting = false;

  constructor(private readonly deps: PageTurnsDeps) {}

  /** @param person whose turn it is */
  async take<Answer>(person: string, work: () => Promise<Answer>): Promise<Answer> {
    this.#isBusy = await this.deps.isBusy();
    return new Promise((resolve, reject) => {
      this.#turns.add(() => work().then(resolve, reject), person);
      this.#begin();
    });
  }

  #begin(): void {
    const { places = 4 } = this.deps;
    const limits = this.#isBusy ? { places: 1 } : { places, placesOfOne: Math.ceil(places / 2) };
    while (!this.#isResting) {
      const turn = this.#turns.next(limits);
      if (!turn) return;
      void this.#run(turn.item);
    }
  }

  async #run(item: () => Promise<void>): Promise<void> {
    const { rest = sleep, nowMs = () => performance.now() } = this.deps;
    const began = nowMs();
    await item();
    const tookMs = nowMs() - began;
    this.#turns.ended(item, tookMs);
    if (this.#isBusy) {
      this.#isResting = true;
      await rest(Math.min(LONGEST_REST_MS, REST_SHARE * tookMs));
      this.#isResting = false;
    }
    this.#begin();
  }
}
