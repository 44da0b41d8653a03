import { z } from 'zod';
import { maybeText, text } from '../core/schema.js';

/** An alert that was raised and not resolved, as people see it. */
export const openAlert = z.object({
  key: text,
  code: text,
  message: text,
  org: maybeText.describe('The organization that it names.'),
  at: z.coerce.date<string>(),
});
export type OpenAlert = Readonly<z.output<typeof openAlert>>;

/** When a process of the bot resolved the alerts of a key. */
export interface ResolvedAlert {
  readonly key: string;
  readonly at: Date;
}

/** What each process of the bot has raised and not resolved. */
export abstract class OpenAlertStore {
  /** Replaces what this process published before. */
  abstract publish(process: string, alerts: readonly OpenAlert[]): Promise<void>;
  /** Alerts of the processes that published within so many milliseconds, by the clock of the store. */
  abstract publishedWithin(ms: number): Promise<OpenAlert[]>;
  /** Tell the processes that published alerts of these keys. */
  abstract resolve(resolved: readonly ResolvedAlert[]): Promise<void>;
  /** Which of these keys were resolved, with the last time. */
  abstract resolved(keys: readonly string[]): Promise<ResolvedAlert[]>;
  /** Removes the processes that have not published for so long, and what was resolved before that. */
  abstract forget(ms: number): Promise<void>;
}
