import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import tls, { type SecureContext } from 'node:tls';
import { HttpProxyAgent } from 'http-proxy-agent';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { UserError } from '../../core/errors.js';

export interface ConnectOptions {
  readonly baseUrl: string;
  /** PEM file of further authorities. */
  readonly caFile?: string | null | undefined;
  readonly proxy?: string | null | undefined;
  /** So many free connections are kept; default 4. */
  readonly concurrency?: number | undefined;
  /** How long a connection may take; default 10,000 ms. */
  readonly connectMs?: number | undefined;
}

interface AgentsOfCall {
  readonly httpAgent?: http.Agent;
  readonly httpsAgent?: http.Agent;
}

/** A free connection is closed after this: no server closes one so soon after an answer (common ones wait 5 s and more). */
const IDLE_MS = 1_000;
const CONNECT_MS = 10_000;

/** No connection came about: name, port, proxy or certificate. Nothing of a request was sent. */
export class NotConnected extends Error {
  readonly code = 'FORGE_NOT_CONNECTED';

  constructor(
    /** Code of the system's error, such as ECONNREFUSED; empty when it has none. */
    readonly systemCode: string,
    /** What a proxy answered in place of making the tunnel. */
    readonly proxyStatus?: number,
  ) {
    super(systemCode);
  }
}

/**
 * Who opens the connections of a call. A request gets its socket when that is connected and, with TLS, when the certificate was accepted:
 * a request without a socket was not sent. Through a proxy each call has its own agent, so that a proxy that never answers is let go with the call.
 * @throws UserError when the CA file cannot be read or holds no certificate
 */
export function agentsTo(options: ConnectOptions): (signal: AbortSignal) => AgentsOfCall {
  const { proxy, connectMs = CONNECT_MS } = options;
  const isSecure = new URL(options.baseUrl).protocol === 'https:';
  const trust = trustOf(options.caFile ?? null);
  if (proxy)
    return (signal) =>
      isSecure
        ? { httpsAgent: new TunnelAgent(proxy, signal, trust) }
        : { httpAgent: new HttpProxyAgent(proxy, { signal }) };
  const keep = {
    keepAlive: true,
    maxFreeSockets: options.concurrency ?? 4,
    scheduling: 'lifo',
    timeout: IDLE_MS,
  } as const;
  const agents = isSecure
    ? { httpsAgent: givingConnected(new https.Agent({ ...keep, ...trust }), 'secureConnect', connectMs) }
    : { httpAgent: givingConnected(new http.Agent(keep), 'connect', connectMs) };
  return () => agents;
}

class TunnelAgent extends HttpsProxyAgent<string> {
  constructor(
    proxy: string,
    signal: AbortSignal,
    private readonly trust: Trust,
  ) {
    super(proxy, { signal, ...trust });
  }

  override async connect(
    request: http.ClientRequest,
    options: Parameters<HttpsProxyAgent<string>['connect']>[1],
  ): Promise<Socket> {
    let proxyStatus = 0;
    this.once('proxyConnect', ({ statusCode }: { statusCode: number }) => void (proxyStatus = statusCode));
    const socket = await super
      .connect(request, { ...options, ...this.trust })
      .catch((error: unknown) => Promise.reject(notConnected(error)));
    if (proxyStatus !== 200) {
      socket.destroy();
      throw new NotConnected('', proxyStatus);
    }
    await new Promise<void>((resolve, reject) => {
      // The call's signal ends it.
      whenConnected(socket, 'secureConnect', (error) => (error ? reject(error) : resolve()));
    });
    return socket;
  }
}

/** The agent makes sockets as it did, and gives them later. */
function givingConnected<Kind extends http.Agent>(agent: Kind, event: string, connectMs: number): Kind {
  const open = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const socket = open(options) as Socket;
    const timer = setTimeout(() => socket.destroy(timedOut()), connectMs);
    whenConnected(socket, event, (error) => {
      clearTimeout(timer);
      callback?.(error, socket);
    });
    return undefined;
  };
  return agent;
}

function whenConnected(socket: Socket, event: string, done: (error: NotConnected | null) => void): void {
  const connected = (): void => settle(null);
  const failed = (error?: unknown): void => settle(notConnected(error));
  function settle(error: NotConnected | null): void {
    socket.off(event, connected).off('close', failed);
    // One that failed has no reader of its later errors.
    if (error === null) socket.off('error', failed);
    done(error);
  }
  socket.once(event, connected).once('error', failed).once('close', failed);
}

function timedOut(): Error {
  return Object.assign(new Error('connect'), { code: 'ETIMEDOUT' });
}

function notConnected(error: unknown): NotConnected {
  const code = (error as { code?: unknown } | undefined)?.code;
  return new NotConnected(typeof code === 'string' && /^[A-Z0-9_]+$/.test(code) ? code : '');
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
