import { Global, Module } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { AppConfig } from '../config/app-config.js';
import { ThisProcess } from '../config/this-process.js';
import { Clock } from '../core/clock.js';
import { Logger } from '../core/logger.js';
import { Opened } from '../core/opened.js';
import { part, portToken } from '../core/part.js';
import { SecurityLog } from '../core/security-log.js';
import { Metrics } from '../observability/metrics.js';
import { AdminListening, ControlSocket } from './admin-listeners.js';
import { buildControlServer } from './control-server.js';
import type { Control } from './operations/index.js';
import { StoreHealth, STORE_LOCK } from './open-store.port.js';
import { BotReadiness, Readiness } from './readiness.js';

/** Who carries control orders out; null until the parts of the bot are made. The listeners answer before. */
export class CurrentControl {
  service: Control | null = null;
}

/** The control API of the socket, or of a command. */
export const CONTROL_SERVER = portToken<FastifyInstance>('ControlServer');

const PARTS = [
  part(CurrentControl, {}, () => new CurrentControl()),
  part(
    CONTROL_SERVER,
    {
      config: AppConfig,
      self: ThisProcess,
      control: CurrentControl,
      metrics: Metrics,
      security: SecurityLog,
      clock: Clock,
      logger: Logger,
    },
    ({ config, self, control, metrics, security, clock, logger }) =>
      buildControlServer({
        service: () => control.service,
        metrics,
        logger,
        security,
        now: () => clock.now(),
        place: self.serves === 'bot' ? 'socket' : 'command',
        token: config.control.token,
      }),
  ),
  part(
    STORE_LOCK,
    { config: AppConfig, self: ThisProcess, server: CONTROL_SERVER, opened: Opened },
    async ({ config, self, server, opened }) => {
      // The embedded store belongs to one process: a command is that process while it runs.
      if (self.serves === 'command' && config.store.kind !== 'embedded') return 'not needed';
      const socket = await opened.keep(
        () => ControlSocket.hold(config.control, server),
        (held) => held?.close(),
      );
      if (!socket) return 'not needed';
      self.places.push(`control ${socket.path}`);
      return 'held';
    },
  ),
  part(BotReadiness, { store: StoreHealth, clock: Clock }, ({ store, clock }) => new BotReadiness(store, clock)),
  part(Readiness, { readiness: BotReadiness }, ({ readiness }) => readiness),
  part(
    AdminListening,
    {
      config: AppConfig,
      self: ThisProcess,
      control: CurrentControl,
      readiness: Readiness,
      metrics: Metrics,
      security: SecurityLog,
      clock: Clock,
      logger: Logger,
    },
    ({ config, self, control, clock, ...deps }) =>
      new AdminListening(self, {
        control: config.control,
        metricsAt: config.metrics,
        service: () => control.service,
        now: () => clock.now(),
        ...deps,
      }),
  ),
];

/**
 * What answers people and supervisors while the bot starts and stops: the control socket, which is the lock of the store, the control API on TCP,
 * metrics and readiness. Global, so that it is up before any forge is asked and down after the last loop has ended.
 */
@Global()
@Module({ providers: PARTS, exports: [CurrentControl, CONTROL_SERVER, STORE_LOCK, BotReadiness, Readiness] })
export class ControlModule {}
