import { callingAs, type Caller } from '../core/caller.js';
import { StoreUnavailable } from '../core/errors.js';

const FOR_ALL: Caller = { lane: 'webhook', org: null };

/** More in one statement would hold its locks for too long. */
const MOST = 64;

interface Waiting<Ask, Answer> {
  readonly ask: Ask;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * What is asked by many at once goes to the store in one statement or transaction: those that come while one is under way go together in the
 * next. Each still gets its answer after the commit that it stands for, and one whose ask the store refuses spoils no other: then each is
 * asked alone.
 */
export class Together<Ask, Answer> {
  private waiting: Array<Waiting<Ask, Answer>> = [];
  private isBusy = false;

  /** @param all answers in the order asked; it may be given the same ask once more after it failed */
  constructor(private readonly all: (asks: readonly Ask[]) => Promise<readonly Answer[]>) {}

  ask(ask: Ask): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ ask, resolve, reject });
      if (this.isBusy) return;
      this.isBusy = true;
      // After those that ask in the same breath; no later, since the embedded store may keep the loop from its next turn for long.
      // On nobody's behalf: those that ask later may be of others than the first.
      queueMicrotask(() => void callingAs(FOR_ALL, () => this.work()));
    });
  }

  private async work(): Promise<void> {
    while (this.waiting.length > 0) await this.answer(this.waiting.splice(0, MOST));
    this.isBusy = false;
  }

  private async answer(asked: ReadonlyArray<Waiting<Ask, Answer>>): Promise<void> {
    try {
      const answers = await this.all(asked.map(({ ask }) => ask));
      if (answers.length !== asked.length) throw new Error(`${asked.length} were asked together, ${answers.length} answered`);
      for (const [n, { resolve }] of asked.entries()) resolve(answers[n] as Answer);
    } catch (error) {
      const [only] = asked;
      // A store that is away is away for each of them.
      if (asked.length === 1 || error instanceof StoreUnavailable) for (const { reject } of asked) reject(error);
      else if (only) for (const one of asked) await this.answer([one]);
    }
  }
}
