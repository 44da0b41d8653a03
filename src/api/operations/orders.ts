import { Injectable } from '@nestjs/common';
import { ThisProcess } from '../../config/this-process.js';
import { Logger } from '../../core/logger.js';
import type { ControlCaller } from '../../core/operators.js';
import { ConnectedForges } from '../../forge/connected-forges.js';
import { StorePoll } from '../../pipeline/store-poll.js';

/** What all orders share. */
@Injectable()
export class Orders {
  constructor(
    private readonly self: ThisProcess,
    private readonly forges: ConnectedForges,
    private readonly poll: StorePoll,
    private readonly logger: Logger,
  ) {}

  /** Kept in the log with the caller's name, before it is carried out. */
  record(order: string, { name: by }: ControlCaller, facts: Readonly<Record<string, unknown>>): void {
    this.logger.info({ order, by, ...facts }, 'order.recorded');
  }

  /** Before an order that asks the forge. A running bot connects by itself; the process that serves one command alone does it here. */
  async connected(): Promise<void> {
    if (this.self.serves !== 'bot') await this.forges.start();
  }

  /** What was held back may be due now: look for it at once, not at the next poll. */
  nudge(): void {
    const { role, serves } = this.self;
    if (serves === 'bot' && (role === 'worker' || role === 'all')) void this.poll.pass();
  }
}
