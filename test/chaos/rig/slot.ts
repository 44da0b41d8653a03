import { appendFileSync } from 'node:fs';
import type { Role } from '../../../src/config/app-config.js';
import { startBot, type Bot } from '../../e2e/support/bot.js';
import type { Place } from '../../e2e/support/a-place.js';
import type { TcpProxy } from './tcp-proxy.js';

/** Who has not ended by then never will; a busy machine takes long for what its grace times promise. */
const HARD_MS = 120_000;

export type Signal = 'SIGKILL' | 'SIGTERM' | 'SIGSTOP';

export interface Blow {
  readonly slot: string;
  readonly signal: Signal;
  /** Milliseconds since 1970, of the same machine as the ledger's. */
  readonly at: number;
  /** Host header under which the process called the forge. */
  readonly host: string;
  /** Meant for who receives, whatever else the process does. */
  readonly isOfReceiver?: boolean;
}

/** A place for a process of the bot, refilled at once when it ends, as a supervisor does. Its calls go through a proxy of its own. */
export class Slot {
  private up: Promise<Bot>;
  readonly blows: Blow[] = [];
  /** Ends that nobody ordered. */
  readonly crashes: string[] = [];
  readonly stopsOverTen: number[] = [];
  starts = 0;
  /** When the present process said that it was up. */
  upAt = 0;
  private ending = false;

  constructor(
    readonly name: string,
    readonly role: Role,
    private readonly place: Place,
    private readonly configFile: string,
    readonly proxy: TcpProxy,
    /** Where what its processes print is kept; null = nowhere. */
    private readonly logFile: string | null = null,
  ) {
    this.up = this.start();
    this.up.catch(() => undefined);
  }

  bot(): Promise<Bot> {
    return this.up;
  }

  get host(): string {
    return `127.0.0.1:${this.proxy.port}`;
  }

  /** One blow after the other: each meets a process that is up. */
  strike(signal: Signal, stoppedMs: number, isOfReceiver = false): Promise<void> {
    const struck = this.strikes.then(() => this.strikeNow(signal, stoppedMs, isOfReceiver));
    this.strikes = struck.catch(() => undefined);
    return struck;
  }

  private strikes: Promise<void> = Promise.resolve();

  private async strikeNow(signal: Signal, stoppedMs: number, isOfReceiver: boolean): Promise<void> {
    const bot = await this.up;
    this.blows.push({ slot: this.name, signal, at: Date.now(), host: this.host, isOfReceiver });
    if (signal === 'SIGSTOP') {
      bot.child.process.kill('SIGSTOP');
      await new Promise((resolve) => setTimeout(resolve, stoppedMs));
      bot.child.process.kill('SIGCONT');
      return;
    }
    this.expected.add(bot);
    const began = Date.now();
    this.up = bot.child
      .end(signal)
      .then(() => {
        if (signal === 'SIGTERM' && Date.now() - began > 10_000) this.stopsOverTen.push(Date.now() - began);
      })
      .then(() => this.start());
    await this.up;
  }

  /** For good. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.ending = true;
    const bot = await this.up.catch(() => null);
    if (!bot) return;
    this.expected.add(bot);
    const hard = setTimeout(() => bot.child.process.kill('SIGKILL'), HARD_MS);
    const ended = await bot.child.end(signal);
    clearTimeout(hard);
    if (signal === 'SIGTERM' && ended.code !== 0)
      this.crashes.push(`${this.name} ended with ${ended.signal ?? ended.code} when it was told to stop`);
  }

  private readonly expected = new Set<Bot>();

  /** A start may fail while the stores are away: again, as a supervisor would. */
  private async start(): Promise<Bot> {
    for (let tries = 0; ; tries += 1) {
      try {
        const bot = await startBot(this.place, this.role, this.configFile);
        this.starts += 1;
        this.upAt = Date.now();
        void bot.child.ended.then(() => this.keepLog(bot));
        void bot.child.ended.then(({ code, signal }) =>
          this.ended(bot, `${signal ?? code}: ${bot.child.stderr.slice(-500)}`),
        );
        return bot;
      } catch (error) {
        if (this.ending || tries >= 60) throw error;
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
    }
  }

  private keepLog({ child }: Bot): void {
    if (this.logFile) appendFileSync(this.logFile, child.stdout);
  }

  private ended(bot: Bot, how: string): void {
    if (this.ending || this.expected.has(bot)) return;
    this.crashes.push(`${this.name} ended by itself with ${how}`);
    this.up = this.start();
    this.up.catch(() => undefined);
  }
}
