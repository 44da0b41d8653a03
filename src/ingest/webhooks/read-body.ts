import type { IncomingMessage } from 'node:http';

/** The sender sent more than it may. */
export class BodyTooLarge extends Error {}

const NOTHING = Buffer.alloc(0);

/**
 * All bytes of a request's body, as sent. Takes no more memory than the limit and one part.
 * @param done once: the bytes, or BodyTooLarge, or why they did not come in full
 */
export function readBody(request: IncomingMessage, maxBytes: number, done: (body: Buffer | Error) => void): void {
  const parts: Buffer[] = [];
  let length = 0;
  const end = (outcome: Buffer | Error): void => {
    request.off('data', onData).off('end', onEnd).off('error', end);
    done(outcome);
  };
  const onData = (part: Buffer): void => {
    length += part.length;
    if (length > maxBytes) end(new BodyTooLarge());
    else parts.push(part);
  };
  const onEnd = (): void => end(together(parts, length));
  request.on('data', onData).on('end', onEnd).on('error', end);
}

/** One part that has its memory to itself is taken as it is; one that shares it would keep, or lose, what is not ours. */
function together(parts: readonly Buffer[], length: number): Buffer {
  const [first] = parts;
  if (first === undefined) return NOTHING;
  return parts.length === 1 && first.buffer.byteLength === first.length ? first : Buffer.concat(parts, length);
}
