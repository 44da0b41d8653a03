import { AbstractLogger, type LogLevel, type LogMessage } from 'typeorm';
import type { Logger } from '../core/logger.js';

/**
 * What TypeORM has to say goes where ours goes, at the level for those who look for a cause: what fails comes as an error as well, and its
 * own words on the console would stand before ours.
 */
export class OrmLogger extends AbstractLogger {
  constructor(private readonly logger: Logger) {
    super(false);
  }

  protected override writeLog(
    _level: LogLevel,
    message: LogMessage | string | number | Array<LogMessage | string | number>,
  ): void {
    for (const one of [message].flat())
      this.logger.debug({ reason: String(typeof one === 'object' ? one.message : one) }, 'store.orm');
  }
}
