import { Global, Inject, Module, type DynamicModule } from '@nestjs/common';
import { Clock, systemClock } from '../core/clock.js';
import type { FlushFailed } from '../core/flush.js';
import { Logger } from '../core/logger.js';
import { Opened } from '../core/opened.js';
import { portToken } from '../core/part.js';
import { formatProblem } from '../core/problem.js';
import type { AppConfig, Role } from './app-config.js';

/** What a process knows of itself. */
export class ThisProcess {
  readonly startedAt = systemClock.now();
  /** Where it listens, for people: `control …`, `metrics …`, `webhooks …`. Grows while it starts. */
  readonly places: string[] = [];
  /** `http://host:port` of the webhook endpoint; null for roles without one, and until it listens. */
  webhookUrl: string | null = null;
  /** Where browsers reach the Console; null where this process does not serve it. */
  consoleUrl: string | null = null;

  /**
   * @param serves a running bot, or one command that opened the store itself
   * @param onFlushFailed the disk did not confirm a write: ends the process, if it is one of the bot
   */
  constructor(
    readonly role: Role,
    readonly serves: 'bot' | 'command',
    readonly onFlushFailed: (error: FlushFailed) => void = () => undefined,
  ) {}
}

export const APP_CONFIG = portToken<AppConfig>('AppConfig');
export const THIS_PROCESS = portToken<ThisProcess>('ThisProcess');

export interface Given {
  readonly config: AppConfig;
  readonly process: ThisProcess;
  readonly logger: Logger;
  readonly opened: Opened;
}

/** The operator's file, frozen, and what else every room is given. */
@Global()
@Module({})
export class ConfigModule {
  constructor(@Inject(APP_CONFIG) { warnings }: AppConfig, @Inject(Logger) logger: Logger) {
    for (const warning of warnings) {
      const { file, line, col } = warning;
      logger.warn({ file, line, col, problem: formatProblem(warning) }, 'config.warning');
    }
  }

  static of({ config, process, logger, opened }: Given): DynamicModule {
    return {
      module: ConfigModule,
      providers: [
        { provide: APP_CONFIG, useValue: config },
        { provide: THIS_PROCESS, useValue: process },
        { provide: Clock, useValue: systemClock },
        { provide: Logger, useValue: logger },
        { provide: Opened, useValue: opened },
      ],
      exports: [APP_CONFIG, THIS_PROCESS, Clock, Logger, Opened],
    };
  }
}
