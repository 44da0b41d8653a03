import type { Logger } from '../core/logger.js';

/** Everything that a process has opened (sockets, stores, connections). It is closed in the opposite order, also when the start fails half-way. */
export class Opened {
  private readonly closers: Array<() => Promise<unknown>> = [];
  private closing: Promise<void> | null = null;

  constructor(private readonly logger: Logger) {}

  /**
   * Noted at once: where the start fails meanwhile, `close` waits for what is still being opened.
   * @returns what was opened; rejects when it could not be, or when closing has begun
   */
  async keep<Thing>(open: () => Thing | Promise<Thing>, close: (thing: Thing) => unknown): Promise<Thing> {
    if (this.closing) throw new Error('the process is being stopped');
    const opening = (async () => open())();
    this.closers.push(() => opening.then(close, () => undefined));
    return opening;
  }

  /** Logs what fails to close, and closes the rest. Safe to call twice. */
  close(): Promise<void> {
    this.closing ??= this.closeAll();
    return this.closing;
  }

  private async closeAll(): Promise<void> {
    for (const close of this.closers.reverse())
      await close().catch((error: unknown) => this.logger.warn({ error }, 'module.stop-failed'));
  }
}
