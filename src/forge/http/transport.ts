import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import http, { type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import tls, { TLSSocket, type SecureContext } from 'node:tls';
import axios, { type AxiosResponse } from 'axios';
import { HttpProxyAgent } from 'http-proxy-agent';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { UserError } from '../../core/errors.js';

/** No usable answer came. `reached` says whether a byte of the request may have got to the forge. Carries no request, no headers. */
export class TransportFailure extends Error {
  constructor(
    readonly reached: 'not-sent' | 'unknown',
    readonly detail: 'connection' | 'deadline' | 'stopped' | 'cut' | 'too-large' | 'proxy',
    message: string,
    /** The kept-alive connection had been closed by the server: a read may be made once more. */
    readonly stale = false,
  ) {
    super(message);
  }
}

export interface WireRequest {
  readonly method: string;
  /** Path and query below the base address. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
  readonly deadlineMs: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
  /** Kept-alive connections serve reads only: a write on a connection that the server is closing has an unknown outcome for nothing. */
  readonly reuse: boolean;
}

export interface WireReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

type Transport = (request: WireRequest) => Promise<WireReply>;

interface TransportOptions {
  readonly baseUrl: string;
  readonly caFile?: string | null | undefined;
  readonly proxy?: string | null | undefined;
}

type RequestLibrary = { request(options: RequestOptions, onReply: (reply: IncomingMessage) => void): ClientRequest };

/**
 * The only place that opens connections to a forge. No redirect is followed, no absolute address is taken, no proxy of
 * the environment is used, certificates are always checked, and every call ends by its deadline with its socket destroyed.
 * @throws TransportFailure, which tells whether a byte of the request may have reached the other side
 */
export function createTransport(options: TransportOptions): Transport {
  const secure = new URL(options.baseUrl).protocol === 'https:';
  const tls = trustOf(options.caFile ?? null);
  const kept = secure
    ? new https.Agent({ keepAlive: true, maxFreeSockets: 4, ...tls })
    : new http.Agent({ keepAlive: true, maxFreeSockets: 4 });
  const client = axios.create({
    baseURL: options.baseUrl,
    allowAbsoluteUrls: false,
    maxRedirects: 0,
    proxy: false,
    decompress: false,
    responseType: 'stream',
    maxBodyLength: Infinity,
    maxContentLength: -1,
    validateStatus: () => true,
    transformRequest: (data: unknown) => data,
  });

  return async (request) => {
    const call = new Call(secure, (options.proxy ?? null) !== null);
    const agent = call.agentFor(options.proxy ?? null, request.reuse ? kept : undefined, tls);
    const library: RequestLibrary = {
      request: (wire, onReply) => call.watch((secure ? https : http).request({ ...wire, ...tls, agent }, onReply)),
    };
    const timer = setTimeout(() => call.end('deadline'), request.deadlineMs);
    const onAbort = (): void => call.end('stopped');
    request.signal?.addEventListener('abort', onAbort);
    if (request.signal?.aborted) call.end('stopped');
    try {
      call.throwIfEnded();
      const reply: AxiosResponse<IncomingMessage> = await client.request({
        method: request.method,
        url: request.url,
        headers: { 'Accept-Encoding': 'identity', ...request.headers },
        ...(request.body ? { data: request.body } : {}),
        ...{ transport: library },
      });
      call.acceptReply(reply.data, reply.status);
      const body = await readBody(reply.data, request.maxBytes);
      call.throwIfEnded();
      return { status: reply.status, headers: headersOf(reply), body };
    } catch (error) {
      throw call.failure(error);
    } finally {
      clearTimeout(timer);
      request.signal?.removeEventListener('abort', onAbort);
    }
  };
}

function headersOf(reply: AxiosResponse<IncomingMessage>): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(reply.data.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}

/** Life of one call: what has been reached, and why it was ended by us. */
class Call {
  readonly #stop = new AbortController();
  #request: ClientRequest | undefined;
  #reply: IncomingMessage | undefined;
  #ended: 'deadline' | 'stopped' | undefined;
  #connected = false;

  constructor(
    readonly secure: boolean,
    readonly proxied: boolean,
  ) {}

  /** Through a proxy each call has its own agent, so that a proxy that never answers CONNECT is let go with the call. */
  agentFor(proxy: string | null, kept: http.Agent | undefined, tls: object): http.Agent | https.Agent | false {
    if (proxy === null) return kept ?? false;
    const options = { signal: this.#stop.signal, keepAlive: false, ...tls };
    return this.secure ? new HttpsProxyAgent(proxy, options) : new HttpProxyAgent(proxy, options);
  }

  watch(request: ClientRequest): ClientRequest {
    this.#request = request;
    request.once('socket', (socket) => this.#watchSocket(socket));
    if (this.#ended !== undefined) request.destroy();
    return request;
  }

  /** Nothing of a request is on the wire before its socket is connected and, with TLS, the certificate was accepted. */
  #watchSocket(socket: Socket): void {
    const mark = (): void => {
      this.#connected = true;
    };
    if (this.#request?.reusedSocket) mark();
    else if (!this.secure) socket.connecting ? socket.once('connect', mark) : mark();
    else if (socket instanceof TLSSocket) isSecured(socket) ? mark() : socket.once('secureConnect', mark);
    else if (!this.proxied) mark();
  }

  /** A proxy that refuses the tunnel answers in the forge's place; the forge has seen nothing. */
  acceptReply(reply: IncomingMessage, status: number): void {
    this.#reply = reply;
    if (this.secure && this.proxied && !this.#connected) {
      reply.destroy();
      throw new TransportFailure('not-sent', 'proxy', `the proxy refused the tunnel (status ${status})`);
    }
    this.throwIfEnded();
  }

  end(reason: 'deadline' | 'stopped'): void {
    this.#ended ??= reason;
    this.#stop.abort();
    this.#request?.destroy();
    this.#reply?.destroy();
  }

  throwIfEnded(): void {
    if (this.#ended !== undefined) throw new Error(this.#ended);
  }

  /** Our own words only: errors of the library carry the request with its headers. */
  failure(error: unknown): TransportFailure {
    if (error instanceof TransportFailure && this.#ended === undefined) return error;
    const reached = this.#connected ? 'unknown' : 'not-sent';
    if (this.#ended === 'deadline')
      return new TransportFailure(reached, 'deadline', 'no complete answer within the deadline');
    if (this.#ended === 'stopped') return new TransportFailure(reached, 'stopped', 'the call was stopped');
    const stale = this.#request?.reusedSocket === true && this.#reply === undefined;
    const code = codeOf(error);
    if (this.#reply !== undefined) return new TransportFailure('unknown', 'cut', `the answer ended early${code}`);
    return new TransportFailure(
      reached,
      'connection',
      `${reached === 'not-sent' ? 'no connection' : 'the connection broke'}${code}`,
      stale,
    );
  }
}

function isSecured(socket: TLSSocket): boolean {
  return (socket as { secureConnecting?: boolean }).secureConnecting === false;
}

function codeOf(error: unknown): string {
  const code =
    (error as { code?: unknown } | null)?.code ?? (error as { cause?: { code?: unknown } } | null)?.cause?.code;
  return typeof code === 'string' && /^[A-Z0-9_]+$/.test(code) ? ` (${code})` : '';
}

/**
 * The whole body, at most `maxBytes`; the socket is destroyed as soon as there is more.
 * @throws TransportFailure `too-large`, or the stream's own error when it is cut
 */
async function readBody(reply: IncomingMessage, maxBytes: number): Promise<Buffer> {
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

interface Trust {
  /** Always; NODE_TLS_REJECT_UNAUTHORIZED cannot switch it off. */
  readonly rejectUnauthorized: true;
  readonly secureContext?: SecureContext;
}

/**
 * Whom we believe to be the forge: the usual authorities, and those of a PEM file beside them.
 * The context is built once: reading all authorities again for every connection costs tens of milliseconds.
 * @throws UserError when the file cannot be read or holds no certificate
 */
function trustOf(caFile: string | null): Trust {
  if (caFile === null) return { rejectUnauthorized: true };
  const usual =
    'getCACertificates' in tls
      ? (tls as { getCACertificates(kind: string): string[] }).getCACertificates('default')
      : [...tls.rootCertificates];
  return {
    rejectUnauthorized: true,
    secureContext: tls.createSecureContext({ ca: [...usual, readCertificates(caFile)] }),
  };
}

function readCertificates(caFile: string): string {
  try {
    const pem = readFileSync(caFile, 'utf8');
    new X509Certificate(pem);
    return pem;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    throw new UserError('FORGE_CA_FILE', `ca_file ${caFile} holds no certificate that can be read (${code})`);
  }
}
