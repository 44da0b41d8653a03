import { Global, Module, type DynamicModule } from '@nestjs/common';
import { Clock, systemClock } from '../core/clock.js';
import { Logger } from '../core/logger.js';
import { Opened } from '../platform/opened.js';
import { formatProblem } from '../core/problem.js';
import { Random, systemRandom } from '../core/random.js';
import { AppConfig } from './app-config.js';
import { LiveConfig, orgLabels } from './live-config.js';
import { ThisProcess } from './this-process.js';

export interface Given {
  readonly config: AppConfig;
  readonly process: ThisProcess;
  readonly logger: Logger;
  readonly opened: Opened;
}

/** Log lines name an organization as people are shown it. */
function withLabels(logger: Logger, labelOf: (org: string) => string): Logger {
  const at =
    (level: keyof Logger): Logger['info'] =>
    (facts, message) =>
      logger[level](typeof facts['org'] === 'string' ? { ...facts, org: labelOf(facts['org']) } : facts, message);
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** The operator's file, of which a reload changes the organizations, and what else every room is given. */
@Global()
@Module({})
export class ConfigModule {
  constructor({ warnings }: AppConfig, logger: Logger) {
    for (const warning of warnings) {
      const { file, line, col } = warning;
      logger.warn({ file, line, col, problem: formatProblem(warning) }, 'config.warning');
    }
  }

  static of({ config, process, logger, opened }: Given): DynamicModule {
    return {
      module: ConfigModule,
      providers: [
        { provide: LiveConfig, useValue: new LiveConfig(config) },
        { provide: AppConfig, useExisting: LiveConfig },
        { provide: ThisProcess, useValue: process },
        { provide: Clock, useValue: systemClock },
        { provide: Random, useValue: systemRandom },
        {
          provide: Logger,
          inject: [LiveConfig],
          useFactory: (live: LiveConfig) => withLabels(logger, orgLabels(live)),
        },
        { provide: Opened, useValue: opened },
      ],
      exports: [AppConfig, LiveConfig, ThisProcess, Clock, Random, Logger, Opened],
    };
  }
}
