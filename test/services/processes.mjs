import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Run a command to its end.
 * @returns {Promise<{ status: number | null, output: string }>} output = stdout and stderr, the last 64 kB; status null when it could not be started
 */
export function run(command, args, { account, timeoutMs, onLine, env } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      ...account,
      cwd: '/',
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    let rest = '';
    const take = (bytes) => {
      output = (output + bytes).slice(-65_536);
      const lines = (rest + bytes).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) onLine?.(line);
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    const timer = timeoutMs ? setTimeout(() => child.kill('SIGKILL'), timeoutMs) : undefined;
    child.on('error', (error) => {
      clearTimeout(timer);
      resolve({ status: null, output: error.message });
    });
    child.on('close', (status) => {
      clearTimeout(timer);
      resolve({ status, output });
    });
  });
}

/** Linux gives the ports from here on to connections that go out: one of them could take the port while its server is away. */
const FIRST_OF_CONNECTIONS = 32_768;
const FIRST_OF_OURS = 12_000;

/** A port of 127.0.0.1 that was free a moment ago; whoever binds it must be ready to try another. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    const listen = () => server.listen(randomInt(FIRST_OF_OURS, FIRST_OF_CONNECTIONS), '127.0.0.1');
    server.on('error', (error) => (error.code === 'EADDRINUSE' ? listen() : reject(error)));
    server.on('listening', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
    listen();
  });
}

/**
 * Start a server and wait until it says so.
 * @param {(text: string) => boolean} isReady looks at everything printed so far
 * @returns {Promise<import('node:child_process').ChildProcess>}
 * @throws Error with the last lines printed, when it ends or stays silent for `timeoutMs`
 */
export function startServer(command, args, { account, env, isReady, timeoutMs = 30_000 }) {
  return new Promise((resolve, reject) => {
    // A group of its own: Ctrl-C at the terminal must reach the tests first, the servers last.
    const child = spawn(command, args, {
      ...account,
      cwd: '/',
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let text = '';
    const fail = (why) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new Error(`${command}: ${why}\n${text.trim().split('\n').slice(-8).join('\n')}`));
    };
    const timer = setTimeout(() => fail(`not ready after ${timeoutMs / 1000} s`), timeoutMs);
    const onData = (bytes) => {
      text = (text + bytes).slice(-65_536);
      if (!isReady(text)) return;
      clearTimeout(timer);
      child.off('exit', onExit);
      child.stdout.removeAllListeners('data').resume();
      child.stderr.removeAllListeners('data').resume();
      resolve(child);
    };
    const onExit = (status, signal) => fail(`ended at once (${signal ?? status})`);
    child.on('error', (error) => fail(error.message));
    child.on('exit', onExit);
    child.stdout.on('data', onData);
    child.stderr.on('data', onData);
  });
}

/** Ask a server to end and wait for it; the hard way after `graceMs`. */
export function stopServer(child, signal = 'SIGTERM', graceMs = 5_000) {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
    child.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
    child.kill(signal);
  });
}
