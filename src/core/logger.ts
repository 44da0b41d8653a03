/** Fixed message, facts as fields, the same keys everywhere (deliveryId, eventId, rule, action, runId, attempt, durationMs). */
export abstract class Logger {
  abstract debug(facts: Readonly<Record<string, unknown>>, message: string): void;
  abstract info(facts: Readonly<Record<string, unknown>>, message: string): void;
  abstract warn(facts: Readonly<Record<string, unknown>>, message: string): void;
  abstract error(facts: Readonly<Record<string, unknown>>, message: string): void;
}

export const silentLogger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} } satisfies Logger;
