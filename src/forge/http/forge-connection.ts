import type { Clock } from '../../core/clock.js';
import type { Secret } from '../../core/secret.js';

export type ForgeAuth =
  | { readonly type: 'token'; readonly token: Secret }
  | { readonly type: 'basic'; readonly username: string; readonly password: Secret };

/** The few calls of a logger that the client makes; pino fits. Facts never hold bodies, headers or addresses with credentials. */
interface ForgeLogger {
  debug(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

export interface ForgeClientOptions {
  /** Ends in /api/v1 (or whatever stands before the paths of the table); http or https, no user info. */
  readonly baseUrl: string;
  readonly auth: ForgeAuth;
  /** PEM file of further authorities to trust for this forge, beside the usual ones. */
  readonly caFile?: string | null | undefined;
  /** http:// or https:// address of a proxy, user info allowed; the environment's proxy settings are never used. */
  readonly proxy?: string | null | undefined;
  /** Calls at once; default 4. */
  readonly concurrency?: number | undefined;
  /** Calls begun per second; default 10. */
  readonly ratePerS?: number | undefined;
  /** Total time of one call in ms; default 30_000. */
  readonly deadlineMs?: number | undefined;
  readonly clock?: Clock | undefined;
  /** Pauses of this forge, told between processes; absent = this process keeps them to itself. */
  readonly pauses?: { tell(seconds: number): void; hear(listener: (seconds: number) => void): void } | undefined;
  readonly logger?: ForgeLogger | undefined;
}
