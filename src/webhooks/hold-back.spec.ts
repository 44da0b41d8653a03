import { EventEmitter, once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect } from 'node:net';
import { setImmediate as round, setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { given } from '../../test/builders/given.js';
import { DEFAULT_WEBHOOK_LIMITS, makeWebhookApp } from '../../test/builders/webhook-app.js';
import { InMemoryInboxStore } from '../../test/fakes/in-memory-inbox-store.js';
import { ManualClock } from '../../test/fakes/manual-clock.js';
import { silentLogger } from '../core/logger.js';
import { Secret } from '../core/secret.js';
import { HELD_BACK_MS, holdBack } from './event-loop-turns.js';
import type { UnverifiedLimits } from '../platform/unverified-bytes.js';

/** Sockets and the loop of events go on as ever. */
function stopTime(): void {
  jest.useFakeTimers({
    doNotFake: ['Date', 'hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'clearImmediate'],
  });
}

describe('webhooks/hold-back', () => {
  let answers: number;
  const answer = (): void => void (answers += 1);
  const aSocket = (destroyed = false): Socket => Object.assign(new EventEmitter(), { destroyed }) as unknown as Socket;
  beforeEach(() => {
    answers = 0;
    stopTime();
  });
  afterEach(() => void jest.useRealTimers());

  it('answers after three seconds, and leaves nothing at the socket', () => {
    const socket = aSocket();

    holdBack(socket, answer);
    jest.advanceTimersByTime(HELD_BACK_MS - 1);
    expect(answers).toBe(0);
    jest.advanceTimersByTime(1);

    expect(answers).toBe(1);
    expect(socket.listenerCount('close')).toBe(0);
  });

  it('keeps nothing for a sender who leaves meanwhile', () => {
    const socket = aSocket();

    holdBack(socket, answer);
    socket.emit('close');

    expect(jest.getTimerCount()).toBe(0);
    expect(answers).toBe(0);
  });

  it('keeps nothing for a sender who left before', () => {
    holdBack(aSocket(true), answer);

    expect(jest.getTimerCount()).toBe(0);
  });
});

const KB = 1024;
const UNSIGNED = 'POST /webhooks/acme HTTP/1.1\r\nHost: bot\r\nContent-Type: application/json\r\n';
const SIGNED = `${UNSIGNED}X-Gitea-Signature: ${'5f'.repeat(32)}\r\n`;

describe('webhooks/hold-back: at the door', () => {
  let app: NestFastifyApplication;
  let counted: string[];
  /** In the order in which they came in. */
  let atServer: Socket[];
  let senders: Socket[];

  async function listen(unverified: UnverifiedLimits = DEFAULT_WEBHOOK_LIMITS.unverified): Promise<void> {
    app = await makeWebhookApp({
      hooks: [{ id: 'acme', org: 'acme', forge: 'main', secrets: [new Secret('s')], authorizations: [] }],
      inbox: new InMemoryInboxStore(),
      queue: { ring: () => undefined },
      logger: silentLogger,
      // How slow a request is must not depend on how busy the machine is.
      clock: new ManualClock(),
      limits: { ...DEFAULT_WEBHOOK_LIMITS, unverified },
      counted: ({ answer }) => void counted.push(answer),
    });
    app.getHttpServer().on('connection', (socket: Socket) => void atServer.push(socket));
    await app.init();
    stopTime();
  }

  async function dial(): Promise<{ socket: Socket; answers: () => string }> {
    const socket = connect((app.getHttpServer().address() as AddressInfo).port, '127.0.0.1');
    let text = '';
    socket.on('error', () => {});
    socket.on('data', (bytes) => (text += bytes.toString('latin1')));
    senders.push(socket);
    await once(socket, 'connect');
    return { socket, answers: () => text };
  }

  async function until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) await round();
  }

  beforeEach(() => {
    [counted, atServer, senders] = [[], [], []];
  });

  afterEach(async () => {
    jest.useRealTimers();
    for (const socket of senders) socket.destroy();
    // One that is not read does not show that it was closed.
    app.getHttpServer().closeAllConnections();
    await app.close();
  });

  it.each([
    ['without a signature', UNSIGNED, 'not_authentic', 401],
    ['for a path that is none', UNSIGNED.replace('/webhooks/acme', '/elsewhere'), 'not_found', 404],
  ])('leaves a long body %s unread, and closes with a late answer', async (_title, head, error, status) => {
    await listen();
    const { socket, answers } = await dial();

    socket.write(`${head}Content-Length: 200000\r\n\r\n${'x'.repeat(200_000)}`);
    await until(() => counted.length > 0);
    jest.advanceTimersByTime(HELD_BACK_MS - 1);
    await wait(50);
    expect([counted, answers()]).toEqual([[error], '']);
    expect(given(atServer[0]).bytesRead).toBeLessThanOrEqual(64 * KB);
    jest.advanceTimersByTime(1);
    await once(socket, 'close');

    expect(answers()).toMatch(new RegExp(`^HTTP/1.1 ${status}[^]*connection: close`));
  });

  it('answers at once who is refused with a small body, and serves on', async () => {
    await listen();
    const { socket, answers } = await dial();

    for (let n = 1; n <= 2; n += 1) {
      socket.write(`${UNSIGNED}Content-Length: 2\r\n\r\n{}`);
      await until(() => answers().split('HTTP/1.1 401').length === n + 1);
    }

    expect(socket.destroyed).toBe(false);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('keeps nothing for a sender who cuts its body off', async () => {
    await listen();
    const { socket } = await dial();

    socket.write(`${SIGNED}Content-Length: 100000\r\n\r\n{`);
    await until(() => given(atServer[0]).bytesRead > 0);
    socket.resetAndDestroy();
    await until(() => counted.length > 0);

    expect(counted).toEqual(['not_parseable']);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('reads nothing more of a body that was dropped', async () => {
    await listen({ bytes: 200 * KB, bytesPerAddress: 200 * KB });
    const [first, dropped] = [await dial(), await dial()];
    first.socket.write(`${SIGNED}Content-Length: 30000\r\n\r\n${'x'.repeat(20_000)}`);
    await until(() => given(atServer[0]).bytesRead > 20_000);

    dropped.socket.write(`${SIGNED}Content-Length: 4000000\r\n\r\n${'x'.repeat(4_000_000)}`);
    await until(() => counted.length > 0);
    const read = given(atServer[1]).bytesRead;
    await wait(100);

    expect(counted).toEqual(['too_many_unverified']);
    expect(given(atServer[1]).bytesRead).toBe(read);
  });
});
