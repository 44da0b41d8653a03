import { createServer, get, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { fastifyLimits, limitConnections, limitsOf, type ListenerName } from './limited-server.js';

const NAMES: ListenerName[] = ['webhooks', 'console', 'control', 'control socket', 'metrics'];
const KEPT = 256;
/** More than the system takes for somebody who does not read. */
const LARGE = Buffer.alloc(32 * 1024 * 1024);

const cleanUps: Array<() => unknown> = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function aServer(maxConnections: number, maxConnectionsPerAddress: number): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url === '/large') response.end(LARGE);
    else if (request.url !== '/slow') response.end('ok');
  });
  limitConnections(server, { maxConnections, maxConnectionsPerAddress });
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  cleanUps.push(() => (server.closeAllConnections(), server.close()));
  return server;
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

function dial(server: Server, text = '', from = '127.0.0.1'): Promise<Socket & { isEnded?: boolean }> {
  return new Promise((resolve) => {
    const socket: Socket & { isEnded?: boolean } = connect({
      port: portOf(server),
      host: '127.0.0.1',
      localAddress: from,
    });
    socket.on('error', () => {});
    socket.on('close', () => void (socket.isEnded = true));
    socket.once('connect', () => socket.write(text, () => resolve(socket)));
    socket.resume();
    cleanUps.push(() => socket.destroy());
  });
}

const answer = (server: Server): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    get({ port: portOf(server), host: '127.0.0.1', agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on('error', reject);
  });

describe('platform/limited-server', () => {
  it.each([512, 1024, 4096, 65_536])('leaves descriptors for the store where a process may have %i', (descriptors) => {
    const limits = NAMES.map((name) => limitsOf(name, descriptors));
    const all = limits.reduce((sum, { maxConnections }) => sum + maxConnections, 0);

    expect(all).toBeLessThanOrEqual(descriptors - KEPT);
    for (const { maxConnections, maxConnectionsPerAddress } of limits) {
      expect(maxConnectionsPerAddress).toBeLessThanOrEqual(maxConnections);
      expect(maxConnectionsPerAddress).toBeGreaterThanOrEqual(3);
    }
  });

  it('gives every listener deadlines that are looked at every second', () => {
    for (const name of NAMES) {
      const { requestTimeout, http } = fastifyLimits(limitsOf(name, 65_536));
      expect([name, http.headersTimeout > 0, requestTimeout > 0, http.connectionsCheckingInterval]).toEqual([
        name,
        true,
        true,
        1000,
      ]);
    }
  });

  it.each([
    ['that say nothing', ''],
    ['whose headers do not end', 'GET / HTTP/1.1\r\nHost: x\r\n'],
    ['whose body does not come', 'POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\na'],
    ['whose chunks do not come', 'POST /slow HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n'],
    ['that were answered', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])(
    'ends the oldest connections of an address beyond its limit, and answers the next request: %s',
    async (_, text) => {
      const server = await aServer(100, 10);
      const sockets = [];
      for (let n = 0; n < 30; n += 1) sockets.push(await dial(server, text));

      expect(await answer(server)).toBe(200);
      expect(sockets.filter(({ isEnded }) => isEnded).length).toBeGreaterThanOrEqual(20);
      expect(sockets.slice(0, 20).every(({ isEnded }) => isEnded)).toBe(true);
    },
  );

  it('ends the oldest that does not read its answer where nothing else is left, and no request that is being worked on', async () => {
    const server = await aServer(100, 10);
    const working = await dial(server, 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
    for (let n = 0; n < 9; n += 1) {
      const deaf = await dial(server);
      deaf.pause();
      const asked = new Promise((resolve) => server.once('request', resolve));
      deaf.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
      await asked;
    }

    expect(await answer(server)).toBe(200);
    // A socket that does not read is not told of its end.
    expect(await new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))).toBeLessThan(
      11,
    );
    expect(working.isEnded).toBeUndefined();
  });

  it('ends no request that is being worked on for sockets that say nothing', async () => {
    const server = await aServer(100, 10);
    const working = await dial(server, 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
    await answer(server);
    for (let n = 0; n < 30; n += 1) await dial(server);

    expect(await answer(server)).toBe(200);
    expect(working.isEnded).toBeUndefined();
  });
});
