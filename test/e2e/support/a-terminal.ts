import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';

/** `script` of util-linux makes a pseudo-terminal without a native package. Elsewhere the tests that need one are skipped. */
export const hasTerminal =
  process.platform === 'linux' &&
  /util-linux/.test(spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? '');

const alive = new Set<ChildProcessWithoutNullStreams>();
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

/** A command on a terminal of its own, and a person who reads and types. */
export class Terminal {
  /** Everything that was shown, without colours and cursor moves. */
  shown = '';
  readonly ended: Promise<number | null>;
  private readonly child: ChildProcessWithoutNullStreams;
  private raw = '';
  private seenTo = 0;
  private readonly waiters = new Set<() => void>();

  constructor(command: string, cwd: string, env: Readonly<Record<string, string>>) {
    this.child = spawn('script', ['-qefc', `stty cols 200 rows 60; exec ${command}`, '/dev/null'], {
      cwd,
      env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', TERM: 'xterm', SHELL: '/bin/sh', ...env },
    });
    alive.add(this.child);
    // A command that has just ended reads nothing more.
    this.child.stdin.on('error', () => undefined);
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.raw += text;
      this.shown = stripVTControlCharacters(this.raw);
      for (const look of this.waiters) look();
    });
    this.ended = new Promise((resolve) => {
      this.child.once('close', (code) => {
        alive.delete(this.child);
        resolve(code);
        for (const look of this.waiters) look();
      });
    });
  }

  /** Waits until this is shown, after what was seen before; rejects when the command ends before. */
  see(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const at = this.shown.indexOf(text, this.seenTo);
        if (at < 0 && alive.has(this.child)) return;
        this.waiters.delete(look);
        if (at < 0)
          return reject(new Error(`ended without showing ${JSON.stringify(text)}:\n${this.shown.slice(-3000)}`));
        this.seenTo = at + text.length;
        resolve();
      };
      this.waiters.add(look);
      look();
    });
  }

  type(keys: string): void {
    if (alive.has(this.child)) this.child.stdin.write(keys);
  }

  /** Ctrl-C. @returns the exit code */
  interrupt(): Promise<number | null> {
    this.type('\u0003');
    return this.ended;
  }
}
