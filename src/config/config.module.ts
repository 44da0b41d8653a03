import { Global, Module, type DynamicModule } from '@nestjs/common';
import { CLOCK, type Clock } from '../core/clock.js';
import type { FlushFailed } from '../core/flush.js';
import { LOGGER, type Logger } from '../core/logger.js';
import { part, portToken } from '../core/part.js';
import { Encryptor } from '../core/encryptor.js';
import type { AppConfig, Role } from './app-config.js';
import { keyBesideData } from './data-key.js';

/** What a process knows of itself when it starts. */
export interface ThisProcess {
  readonly role: Role;
  readonly startedAt: Date;
  /** The disk did not confirm a write: ends the process, if it is one of the bot. */
  readonly onFlushFailed: (error: FlushFailed) => void;
}

export const APP_CONFIG = portToken<AppConfig>('AppConfig');
export const THIS_PROCESS = portToken<ThisProcess>('ThisProcess');

export interface Given {
  readonly config: AppConfig;
  readonly process: ThisProcess;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The operator's file, frozen, and what else every room is given. */
@Global()
@Module({})
export class ConfigModule {
  static of({ config, process, clock, logger }: Given): DynamicModule {
    return {
      module: ConfigModule,
      providers: [
        { provide: APP_CONFIG, useValue: config },
        { provide: THIS_PROCESS, useValue: process },
        { provide: CLOCK, useValue: clock },
        { provide: LOGGER, useValue: logger },
        part(Encryptor, { config: APP_CONFIG }, ({ config }) => encryptorOf(config)),
      ],
      exports: [APP_CONFIG, THIS_PROCESS, CLOCK, LOGGER, Encryptor],
    };
  }
}

function encryptorOf({ keys, store }: AppConfig): Encryptor {
  if (keys.data) return new Encryptor(keys.data);
  // readConfig demands keys.data with PostgreSQL.
  if (store.kind !== 'embedded') throw new Error('keys.data is missing');
  return new Encryptor(keyBesideData(store.dir));
}
