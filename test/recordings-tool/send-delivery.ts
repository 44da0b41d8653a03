import type { Agent } from 'node:http';
import { request } from 'node:http';
import type { RecordedDelivery } from './act-file.js';

export interface Answer {
  readonly status: number;
  readonly id: string | null;
  readonly error: string | null;
}

/** Send a recorded delivery as it was received: its headers in their order, its bytes; only host, port and path are the bot's. */
export function sendDelivery(agent: Agent, port: number, path: string, delivery: RecordedDelivery): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { agent, host: '127.0.0.1', port, path, method: delivery.method, headers: delivery.headers.flat() as never },
      (incoming) => {
        let text = '';
        incoming.setEncoding('utf8');
        incoming.on('data', (chunk: string) => (text += chunk));
        incoming.on('end', () => resolve(answerOf(incoming.statusCode ?? 0, text)));
        incoming.on('error', reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(Buffer.from(delivery.body));
  });
}

function answerOf(status: number, text: string): Answer {
  let body: Record<string, unknown> = {};
  try {
    body = JSON.parse(text) as Record<string, unknown>;
  } catch {
    // Not ours then; the status says enough.
  }
  return {
    status,
    id: typeof body.id === 'string' ? body.id : null,
    error: typeof body.error === 'string' ? body.error : null,
  };
}
