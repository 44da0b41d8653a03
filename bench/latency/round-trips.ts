import { readFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { Secret } from '../../src/core/secret.js';
import { createForgeClient } from '../../src/forge/http/create-forge-client.js';
import { answer, startScriptedServer } from '../../test/fakes/scripted-server.js';
import { ROOT } from '../../test/services/with-services.mjs';
import { median } from '../support/figures.js';

const TLS = join(ROOT, 'test/fixtures/tls');
const WRITES = 20;
export const ROUND_TRIP_MS = 50;

/** Median ms of writes over TLS, each right after the read that its guard makes, to a forge that is so far away. */
export async function measureWrite(): Promise<number> {
  const tls = { cert: readFileSync(join(TLS, 'good.pem')), key: readFileSync(join(TLS, 'good.key')) };
  const forge = await startScriptedServer(
    (request, reply, socket) =>
      request.method === 'GET'
        ? answer(200, '[]')(request, reply, socket)
        : answer(201, '{"id":1,"name":"bug"}')(request, reply, socket),
    tls,
  );
  const way = await farWay(forge.port);
  const client = createForgeClient({
    baseUrl: `https://127.0.0.1:${way.port}/api/v1`,
    auth: { type: 'token', token: new Secret('t0ken') },
    caFile: join(TLS, 'ca.pem'),
    ratePerS: 1000,
  });
  try {
    const took: number[] = [];
    for (let n = 0; n < WRITES; n += 1) {
      await client.listLabels({ owner: 'acme', repo: 'app' });
      const began = performance.now();
      await client.createLabel({ owner: 'acme', repo: 'app', body: { name: 'bug', color: '#ff0000' } });
      took.push(performance.now() - began);
    }
    return median(took);
  } finally {
    await way.close();
    await forge.close();
  }
}

/** Carries each piece half a round trip late, and a new connection a whole one, as its handshake takes. */
async function farWay(port: number): Promise<{ port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const late = (from: Socket, to: Socket): void => {
    sockets.add(from);
    from.setNoDelay(true);
    from.on('error', () => to.destroy());
    from.on('close', () => (sockets.delete(from), setTimeout(() => to.destroy(), ROUND_TRIP_MS / 2)));
    from.on('data', (bytes) => setTimeout(() => to.writable && to.write(bytes), ROUND_TRIP_MS / 2));
  };
  const listener = createServer((client) => {
    client.pause();
    setTimeout(() => {
      const server = connect(port, '127.0.0.1');
      late(client, server);
      late(server, client);
      client.resume();
    }, ROUND_TRIP_MS);
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  return {
    port: (listener.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        listener.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
