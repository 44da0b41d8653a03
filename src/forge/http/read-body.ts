import type { IncomingMessage } from 'node:http';
import { TransportFailure } from './transport-failure.js';

/**
 * The whole body, at most `maxBytes`; the socket is destroyed as soon as there is more.
 * @throws TransportFailure `too-large`, or the stream's own error when it is cut
 */
export async function readBody(reply: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const announced = Number(reply.headers['content-length'] ?? 0);
  if (announced > maxBytes) throw tooLarge(reply, maxBytes);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of reply as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(reply, maxBytes);
    chunks.push(chunk);
  }
  if (!reply.complete) throw new TransportFailure('unknown', 'cut', 'the answer ended early');
  return Buffer.concat(chunks);
}

function tooLarge(reply: IncomingMessage, maxBytes: number): TransportFailure {
  reply.destroy();
  return new TransportFailure('unknown', 'too-large', `the answer is larger than ${maxBytes} bytes`);
}
