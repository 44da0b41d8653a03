import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import http, { type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import tls, { TLSSocket, type SecureContext } from 'node:tls';
import { urlToHttpOptions } from 'node:url';
import axios, { type AxiosResponse, type InternalAxiosRequestConfig } from 'axios';
import { HttpProxyAgent } from 'http-proxy-agent';
import { HttpsProxyAgent } from 'https-proxy-agent';
import type { Clock } from '../../core/clock.js';
import { UserError } from '../../core/errors.js';

/** No usable answer came. `reached` says whether a byte of the request may have got to the forge. Carries no request, no headers. */
export class TransportFailure extends Error {
  constructor(
    readonly reached: 'not-sent' | 'unknown',
    readonly detail: 'connection' | 'deadline' | 'stopped' | 'cut' | 'too-large' | 'proxy',
    /** Our own words, or the code of the system's error. */
    readonly note = '',
    /** The kept-alive connection had been closed by the server: a read may be made once more. */
    readonly stale = false,
  ) {
    super(detail);
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
  /**
   * Which kept-alive connection may serve it, where one is free: `any`; `fresh`, one that answered within the last second; `none`. A write on a
   * connection that the server is closing has an unknown outcome for nothing.
   */
  readonly reuse: 'any' | 'fresh' | 'none';
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
  /** Calls at once, for so many connections are kept; default 4. */
  readonly concurrency?: number | undefined;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** No server closes a connection so soon after an answer; common ones wait 5 s and more. */
const FRESH_MS = 1_000;

/**
 * The only place that opens connections to a forge. No redirect is followed, no absolute address is taken, no proxy of
 * the environment is used, certificates are always checked, and every call ends by its deadline with its socket destroyed.
 * @throws TransportFailure, which tells whether a byte of the request may have reached the other side
 */
export function createTransport(options: TransportOptions): Transport {
  const base = new URL(options.baseUrl);
  const secure = base.protocol === 'https:';
  const tls = trustOf(options.caFile ?? null);
  const keep = { keepAlive: true, maxFreeSockets: options.concurrency ?? 4, scheduling: 'lifo' } as const;
  const kept = secure ? new https.Agent({ ...keep, ...tls }) : new http.Agent(keep);
  const answeredAtMs = new WeakMap<Duplex, number>();
  const mayServe = (reuse: WireRequest['reuse']): boolean => {
    if (reuse !== 'fresh') return reuse === 'any';
    const answeredMs = answeredAtMs.get(nextFree(kept) as Duplex);
    return answeredMs !== undefined && options.clock.monotonicMs() - answeredMs < FRESH_MS;
  };
  const { hostname, port } = urlToHttpOptions(base);
  const address = { hostname, port };
  const below = base.pathname.replace(/\/$/, '');
  const open = secure ? https.request : http.request;
  const client = axios.create();
  // Each is looked at for each call, and what they are for is not wanted here: no text is made of a body, no object of an answer.
  client.defaults = { headers: {}, transformRequest: [], transformResponse: [] } as never;

  return async (request) => {
    const call = new Call(secure, (options.proxy ?? null) !== null);
    const timer = setTimeout(() => call.end('deadline'), request.deadlineMs);
    const onAbort = (): void => call.end('stopped');
    request.signal?.addEventListener('abort', onAbort);
    if (request.signal?.aborted) call.end('stopped');
    try {
      call.throwIfEnded();
      const reply = await client.request<IncomingMessage>({
        method: request.method,
        url: request.url,
        headers: { 'Accept-Encoding': 'identity', ...request.headers },
        data: request.body,
        adapter: (config) => {
          // Asked in the moment in which the agent gives the connection: a moment later it might be another one.
          const agent = call.agentFor(options.proxy ?? null, mayServe(request.reuse) ? kept : undefined, tls);
          const wire = open({
            ...address,
            ...tls,
            insecureHTTPParser: false,
            agent,
            method: request.method,
            path: `${below}${request.url}`,
            headers: {
              ...config.headers.toJSON(),
              ...(request.body ? { 'Content-Length': request.body.length } : {}),
            } as OutgoingHttpHeaders,
          });
          return call.answerTo(wire, request.body, config);
        },
      });
      call.acceptReply(reply.data, reply.status);
      const body = await readBody(reply.data, request.maxBytes);
      call.throwIfEnded();
      if (call.socket) answeredAtMs.set(call.socket, options.clock.monotonicMs());
      return { status: reply.status, headers: headersOf(reply), body };
    } catch (error) {
      throw call.failure(error);
    } finally {
      clearTimeout(timer);
      request.signal?.removeEventListener('abort', onAbort);
    }
  };
}

/** The free connection that the agent gives out next: the one that became free last. It holds those of one server alone. */
function nextFree({ freeSockets }: http.Agent): Duplex | undefined {
  return Object.values(freeSockets).flat().at(-1);
}

function headersOf(reply: AxiosResponse<IncomingMessage>): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(reply.data.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}

/** Life of one call: what has been reached, and why it was ended by us. */
class Call {
  #proxyStop: AbortController | undefined;
  #request: ClientRequest | undefined;
  #reply: IncomingMessage | undefined;
  #ended: 'deadline' | 'stopped' | undefined;
  #connected = false;
  #socket: Socket | undefined;

  constructor(
    readonly secure: boolean,
    readonly proxied: boolean,
  ) {}

  /** Through a proxy each call has its own agent, so that a proxy that never answers CONNECT is let go with the call. */
  agentFor(proxy: string | null, kept: http.Agent | undefined, tls: object): http.Agent | https.Agent | false {
    if (proxy === null) return kept ?? false;
    this.#proxyStop = new AbortController();
    const options = { signal: this.#proxyStop.signal, keepAlive: false, ...tls };
    return this.secure ? new HttpsProxyAgent(proxy, options) : new HttpProxyAgent(proxy, options);
  }

  /** The connection it has; an answer that was read to its end has let go of it. */
  get socket(): Socket | undefined {
    return this.#socket;
  }

  /** Sends the request, and waits for the begin of the answer. */
  answerTo(
    request: ClientRequest,
    body: Buffer | undefined,
    config: InternalAxiosRequestConfig,
  ): Promise<AxiosResponse<IncomingMessage>> {
    this.#request = request;
    request.once('socket', (socket) => this.#watchSocket(socket));
    if (this.#ended !== undefined) request.destroy();
    return new Promise((resolve, reject) => {
      let isAnswered = false;
      request.once('response', (data) => {
        isAnswered = true;
        resolve({ data, status: data.statusCode ?? 0, statusText: '', headers: {}, config });
      });
      request.on('error', reject);
      // Without an error where the answer is none of HTTP, such as a change of protocol.
      request.once('close', () => void (isAnswered || reject(new Error('closed'))));
      request.end(body);
    });
  }

  /** Nothing of a request is on the wire before its socket is connected and, with TLS, the certificate was accepted. */
  #watchSocket(socket: Socket): void {
    this.#socket = socket;
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
      throw new TransportFailure('not-sent', 'proxy', `the tunnel, with status ${status}`);
    }
    this.throwIfEnded();
  }

  end(reason: 'deadline' | 'stopped'): void {
    this.#ended ??= reason;
    this.#proxyStop?.abort();
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
    if (this.#ended === 'deadline') return new TransportFailure(reached, 'deadline');
    if (this.#ended === 'stopped') return new TransportFailure(reached, 'stopped');
    const stale = this.#request?.reusedSocket === true && this.#reply === undefined;
    const code = codeOf(error);
    if (this.#reply !== undefined) return new TransportFailure('unknown', 'cut', code);
    return new TransportFailure(reached, 'connection', code, stale);
  }
}

function isSecured(socket: TLSSocket): boolean {
  return (socket as { secureConnecting?: boolean }).secureConnecting === false;
}

function codeOf(error: unknown): string {
  const code =
    (error as { code?: unknown } | null)?.code ?? (error as { cause?: { code?: unknown } } | null)?.cause?.code;
  return typeof code === 'string' && /^[A-Z0-9_]+$/.test(code) ? code : '';
}

/**
 * The whole body, at most `maxBytes`; the socket is destroyed as soon as there is more.
 * @throws TransportFailure `too-large`, or the stream's own error when it is cut
 */
function readBody(reply: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (reply.destroyed) return reject(cut());
    if (Number(reply.headers['content-length'] ?? 0) > maxBytes) return reject(tooLarge(reply, maxBytes));
    const chunks: Buffer[] = [];
    let size = 0;
    reply.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) reject(tooLarge(reply, maxBytes));
      else chunks.push(chunk);
    });
    reply.once('end', () => (reply.complete ? resolve(Buffer.concat(chunks, size)) : reject(cut())));
    reply.once('error', reject);
    // Destroyed by us, without an error.
    reply.once('close', () => void (reply.readableEnded || reject(cut())));
  });
}

function cut(): TransportFailure {
  return new TransportFailure('unknown', 'cut');
}

function tooLarge(reply: IncomingMessage, maxBytes: number): TransportFailure {
  reply.destroy();
  return new TransportFailure('unknown', 'too-large', String(maxBytes));
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
