import type { ChildProcess } from 'node:child_process';

export function freePort(): Promise<number>;
export function startServer(
  command: string,
  args: readonly string[],
  options: {
    account?: { uid: number; gid: number } | null;
    env?: Readonly<Record<string, string>>;
    isReady: (text: string) => boolean;
    timeoutMs?: number;
  },
): Promise<ChildProcess>;
export function stopServer(child: ChildProcess, signal?: NodeJS.Signals, graceMs?: number): Promise<void>;
