import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { ownerCaller } from './api/control-access.js';
import { ControlServer } from './api/control-server.js';
import { CurrentControl } from './api/current-control.js';
import { AppModule } from './app.module.js';
import type { AppConfig, Role } from './config/app-config.js';
import { ThisProcess } from './config/this-process.js';
import { silentLogger, type Logger } from './core/logger.js';
import { Opened } from './platform/opened.js';
import { ConfigReload } from './housekeeping/reload/config-reload.js';
import type { Reloaded } from './housekeeping/reload/reload-report.js';
import { NestLogAdapter } from './observability/logger.js';
import { webhookAdapter } from './webhooks/webhook-adapter.js';

export interface StartOptions {
  role: Role;
  logger: Logger;
  /** The disk did not confirm a write: end the process before anything else is done. Optional: without it, the store answers nothing more. */
  onFlushFailed?: ThisProcess['onFlushFailed'];
}

export interface RunningBot extends Readonly<Pick<ThisProcess, 'webhookUrl' | 'places' | 'consoleUrl'>> {
  /** A link that logs one browser in to the Console of this process, as its owner; a secret. Null = it serves none. */
  consoleLink(): Promise<string | null>;
  /** Read the config files again and follow the organizations in them. @throws as `ConfigReload.here` */
  reload(): Promise<Reloaded>;
  /** Stop taking, finish what runs, close everything. Safe to call twice. */
  close(): Promise<void>;
}

/** Start the bot in this process. @throws UserError, InvalidFile, StoreUnavailable with what to do about it */
export async function startBot(config: AppConfig, { role, logger, onFlushFailed }: StartOptions): Promise<RunningBot> {
  const self = new ThisProcess(role, 'bot', onFlushFailed);
  const { app, close } = await start(config, self, logger);
  const { webhookUrl, places, consoleUrl } = self;
  const consoleLink = async (): Promise<string | null> => {
    const { service } = app.get(CurrentControl);
    if (self.consoleUrl === null || !service) return null;
    return (await service.operations.consoleLink({}, ownerCaller('command'))).url;
  };
  const reload = (): Promise<Reloaded> => app.get(ConfigReload).here();
  return { webhookUrl, places, consoleUrl, consoleLink, reload, close };
}

/** The control API over the store for the time of one command, when no bot runs. */
export async function openControl(config: AppConfig): Promise<{ server: FastifyInstance; close: () => Promise<void> }> {
  const { app, close } = await start(config, new ThisProcess('worker', 'command'), silentLogger);
  // The one part that is looked up: the command asks this server as others ask the socket.
  return { server: app.get(ControlServer).instance, close };
}

/** What starts and stops when is said by the modules: `docs/architecture.md`, "Start and stop". */
async function start(config: AppConfig, self: ThisProcess, logger: Logger) {
  const opened = new Opened(logger);
  const close = (): Promise<void> => opened.close();
  try {
    const modules = await AppModule.of({ config, process: self, logger, opened });
    const options = { logger: new NestLogAdapter(logger), abortOnError: false };
    const made = await NestFactory.create<NestFastifyApplication>(modules, webhookAdapter(config.server), options);
    const app = await opened.keep(
      () => made,
      (running) => running.close(),
    );
    await app.init();
    return { app, close };
  } catch (error) {
    await close();
    throw error;
  }
}
