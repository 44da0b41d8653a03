import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { KeptConnections } from './kept-connections.js';

let server: Server;
let kept: KeptConnections;
/** Requests of each connection. */
const seen = new Map<Socket, number>();

/** @param ends whether the server ends the connection instead of answering its request of this number */
async function listen(ends: (nth: number) => boolean): Promise<string> {
  server = createServer((incoming, answer) => {
    const nth = (seen.get(incoming.socket) ?? 0) + 1;
    seen.set(incoming.socket, nth);
    if (ends(nth)) incoming.socket.destroy();
    else answer.end(incoming.method);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

afterEach(() => {
  kept.close();
  server.close();
  seen.clear();
});

it('posts again on another connection when a kept one was ended', async () => {
  kept = new KeptConnections(1);
  const url = await listen((nth) => nth === 2);

  const replies = [await kept.post(url, {}, 'a'), await kept.post(url, {}, 'b')];

  expect(replies).toEqual([
    { status: 200, text: 'POST' },
    { status: 200, text: 'POST' },
  ]);
  expect([...seen.values()]).toEqual([2, 1]);
});

it('passes on that a new connection was ended', async () => {
  kept = new KeptConnections(1);
  const url = await listen(() => true);

  await expect(kept.post(url, {}, 'a')).rejects.toThrow('socket hang up');
  expect([...seen.values()]).toEqual([1]);
});
