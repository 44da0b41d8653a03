import { Global, Module } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import { ThisProcess } from '../config/this-process.js';
import { Opened } from '../platform/opened.js';
import { AdminListening, ControlSocket } from './admin-listeners.js';
import { ControlServer } from './control-server.js';
import { CurrentControl } from './current-control.js';
import { StoreLock } from './open-store.port.js';
import { BotReadiness, Readiness } from './readiness.js';

/** The embedded store belongs to one process: a command is that process while it runs. */
async function lockStore(
  config: AppConfig,
  self: ThisProcess,
  { instance }: ControlServer,
  opened: Opened,
): Promise<StoreLock> {
  if (self.serves === 'command' && config.store.kind !== 'embedded') return new StoreLock('not needed');
  const socket = await opened.keep(
    () => ControlSocket.hold(config.control, instance),
    (one) => one?.close(),
  );
  if (!socket) return new StoreLock('not needed');
  self.places.push(`control ${socket.path}`);
  return new StoreLock('held');
}

/**
 * What answers people and supervisors while the bot starts and stops: the control socket, which is the lock of the store, the control API on TCP,
 * metrics and readiness. Global, so that it is up before any forge is asked and down after the last loop has ended.
 */
@Global()
@Module({
  providers: [
    CurrentControl,
    ControlServer,
    { provide: StoreLock, inject: [AppConfig, ThisProcess, ControlServer, Opened], useFactory: lockStore },
    BotReadiness,
    { provide: Readiness, useExisting: BotReadiness },
    AdminListening,
  ],
  exports: [CurrentControl, ControlServer, StoreLock, BotReadiness, Readiness],
})
export class ControlModule {}
