import type { KeptConnections } from '../services/kept-connections.js';
import type { RecordedDelivery } from './act-file.js';

export interface Answer {
  readonly status: number;
  readonly id: string | null;
  readonly error: string | null;
}

/** Send a recorded delivery as it was received: its headers in their order, its bytes; only host, port and path are the bot's. */
export async function sendDelivery(
  connections: KeptConnections,
  port: number,
  path: string,
  delivery: RecordedDelivery,
): Promise<Answer> {
  const url = `http://127.0.0.1:${port}${path}`;
  const { status, text } = await connections.post(url, delivery.headers.flat(), Buffer.from(delivery.body));
  return answerOf(status, text);
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
