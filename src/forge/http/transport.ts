import type { ClientRequest } from 'node:http';
import axios, { AxiosError, type AxiosResponse } from 'axios';
import { agentsTo, type ConnectOptions, NotConnected } from './agents.js';

/** No usable answer came. `reached` says whether a byte of the request may have got to the forge. Carries no request, no headers. */
export class TransportFailure extends Error {
  constructor(
    readonly reached: 'not-sent' | 'unknown',
    readonly detail: 'connection' | 'deadline' | 'stopped' | 'cut' | 'too-large' | 'proxy',
    /** Our own words, or the code of the system's error. */
    readonly note = '',
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
}

export interface WireReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

type Transport = (request: WireRequest) => Promise<WireReply>;

/**
 * The only place that opens connections to a forge. No redirect is followed, no absolute address is taken, no proxy of
 * the environment is used, certificates are always checked, and every call ends by its deadline with its socket destroyed.
 * @throws TransportFailure, which tells whether a byte of the request may have reached the other side
 */
export function createTransport(options: ConnectOptions): Transport {
  const agents = agentsTo(options);
  const client = axios.create({
    adapter: 'http',
    baseURL: options.baseUrl,
    allowAbsoluteUrls: false,
    maxRedirects: 0,
    proxy: false,
    decompress: false,
    responseType: 'arraybuffer',
    transformRequest: [],
    transformResponse: [],
    validateStatus: null,
  });
  // What is for browsers, and what axios says of itself.
  client.defaults.headers.common = {};

  return async (request) => {
    const stop = new AbortController();
    let endedBy: 'deadline' | 'stopped' | undefined;
    const end = (by: typeof endedBy): void => {
      endedBy ??= by;
      stop.abort();
    };
    const timer = setTimeout(() => end('deadline'), request.deadlineMs);
    const onAbort = (): void => end('stopped');
    request.signal?.addEventListener('abort', onAbort);
    if (request.signal?.aborted) end('stopped');
    try {
      const reply = await client.request<Buffer>({
        ...agents(stop.signal),
        method: request.method,
        url: request.url,
        headers: { 'Accept-Encoding': 'identity', ...request.headers },
        data: request.body,
        maxContentLength: request.maxBytes,
        signal: stop.signal,
      });
      return { status: reply.status, headers: headersOf(reply), body: reply.data };
    } catch (error) {
      throw failureOf(error, endedBy, request.maxBytes);
    } finally {
      clearTimeout(timer);
      request.signal?.removeEventListener('abort', onAbort);
    }
  };
}

function headersOf({ headers }: AxiosResponse): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : String(value)]),
  );
}

/** Our own words only: errors of the library carry the request with its headers. */
function failureOf(error: unknown, endedBy: 'deadline' | 'stopped' | undefined, maxBytes: number): TransportFailure {
  const { request, response, cause } = error as Partial<AxiosError>;
  // An agent gives a request its socket once that is connected and, with TLS, secured.
  const reached = (request as ClientRequest | undefined)?.socket ? 'unknown' : 'not-sent';
  if (endedBy !== undefined) return new TransportFailure(reached, endedBy);
  if (cause instanceof NotConnected && cause.proxyStatus !== undefined)
    return new TransportFailure('not-sent', 'proxy', `the tunnel, with status ${cause.proxyStatus}`);
  if (isTooLarge(error as Partial<AxiosError>)) return new TransportFailure('unknown', 'too-large', String(maxBytes));
  return new TransportFailure(reached, response === undefined ? 'connection' : 'cut', codeOf(error));
}

/** An answer that was cut has its status; one that was not read to its end because of its size is given without. */
function isTooLarge({ code, response }: Partial<AxiosError>): boolean {
  return code === AxiosError.ERR_BAD_RESPONSE && response === undefined;
}

function codeOf(error: unknown): string {
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
  if (cause instanceof NotConnected) return cause.systemCode;
  return typeof code === 'string' && /^[A-Z0-9_]+$/.test(code) ? code : '';
}
