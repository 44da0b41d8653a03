import { setTimeout as sleep } from 'node:timers/promises';

/** After a page the next one rests so many times as long as the page took. */
const REST_SHARE = 8;
/** A page that took longer is no reason to let somebody wait even longer. */
const LONGEST_REST_MS = 1_000;

export interface PageTurnsDeps {
  /** Whether the bot has work to do. */
  readonly isBusy: () => Promise<boolean>;
  readonly rest?: (ms: number) => Promise<unknown>;
  readonly nowMs?: () => number;
}

/**
 * Pages beside the work of the bot. While the bot has work, pages are made one at a time with rests between them, so that all viewers together take a
 * ninth of the process; a single page waits for nothing. While it has none, nobody waits.
 */
export class PageTurns {
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly deps: PageTurnsDeps) {}

  async take<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    if (!(await this.deps.isBusy())) return work();
    const { rest = sleep, nowMs = () => performance.now() } = this.deps;
    let tookMs = 0;
    const answer = this.#last.then(async () => {
      const began = nowMs();
      try {
        return await work();
      } finally {
        tookMs = nowMs() - began;
      }
    });
    this.#last = answer.catch(() => undefined).then(() => rest(Math.min(LONGEST_REST_MS, REST_SHARE * tookMs)));
    return answer;
  }
}
