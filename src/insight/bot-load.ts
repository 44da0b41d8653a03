import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { KeptAnswers } from '../core/kept-answers.js';
import { RecoveryStore } from '../pipeline/recovery-store.port.js';

/** Many ask; the store is asked once for them. */
const KEPT_MS = 500;

/** Whether the bot has work to do, which whoever only looks must not slow down. */
@Injectable()
export class BotLoad {
  private readonly answers = new KeptAnswers<boolean>(() => this.clock.monotonicMs());

  constructor(
    @Inject(RecoveryStore) private readonly store: Pick<RecoveryStore, 'mayHaveWork'>,
    @Inject(Clock) private readonly clock: Pick<Clock, 'monotonicMs'>,
  ) {}

  isBusy(): Promise<boolean> {
    // Who asked for something is told by that whether the store answers.
    return this.answers.get('all', KEPT_MS, () => this.store.mayHaveWork().catch(() => false));
  }
}
