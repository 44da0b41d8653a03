import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startServer, stopServer } from '../../test/services/processes.mjs';
import { startReaper } from '../../test/services/reaper.mjs';
import type { LoadOrder, LoadResult } from './load.js';

/** The bench's own processes: none of them outlives it, however it ends. */
export class Children {
  private readonly reaper = startReaper();
  private readonly running: ChildProcess[] = [];

  /** @param isReady looks at everything printed so far */
  async server(
    args: readonly string[],
    env: Readonly<Record<string, string>>,
    isReady: (text: string) => boolean,
  ): Promise<ChildProcess> {
    const child: ChildProcess = await startServer(process.execPath, args, { env, isReady });
    this.keep(child);
    return child;
  }

  loadGenerator(env: Readonly<Record<string, string>>): LoadGenerator {
    const child = fork(fileURLToPath(new URL('load.ts', import.meta.url)), {
      env: { ...process.env, ...env },
      execArgv: process.execArgv,
    });
    this.keep(child);
    return new LoadGenerator(child);
  }

  async stopAll(): Promise<void> {
    await Promise.all(this.running.map((child) => stopServer(child)));
    this.reaper.release();
  }

  private keep(child: ChildProcess): void {
    this.running.push(child);
    if (child.pid !== undefined) this.reaper.watch(child.pid);
  }
}

export class LoadGenerator {
  constructor(private readonly child: ChildProcess) {}

  run(order: LoadOrder): Promise<LoadResult> {
    return new Promise((resolve, reject) => {
      const onExit = (): void => reject(new Error('the load generator ended'));
      this.child.once('exit', onExit);
      this.child.once('message', (result) => {
        this.child.off('exit', onExit);
        resolve(result as LoadResult);
      });
      this.child.send(order);
    });
  }
}

export interface Usage {
  /** Resident set in bytes; null where the system does not say it this way. */
  readonly rss: number | null;
  /** Processor time used so far, user and system. */
  readonly cpuMs: number | null;
}

const MS_PER_TICK = 10;

/** From /proc: Linux only. */
export function usageOf(pid: number): Usage {
  try {
    const { ownTicks } = statOf(pid);
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return { rss: Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024, cpuMs: ownTicks * MS_PER_TICK };
  } catch {
    return { rss: null, cpuMs: null };
  }
}

/** Processor time of the database server that a backend belongs to. */
export function databaseCpuMs(backendPid: number): number | null {
  const backend = statOrNull(backendPid);
  return backend && childrenCpuMs(backend.parent);
}

/** Processor time of all children of a process, those that ended among them; the server of a database is such a process. */
export function childrenCpuMs(server: number): number | null {
  try {
    let ticks = statOf(server).endedTicks;
    for (const name of readdirSync('/proc')) {
      const stat = /^\d+$/.test(name) ? statOrNull(Number(name)) : null;
      if (stat?.parent === server) ticks += stat.ownTicks;
    }
    return ticks * MS_PER_TICK;
  } catch {
    return null;
  }
}

function statOrNull(pid: number): ReturnType<typeof statOf> | null {
  try {
    return statOf(pid);
  } catch {
    return null;
  }
}

function statOf(pid: number): { parent: number; ownTicks: number; endedTicks: number } {
  // Fields after the name, which stands in parentheses and may hold spaces; see proc(5).
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
    .map(Number);
  const [parent = 0, own = [], ended = []] = [fields[1], fields.slice(11, 13), fields.slice(13, 15)];
  return { parent, ownTicks: sum(own), endedTicks: sum(ended) };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
