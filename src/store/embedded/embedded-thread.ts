import { parentPort, workerData } from 'node:worker_threads';
import { BotError, messageOf } from '../../core/errors.js';
import { PgliteBackend, type EmbeddedBackend } from './pglite-backend.js';
import { openFolder } from './embedded-folder.js';
import type { FlushFailed } from '../../platform/flush.js';
import { handable, type Answer, type Order, type ThreadStart } from './thread-messages.js';

/** The program of the thread in which the embedded store works; started by `ThreadBackend` alone. */
const port = parentPort;
if (!port) throw new Error('this is the program of a thread');
const { dir, template } = workerData as ThreadStart;

const send = (answer: Answer): void =>
  port.postMessage(answer, 'parts' in answer ? answer.parts.map(({ buffer }) => buffer) : []);

function failed(id: number, error: unknown): void {
  send({ id, failure: { message: messageOf(error), code: error instanceof BotError ? error.code : null } });
}

/** The thread stops where it is, in the middle of the engine's flush: nothing more is written or answered before it is ended. */
function standStill(error: FlushFailed): never {
  send({ flushFailed: error.context as unknown as { path: string; reason: string } });
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

async function carryOut(backend: EmbeddedBackend, order: Order): Promise<readonly Uint8Array[]> {
  switch (order.kind) {
    case 'exchange':
      return backend.exchange(order.bytes);
    case 'exec':
      await backend.exec(order.sql);
      return [];
    case 'dump':
      return [new Uint8Array(await (await backend.dump()).arrayBuffer())];
    case 'close':
      await backend.close();
      return [];
  }
}

try {
  const backend = new PgliteBackend(await openFolder(dir, template ? new Blob([template]) : null, standStill));
  port.on('message', (order: Order) => {
    carryOut(backend, order).then(
      (parts) => send({ id: order.id, parts: parts.map(handable) }),
      (error: unknown) => {
        // The engine has ended, so its thread does: whoever asks next opens the store in another one.
        if (backend.closed) process.exit();
        failed(order.id, error);
      },
    );
  });
  send({ id: 0, parts: [] });
} catch (error) {
  failed(0, error);
}
