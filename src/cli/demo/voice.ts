import { colour, forTerminal } from '../terminal.js';

/** Silence longer than this is broken. */
const SILENCE_MS = 4_000;

/** Everything the demo says, with the time since its start; nobody waits ten seconds without a sign of life. */
export class Voice {
  private readonly startedAt = Date.now();
  private heardAt = Date.now();
  private doing = 'starting';
  private readonly timer = setInterval(() => this.breakSilence(), 500);

  constructor(private readonly stream: NodeJS.WritableStream) {
    this.timer.unref();
  }

  /** A line of a table or a text. */
  write(line: string): void {
    this.heardAt = Date.now();
    this.stream.write(forTerminal(`${line}\n`));
  }

  say(line: string): void {
    this.write(`${colour.dim(`[+${this.seconds()}s]`)} ${line}`);
  }

  /** What a sign of life names from now on. */
  begin(doing: string): void {
    this.doing = doing;
  }

  end(): void {
    clearInterval(this.timer);
  }

  private breakSilence(): void {
    if (Date.now() - this.heardAt > SILENCE_MS) this.write(colour.dim(`[+${this.seconds()}s] … ${this.doing}`));
  }

  private seconds(): string {
    return ((Date.now() - this.startedAt) / 1000).toFixed(1);
  }
}
