import { z } from 'zod';
import { TOPICS, type Topic } from '../pipeline/wake-queue.port.js';

/** With the longest ids and names, a text stays below the 8,000 bytes that PostgreSQL allows. */
const IDS_IN_TEXT = 75;
const id = z.string().min(1).max(80);

const message = z.discriminatedUnion('does', [
  z.strictObject({
    from: id,
    does: z.literal('wake'),
    topic: z.enum(TOPICS),
    org: z.string().max(300),
    ids: z.array(id).max(IDS_IN_TEXT),
    isKept: z.boolean(),
  }),
  z.strictObject({ from: id, does: z.literal('listen'), proof: id }),
  z.strictObject({ from: id, does: z.literal('leave') }),
]);

/**
 * What processes without Redis tell each other, each with its own name in `from`.
 *
 * `wake`: these ids are due; `isKept` = the sender handles them itself as soon as it has room. `listen`: the sender hears wake-ups from now on; by the
 * proof it knows its own text again. `leave`: it stops.
 */
export type Message = Readonly<z.infer<typeof message>>;
export type WakeUp = Extract<Message, { does: 'wake' }>;

export const textOf = (told: Message): string => JSON.stringify(told);

/** As many texts as the ids need. */
export function wakeUpTexts(
  wakeUp: Omit<WakeUp, 'does' | 'topic' | 'ids'> & { topic: Topic; ids: readonly string[] },
): string[] {
  const texts: string[] = [];
  for (let at = 0; at < wakeUp.ids.length; at += IDS_IN_TEXT)
    texts.push(textOf({ ...wakeUp, does: 'wake', ids: wakeUp.ids.slice(at, at + IDS_IN_TEXT) }));
  return texts;
}

/** Null = no message of ours: whoever may log in at the store may send anything. */
export function readMessage(text: string): Message | null {
  let told: unknown;
  try {
    told = JSON.parse(text);
  } catch {
    return null;
  }
  const read = message.safeParse(told);
  return read.success ? read.data : null;
}
