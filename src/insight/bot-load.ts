import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { RecoveryStore } from '../pipeline/recovery-store.port.js';

/** Many ask; the store is asked once for them. */
const KEPT_MS = 500;

/** Whether the bot has work to do, which whoever only looks must not slow down. */
@Injectable()
export class BotLoad {
  private lastAnswer: { readonly at: number; readonly answer: Promise<boolean> } | null = null;

  constructor(
    @Inject(RecoveryStore) private readonly store: Pick<RecoveryStore, 'mayHaveWork'>,
    @Inject(Clock) private readonly clock: Pick<Clock, 'monotonicMs'>,
  ) {}

  isBusy(): Promise<boolean> {
    const at = this.clock.monotonicMs();
    if (this.lastAnswer && at - this.lastAnswer.at < KEPT_MS) return this.lastAnswer.answer;
    // Who asked for something is told by that whether the store answers.
    const answer = this.store.mayHaveWork().catch(() => false);
    this.lastAnswer = { at, answer };
    return answer;
  }
}
