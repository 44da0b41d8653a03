import { setImmediate as nextRound } from 'node:timers/promises';
import { messageOf } from '../core/errors.js';
import type { Logger } from '../core/logger.js';
import { within } from '../core/within.js';
import type { Notifications } from './notifications.port.js';

/** Texts beyond this many waiting ones are left to the sweep. */
const MAX_UNSENT = 2_000;
const SEND_MS = 2_000;

/** Sends texts without keeping anybody waiting: one statement at a time, with all that was told meanwhile. */
export class NotificationSender {
  #unsent: string[] = [];
  #sending: Promise<void> | null = null;

  constructor(
    private readonly notifications: Pick<Notifications, 'send'>,
    private readonly logger: Logger,
  ) {}

  add(texts: readonly string[]): void {
    this.#unsent.push(...texts.slice(0, Math.max(0, MAX_UNSENT - this.#unsent.length)));
    if (this.#unsent.length > 0) this.#sending ??= this.#sendAll().finally(() => (this.#sending = null));
  }

  async #sendAll(): Promise<void> {
    await nextRound();
    while (this.#unsent.length > 0) {
      const texts = this.#unsent.splice(0);
      await within(SEND_MS, this.notifications.send(texts)).catch((error: unknown) =>
        this.logger.warn({ count: texts.length, reason: messageOf(error) }, 'queue.not-announced'),
      );
    }
  }
}
