import type { LoggerService } from '@nestjs/common';
import { pino } from 'pino';
import type { Logger as Pino } from 'pino';
import { BotError } from '../core/errors.js';
import type { Logger } from '../core/logger.js';
import { visibleJson } from '../core/visible.js';
import { forReader } from './people-log.js';

/**
 * JSON lines on the given stream; on a terminal, lines for people. Errors are reduced to code, message and context: a raw error may carry a request or a
 * query with its parameters. What a terminal obeys is escaped, as JSON allows.
 */
export function createLogger(level: string, destination: NodeJS.WritableStream = process.stdout): Pino {
  return pino(
    {
      level,
      base: { app: 'forgehand' },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError, error: describeError },
      hooks: { streamWrite: visibleJson },
    },
    forReader(destination),
  );
}

/** What a log line may say about an error. */
function describeError(error: unknown): Record<string, unknown> {
  if (error instanceof BotError) return { code: error.code, message: error.message, ...error.context };
  if (error instanceof Error) {
    const code = (error as NodeJS.ErrnoException).code;
    return { name: error.name, message: error.message, ...(code ? { code } : {}) };
  }
  return { message: String(error) };
}

/** Nest's own messages in the same form. */
export class NestLogAdapter implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, context?: string): void {
    this.logger.debug({ context, message: String(message) }, 'framework.message');
  }

  warn(message: unknown, context?: string): void {
    this.logger.warn({ context, message: String(message) }, 'framework.message');
  }

  error(message: unknown, _stack?: string, context?: string): void {
    // A start that fails: whoever asked for it is given the error, and tells it.
    if (context === 'ExceptionHandler') return;
    this.logger.error({ context, message: String(message) }, 'framework.message');
  }

  debug(message: unknown, context?: string): void {
    this.logger.debug({ context, message: String(message) }, 'framework.message');
  }
}
