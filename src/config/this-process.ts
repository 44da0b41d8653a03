import { hostname } from 'node:os';
import { systemClock } from '../core/clock.js';
import type { FlushFailed } from '../platform/flush.js';
import { newId } from '../core/ids.js';
import type { Role } from './app-config.js';

/** What a process knows of itself. */
export class ThisProcess {
  /** Tells it from other processes of the bot. */
  readonly id = newId();
  /** Names it to operators: as whose hand the store shows work. */
  readonly name = `${hostname()}/${process.pid}/${this.id.slice(-8)}`;
  readonly startedAt = systemClock.now();
  /** Where it listens, for people: `control …`, `metrics …`, `webhooks …`. Grows while it starts. */
  readonly places: string[] = [];
  /** `http://host:port` of the webhook endpoint; null for roles without one, and until it listens. */
  webhookUrl: string | null = null;
  /** Where browsers reach the Console; null where this process does not serve it. */
  consoleUrl: string | null = null;

  /**
   * @param serves a running bot, or one command that opened the store itself
   * @param onFlushFailed the disk did not confirm a write: ends the process, if it is one of the bot
   */
  constructor(
    readonly role: Role,
    readonly serves: 'bot' | 'command',
    readonly onFlushFailed: (error: FlushFailed) => void = () => undefined,
  ) {}

  /** Whether it writes into the store which organizations the config names: a receiver may not, and a command works with the config of whoever typed it. */
  get keepsOrgs(): boolean {
    return this.serves === 'bot' && this.role !== 'web';
  }
}
