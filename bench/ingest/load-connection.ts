import type { Socket } from 'node:net';
import { connect } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = '0\r\n\r\n';

/** One kept-alive connection that sends a request, reads the whole answer, and then says so; no more than that, so that it costs little. */
export class LoadConnection {
  private readonly socket: Socket;
  private unread: Buffer | null = null;

  constructor(
    port: number,
    private readonly onAnswer: (status: number) => void,
    onError: (error: Error) => void,
    /** The address it comes from; servers count connections by it. */
    localAddress = '127.0.0.1',
  ) {
    this.socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true });
    this.socket.on('data', (bytes) => this.read(bytes));
    this.socket.on('error', onError);
    this.socket.on('end', () => onError(new Error('the server closed a connection')));
  }

  opened(): Promise<void> {
    return new Promise((resolve) => void this.socket.once('connect', resolve));
  }

  send(request: Buffer): void {
    this.socket.write(request);
  }

  close(): void {
    this.socket.removeAllListeners('end').destroy();
  }

  private read(bytes: Buffer): void {
    const all = this.unread ? Buffer.concat([this.unread, bytes]) : bytes;
    if (!isWhole(all)) {
      this.unread = all;
      return;
    }
    this.unread = null;
    this.onAnswer(Number(all.toString('latin1', 9, 12)));
  }
}

/** Whether the bytes are a whole answer; one comes at a time, since the next request waits for it. */
function isWhole(bytes: Buffer): boolean {
  const end = bytes.indexOf(HEAD_END);
  if (end < 0) return false;
  const head = bytes.toString('latin1', 0, end).toLowerCase();
  const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1];
  if (length !== undefined) return bytes.length >= end + 4 + Number(length);
  return bytes.toString('latin1', Math.max(end + 4, bytes.length - LAST_CHUNK.length)) === LAST_CHUNK;
}
