import { mkdtempSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { fork } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { holdSocket, socketPath } from './hold-socket.js';

const servers: Server[] = [];

function hold(path: string): Promise<void> {
  const server = createServer();
  servers.push(server);
  return holdSocket(
    path,
    (at) => new Promise<void>((resolve, reject) => server.once('error', reject).listen(at, () => resolve())),
  );
}

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

describe('platform/hold-socket', () => {
  const freshPath = (): string => join(mkdtempSync(join(tmpdir(), 'fh-')), 'run', 'control.sock');

  it('keeps a second holder out and lets nobody else read', async () => {
    const path = freshPath();

    await hold(path);

    await expect(hold(path)).rejects.toThrow(/already runs on this data/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
  });

  it('lets exactly one of many in at once', async () => {
    const path = freshPath();

    const results = await Promise.allSettled(Array.from({ length: 8 }, () => hold(path)));

    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
  });

  it('replaces the socket of a process that was killed', async () => {
    const path = freshPath();
    const { mkdirSync, writeFileSync } = await import('node:fs');
    mkdirSync(join(path, '..'), { mode: 0o700, recursive: true });
    const script = join(path, '..', 'holder.cjs');
    writeFileSync(script, `require('net').createServer().listen(${JSON.stringify(path)}, () => process.send('up'))`);
    const child = fork(script, { execArgv: [] });
    await new Promise((resolve) => child.once('message', resolve));
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;

    await expect(hold(path)).resolves.toBeUndefined();
  });

  it('finds a short place for a socket whose path is too long', () => {
    const long = join(tmpdir(), 'x'.repeat(120), 'run', 'control.sock');

    expect(Buffer.byteLength(socketPath(long))).toBeLessThan(100);
    expect(socketPath(long)).toBe(socketPath(long));
    expect(socketPath(long)).not.toBe(socketPath(join(tmpdir(), 'y'.repeat(120), 'run', 'control.sock')));
  });
});
