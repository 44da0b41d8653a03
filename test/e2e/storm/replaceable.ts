import type { Bot } from '../support/bot.js';

/** A process of the bot that is killed and started again at once, as a supervisor does. */
export class Replaceable {
  private up: Promise<Bot>;
  kills = 0;

  constructor(private readonly start: () => Promise<Bot>) {
    this.up = start();
  }

  /** The living one; waits while it starts. */
  bot(): Promise<Bot> {
    return this.up;
  }

  async url(): Promise<string> {
    return (await this.up).url;
  }

  /** Kill the process and start the next; resolves when that is up. */
  async kill(): Promise<void> {
    const before = await this.up;
    this.kills += 1;
    this.up = before.kill().then(this.start);
    await this.up;
  }
}
