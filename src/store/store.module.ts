import { Global, Module } from '@nestjs/common';
import { StoreLock } from '../api/open-store.port.js';
import { AppConfig } from '../config/app-config.js';
import { LiveConfig } from '../config/live-config.js';
import { ThisProcess } from '../config/this-process.js';
import { Encryptor } from '../core/encryptor.js';
import { Logger } from '../core/logger.js';
import { Opened } from '../platform/opened.js';
import { encryptorOf, openWithKeys } from './open-as-configured.js';
import { OpenStore, STORE_PORTS } from './store-ports.js';

/** Needs the lock, and the key needs the store, by coming after it alone. */
const PROVIDERS = [
  { provide: OpenStore, inject: [LiveConfig, ThisProcess, Logger, Opened, StoreLock], useFactory: openWithKeys },
  { provide: Encryptor, inject: [AppConfig, OpenStore], useFactory: encryptorOf },
  ...STORE_PORTS,
];

/**
 * The store, opened under its lock and brought up to date, by the port of each room; and the key that seals values in it.
 *
 * Not through `@nestjs/typeorm`: its module closes the data source in a hook, before `Opened` has closed the queue, whose last jobs still store;
 * it closes nothing when the start fails half-way; and the repositories that it injects pass by the gate of `Database` and its errors.
 */
@Global()
@Module({ providers: PROVIDERS, exports: [Encryptor, ...STORE_PORTS.map(({ provide }) => provide)] })
export class StoreModule {}
