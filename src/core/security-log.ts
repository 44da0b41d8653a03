/** Classes of security events. Each class has its own rate limit and its own alert. */
export const SECURITY_CLASSES = [
  'authentication_failed',
  'tenant_mismatch',
  'act_too_old',
  'power_refused',
  'unknown_operator',
] as const;
export type SecurityClass = (typeof SECURITY_CLASSES)[number];

/** One refused act. Facts are plain strings and numbers, never a secret or a body; the log escapes them and cuts them short. */
export interface SecurityEvent {
  readonly class: SecurityClass;
  /** The configured organization that is concerned. Without it, the event concerns the whole bot. */
  readonly org?: string | undefined;
  readonly [fact: string]: string | number | undefined;
}

/** Keeps evidence of attacks: one log line for each event, and a count in place of the lines beyond a rate. */
export abstract class SecurityLog {
  /** Never throws and never waits, so that an attack does not slow down the request that reports it. */
  abstract record(event: SecurityEvent): void;
}

export const silentSecurityLog: SecurityLog = { record: () => {} };
