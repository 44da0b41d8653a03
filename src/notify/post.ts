import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';

export interface Post {
  readonly method?: 'POST' | 'PUT';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Addresses that the name of the host may stand for; null = as this machine resolves it. */
  readonly addresses?: readonly string[] | null;
  readonly signal?: AbortSignal | undefined;
  /** From the start to the head of the answer. Default: 10,000 ms. */
  readonly deadlineMs?: number;
}

export interface PostReply {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  /** The beginning of the body, 512 bytes at most. */
  readonly beginning: string;
}

/** No answer came. */
export class NotPosted extends Error {
  constructor(
    /** Whether a byte of the request may have reached the other side. */
    readonly reached: boolean,
    /** Code of the system's error, or the reason why we ended it. */
    readonly note: string,
  ) {
    super(note);
  }
}

const DEADLINE_MS = 10_000;
const BEGINNING = 512;

/**
 * One call on a connection of its own: no redirect is followed, no proxy of the environment is used, certificates are always checked.
 * @throws NotPosted
 */
export function post({
  method = 'POST',
  url,
  headers,
  body,
  addresses = null,
  signal,
  deadlineMs = DEADLINE_MS,
}: Post): Promise<PostReply> {
  const { request, agent, connected } = url.startsWith('https:')
    ? { request: https.request, agent: new https.Agent(), connected: 'secureConnect' }
    : { request: http.request, agent: new http.Agent(), connected: 'connect' };
  return new Promise((resolve, reject) => {
    let reached = false;
    const fail = (note: string): void => {
      reject(new NotPosted(reached, note));
      call.destroy();
    };
    const call = request(url, {
      method,
      agent,
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
      rejectUnauthorized: true,
      ...(addresses === null ? {} : { lookup: among(addresses) }),
    });
    const stop = (): void => fail('stopped');
    const timer = setTimeout(() => fail('deadline'), deadlineMs);
    const release = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      agent.destroy();
    };
    signal?.addEventListener('abort', stop);
    if (signal?.aborted) stop();
    call.on('socket', (socket) => socket.once(connected, () => (reached = true)));
    call.on('error', (error: NodeJS.ErrnoException) =>
      fail(/^[A-Z0-9_]+$/.test(error.code ?? '') ? (error.code ?? '') : ''),
    );
    call.on('close', release);
    call.on('response', (reply) => {
      let beginning = '';
      const end = (): void => {
        resolve({ status: reply.statusCode ?? 0, headers: reply.headers, beginning: beginning.slice(0, BEGINNING) });
        call.destroy();
      };
      // The status says it all: an answer that is cut or that does not end changes nothing.
      reply.on('data', (chunk: Buffer) => {
        beginning += chunk.toString('latin1');
        if (beginning.length >= BEGINNING) end();
      });
      reply.on('end', end).on('error', end).on('close', end);
    });
    call.end(body);
  });
}

/** Whatever the name stands for meanwhile: what was looked at is connected to. */
function among(addresses: readonly string[]): LookupFunction {
  const known = addresses.map((address) => ({ address, family: isIP(address) }));
  return (hostname, options, done) => {
    const [first] = known;
    if (!first) {
      done(Object.assign(new Error(hostname), { code: 'ENOTFOUND' }), '');
      return;
    }
    if (options.all) done(null, known);
    else done(null, first.address, first.family);
  };
}
