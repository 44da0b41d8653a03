import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../services/until.js';
import { TcpProxy } from './tcp-proxy.js';

let echo: Server;
let proxy: TcpProxy;

beforeEach(async () => {
  echo = createServer((socket) => socket.on('error', () => undefined).pipe(socket));
  await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
  proxy = await TcpProxy.to((echo.address() as AddressInfo).port);
});

afterEach(async () => {
  await proxy.close();
  await new Promise((resolve) => echo.close(resolve));
});

async function aClient(): Promise<{
  socket: Socket;
  got: () => string;
  isClosed: () => boolean;
  error: () => string | null;
}> {
  const socket = connect(proxy.port, '127.0.0.1');
  let [text, closed, code]: [string, boolean, string | null] = ['', false, null];
  socket.on('data', (bytes) => (text += String(bytes)));
  socket.on('error', (error: NodeJS.ErrnoException) => (code = error.code ?? ''));
  socket.on('close', () => (closed = true));
  await once(socket, 'connect');
  socket.write('hello');
  await until(() => text === 'hello');
  return { socket, got: () => text, isClosed: () => closed, error: () => code };
}

describe('chaos/tcp-proxy', () => {
  it('carries both ways, and ends the other side when one ends', async () => {
    const client = await aClient();
    client.socket.destroy();

    await until(
      async () => (await new Promise<number>((resolve) => echo.getConnections((_, count) => resolve(count)))) === 0,
    );
    expect(client.got()).toBe('hello');
  });

  it('resets connections hard', async () => {
    const client = await aClient();
    await proxy.suffer('reset', 0);

    await until(() => client.isClosed());
    expect(client.error()).toBe('ECONNRESET');
    expect(proxy.hits.reset).toBe(1);
  });

  it('carries nothing and closes nothing while half open, then ends what stood still', async () => {
    const client = await aClient();
    const over = proxy.suffer('half-open', 200);
    client.socket.write(' more');
    await new Promise((resolve) => setImmediate(resolve));
    expect([client.got(), client.isClosed()]).toEqual(['hello', false]);

    await over;
    await until(() => client.isClosed());
    expect([client.got(), proxy.hits['half-open']]).toEqual(['hello', 1]);
  });

  it('cuts a connection in the middle of its answer', async () => {
    const client = await aClient();
    const over = proxy.suffer('cut', 200);
    client.socket.write('0123456789');

    await until(() => client.isClosed());
    expect(client.got()).toBe('hello01234');
    expect(proxy.hits.cut).toBe(1);
    await over;
  });

  it('carries late while slow', async () => {
    const client = await aClient();
    const over = proxy.suffer('slow', 200);
    client.socket.write('!');

    await until(() => client.got() === 'hello!');
    expect(proxy.hits.slow).toBeGreaterThan(0);
    await over;
  });
});
