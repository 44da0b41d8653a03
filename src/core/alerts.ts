import { portToken } from './part.js';

/** Something a person should look at. One alert per key, not a thousand. */
export interface Alerts {
  /**
   * @param key the code of the alert, then where, without ids that change (`poller.stuck/main/acme`); equal keys are told once until `resolve`
   * @param message for people; programs read the code and `facts`
   */
  raise(key: string, message: string, facts?: Readonly<Record<string, string | number | boolean | null>>): void;
  resolve(key: string): void;
}

export const ALERTS = portToken<Alerts>('Alerts');
