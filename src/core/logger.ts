import { portToken } from './part.js';

/** Fixed message, facts as fields, the same keys everywhere (deliveryId, eventId, rule, action, runId, attempt, durationMs). */
export interface Logger {
  debug(facts: Readonly<Record<string, unknown>>, message: string): void;
  info(facts: Readonly<Record<string, unknown>>, message: string): void;
  warn(facts: Readonly<Record<string, unknown>>, message: string): void;
  error(facts: Readonly<Record<string, unknown>>, message: string): void;
}

export const LOGGER = portToken<Logger>('Logger');

export const silentLogger: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
