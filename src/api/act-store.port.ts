import { z } from 'zod';
import { count, maybeText, maybeTime, text, time, type Shape } from '../core/schema.js';
/** What somebody did by an operation that takes more than the scope `read`. */
export const act = z.object({
  id: text,
  at: time,
  by: text.describe('The name of the caller.'),
  byKind: text.describe('What the caller is: a person, an operator, or whoever has the host.'),
  operation: text,
  org: maybeText.describe('Null = it concerned no organization alone.'),
  about: z
    .record(text, z.union([text, count, z.boolean()]))
    .describe('Fields of the input that say what it was about.'),
  reason: maybeText.describe('As the caller gave it.'),
  outcome: maybeText.describe(
    '`done`, `refused` (the answer says why), or the code of the error; null = under way, or the process ended meanwhile.',
  ),
  endedAt: maybeTime,
});
export type Act = Shape<typeof act>;

/** Acts of people, which `AuditStore` makes links of the audit chain when they have ended. */
export abstract class ActStore {
  /** Before it is carried out. */
  abstract begin(act: Omit<Act, 'at' | 'outcome' | 'endedAt'>): Promise<void>;
  /** Once: an act that has an outcome, or was sealed, keeps what it has. */
  abstract end(id: string, outcome: string): Promise<void>;
  /** Newest first. @param filter `org`: of this one; `before`: those before the act of this id */
  abstract list(filter: { readonly org?: string; readonly before?: string; readonly limit: number }): Promise<Act[]>;
  /** The organization of the intent, run, event, arrival or plan that has this whole id; null = nothing has it. */
  abstract orgOf(id: string): Promise<string | null>;
}
