import Fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import type { ControlConfig } from '../config/app-config.js';
import type { Logger } from '../core/logger.js';
import type { SecurityLog } from '../core/security-log.js';
import type { Metrics } from '../observability/metrics.js';
import { buildControlServer } from './control-server.js';
import type { ControlService } from './control-service.js';
import type { Readiness } from './health.controller.js';
import { holdSocket } from './hold-socket.js';
import { explainListenError, listenAddress } from './listen-address.js';
import { METRICS_TYPE, scrape } from './scrape.js';
import { socketPath } from './socket-path.js';

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

/** The control API on TCP and the metrics on an address of their own; never on the webhook port. */
export async function startAdminListeners(options: {
  control: ControlConfig;
  metricsListen: string | null;
  service: () => ControlService | null;
  readiness: Readiness;
  metrics: Metrics;
  logger: Logger;
  security: SecurityLog;
  now: () => Date;
}): Promise<AdminListeners> {
  const { control, service, metrics, logger, security, now } = options;
  const servers: FastifyInstance[] = [];
  const places: string[] = [];
  const open = async (server: FastifyInstance, what: string, address: string): Promise<void> => {
    servers.push(server);
    try {
      places.push(`${what} ${await server.listen(listenAddress(address))}`);
    } catch (error) {
      throw explainListenError(error, what, address);
    }
  };
  if (control.listen && control.token) {
    const { port } = listenAddress(control.listen);
    const hosts = [control.listen, `localhost:${port}`, `127.0.0.1:${port}`].map((host) => host.toLowerCase());
    await open(buildControlServer({ service, metrics, logger, security, now, place: 'tcp', token: control.token, hosts }), 'control', control.listen);
  }
  if (options.metricsListen) await open(metricsServer(service, metrics, logger, options.readiness), 'metrics', options.metricsListen);
  return { places, close: async () => void (await Promise.all(servers.map((server) => server.close()))) };
}

/** Also tells liveness and readiness, for roles without a webhook endpoint. */
function metricsServer(service: () => ControlService | null, metrics: Metrics, logger: Logger, readiness: Readiness): FastifyInstance {
  const server = Fastify({ logger: false });
  server.get('/healthz', () => ({ status: 'ok' }));
  server.get('/readyz', async (_request, reply) => {
    const missing = await readiness.missing();
    return missing.length === 0 ? { status: 'ready' } : reply.code(503).send({ status: 'not ready', missing });
  });
  server.get('/metrics', async (_request, reply) => reply.type(METRICS_TYPE).send(await scrape(service(), metrics, logger)));
  return server;
}
