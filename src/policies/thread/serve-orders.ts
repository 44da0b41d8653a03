import type { MessagePort } from 'node:worker_threads';
import { ANSWERED, AT, BEGUN } from './messages.js';
import type { Failed, Numbered } from './messages.js';

/** What a thread is started with (`RuleThread`). */
export interface ServedThread {
  readonly port: MessagePort;
  readonly memory: Int32Array;
}

/** The thread's side of `RuleThread`: one order after the other, each shown in shared memory when it begins and when it is answered. */
export function serveOrders<Ordered, Answered>(
  { port, memory }: ServedThread,
  answer: (order: Ordered) => Answered,
): void {
  port.on('message', ({ no, body }: Numbered<Ordered>) => {
    Atomics.store(memory, AT, -1);
    Atomics.store(memory, BEGUN, no);
    let reply: Answered | Failed;
    try {
      reply = answer(body);
    } catch (error) {
      reply = { kind: 'failed', message: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
    }
    port.postMessage({ no, body: reply } satisfies Numbered<Answered | Failed>);
    Atomics.store(memory, ANSWERED, no);
    Atomics.notify(memory, ANSWERED);
  });
}
