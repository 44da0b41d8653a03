import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';

const alive = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A Node process of ours that never outlives the tests; everything it prints is kept. */
export class Child {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
  stdout = '';
  stderr = '';
  private readonly lineListeners: Array<(line: string) => void> = [];
  private rest = '';

  /** @param env the whole environment but for the path, the home and the place of temporary files */
  constructor(
    args: readonly string[],
    env: Readonly<Record<string, string>>,
    cwd?: string,
    stdin: 'ignore' | 'pipe' = 'ignore',
  ) {
    const { PATH = '', HOME = '', TMPDIR } = process.env;
    this.process = spawn(process.execPath, [...args], {
      cwd,
      env: { PATH, HOME, ...(TMPDIR === undefined ? {} : { TMPDIR }), NO_COLOR: '1', ...env },
      stdio: [stdin, 'pipe', 'pipe'],
    });
    alive.add(this.process);
    this.process.stdout?.setEncoding('utf8').on('data', (text: string) => this.take(text));
    this.process.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.ended = new Promise((resolve) => {
      this.process.once('error', () => resolve({ code: null, signal: null }));
      this.process.once('close', (code, signal) => {
        alive.delete(this.process);
        resolve({ code, signal });
      });
    });
  }

  get pid(): number {
    return this.process.pid ?? -1;
  }

  get isAlive(): boolean {
    return this.process.exitCode === null && this.process.signalCode === null;
  }

  closeStdin(): void {
    this.process.stdin?.end();
  }

  /** @returns what the process ended with */
  end(signal: NodeJS.Signals): Promise<Ended> {
    this.process.kill(signal);
    return this.ended;
  }

  /** The first line on stdout, from now on, for which `found` answers something; rejects when the process ends before. */
  line<T>(found: (line: string) => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      this.lineListeners.push((line) => {
        const value = found(line);
        if (value !== undefined) resolve(value);
      });
      void this.ended.then(({ code, signal }) =>
        reject(new Error(`ended with ${signal ?? code}: ${this.stderr.slice(-2000)}${this.stdout.slice(-2000)}`)),
      );
    });
  }

  private take(text: string): void {
    this.stdout += text;
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop() ?? '';
    for (const line of lines) for (const listener of this.lineListeners) listener(line);
  }
}
