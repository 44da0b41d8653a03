import { readFileSync, statSync } from 'node:fs';
import { Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { AppConfig, type ControlConfig } from '../config/app-config.js';
import { ThisProcess } from '../config/this-process.js';
import { listenAddress } from '../config/safe-address.js';
import { equalSecret } from '../core/equal-secret.js';
import { UserError } from '../core/errors.js';
import { Clock } from '../core/clock.js';
import { Logger } from '../core/logger.js';
import { SecurityLog } from '../core/security-log.js';
import type { Secret } from '../core/secret.js';
import { Metrics } from '../observability/metrics.js';
import { buildControlServer } from './control-server.js';
import { limitedFastify, type ServerCertificate } from '../platform/limited-fastify.js';
import type { Control } from './operations/index.js';
import { CurrentControl } from './current-control.js';
import { Readiness } from './readiness.js';
import { holdSocket, socketPath } from '../platform/hold-socket.js';
import { explainListenError } from '../platform/explain-listen-error.js';
import { METRICS_TYPE, scrape } from './scrape.js';

export interface AdminListeners {
  /** Where the control API and the metrics answer, for the start message. */
  readonly places: readonly string[];
  close(): Promise<void>;
}

/** Take the lock of an embedded store: the socket answers from the first moment, and the API is behind it once it is attached. */
export class ControlSocket {
  private server: FastifyInstance | null = null;

  constructor(readonly path: string) {}

  /** @throws UserError ALREADY_RUNNING */
  static async hold(config: ControlConfig, server: FastifyInstance): Promise<ControlSocket | null> {
    if (!config.socket) return null;
    const socket = new ControlSocket(socketPath(config.socket));
    await holdSocket(socket.path, (path) => server.listen({ path }));
    socket.server = server;
    return socket;
  }

  async close(): Promise<void> {
    await this.server?.close();
  }
}

interface MetricsServerOptions {
  /** Null while the bot starts or stops. */
  service: () => Control | null;
  readiness: Readiness;
  metrics: Metrics;
  logger: Logger;
  security: SecurityLog;
  /** What a reader of /metrics must show; null = nothing, on this machine only. */
  token: Secret | null;
}

interface AdminListenersOptions extends Omit<MetricsServerOptions, 'token'> {
  control: ControlConfig;
  metricsAt: AppConfig['metrics'];
  now: () => Date;
}

/** The control API on TCP and the metrics on an address of their own; never on the webhook port. */
export async function startAdminListeners(options: AdminListenersOptions): Promise<AdminListeners> {
  const { control, service, metrics, logger, security, now } = options;
  const servers: FastifyInstance[] = [];
  const places: string[] = [];
  const close = async (): Promise<void> => void (await Promise.all(servers.map((server) => server.close())));
  const open = async (server: FastifyInstance, what: string, address: string): Promise<void> => {
    servers.push(server);
    try {
      places.push(`${what} ${await server.listen(listenAddress(address))}`);
    } catch (error) {
      // One that listens already would keep the process alive after a start that failed.
      await close();
      throw explainListenError(error, what, address, `${what}.listen`);
    }
  };
  if (control.listen && control.token) {
    const { port } = listenAddress(control.listen);
    const hosts = [control.listen, `localhost:${port}`, `127.0.0.1:${port}`].map((host) => host.toLowerCase());
    const tls = readCertificate(control);
    await open(
      buildControlServer({ service, metrics, logger, security, now, place: 'tcp', token: control.token, hosts, tls }),
      'control',
      control.listen,
    );
  }
  const { metricsAt } = options;
  if (metricsAt) await open(metricsServer({ ...options, token: metricsAt.token }), 'metrics', metricsAt.listen);
  return { places, close };
}

/** The listeners of a running bot: open before a forge is asked anything, closed when the loops have ended. */
@Injectable()
export class AdminListening implements OnModuleInit, BeforeApplicationShutdown {
  private listeners: AdminListeners | null = null;

  constructor(
    private readonly self: ThisProcess,
    private readonly config: AppConfig,
    private readonly control: CurrentControl,
    private readonly readiness: Readiness,
    private readonly metrics: Metrics,
    private readonly security: SecurityLog,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  async onModuleInit(): Promise<void> {
    if (this.self.serves === 'command') return;
    this.listeners = await startAdminListeners({
      control: this.config.control,
      metricsAt: this.config.metrics,
      service: () => this.control.service,
      now: () => this.clock.now(),
      readiness: this.readiness,
      metrics: this.metrics,
      security: this.security,
      logger: this.logger,
    });
    this.self.places.push(...this.listeners.places);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.listeners?.close();
  }
}

/** @throws UserError when a file cannot be read, or everybody on this machine can read the key */
function readCertificate({ tls }: ControlConfig): ServerCertificate | null {
  if (!tls) return null;
  const read = (file: string): string => {
    try {
      return readFileSync(file, 'utf8');
    } catch (error) {
      throw new UserError(
        'CONTROL_TLS_FILE',
        `control.tls: ${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unreadable'})`,
      );
    }
  };
  const certificate = { cert: read(tls.certFile), key: read(tls.keyFile) };
  // The group may have a reason: certificates are often kept for several services. Windows has no such mode bits.
  if (process.platform !== 'win32' && (statSync(tls.keyFile).mode & 0o007) !== 0)
    throw new UserError(
      'CONTROL_TLS_KEY_OPEN',
      `control.tls: ${tls.keyFile} can be read by everybody on this machine: run chmod o= on it`,
    );
  return certificate;
}

/** Also answers liveness and readiness, for roles without a webhook endpoint. */
function metricsServer({
  service,
  metrics,
  logger,
  security,
  readiness,
  token,
}: MetricsServerOptions): FastifyInstance {
  const server = limitedFastify('metrics');
  // Nothing is sent to it.
  server.removeAllContentTypeParsers();
  server.get('/healthz', () => ({ status: 'ok' }));
  server.get('/readyz', async (_request, reply) => {
    const missing = await readiness.missing();
    return missing.length === 0 ? { status: 'ready' } : reply.code(503).send({ status: 'not ready', missing });
  });
  server.get('/metrics', async (request, reply) => {
    const { authorization } = request.headers;
    // A role that was not given the token answers nobody, and cannot tell who is wrong.
    if (token && (token.isWithheld || !equalSecret(authorization ?? '', `Bearer ${token.reveal()}`))) {
      const reason = authorization === undefined ? 'no_token' : 'wrong_token';
      if (!token.isWithheld)
        security.record({
          class: 'authentication_failed',
          place: 'metrics',
          reason,
          address: request.socket.remoteAddress,
        });
      return reply
        .code(401)
        .header('www-authenticate', 'Bearer')
        .send({ error: 'UNAUTHORIZED', message: 'the metrics token is missing or wrong' });
    }
    return reply.type(METRICS_TYPE).send(await scrape(service(), metrics, logger));
  });
  return server;
}
