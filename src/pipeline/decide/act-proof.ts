import { ForgeError } from '../../core/errors.js';
import type { EventActor, ForgeEvent } from '../../core/event.js';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.js';
import type { Rests } from '../../rules/language/revision.js';
import { PATIENCE_MS } from './answer-lookups.js';

/**
 * Why the forge does not confirm what a delivery says. `other_author`: somebody else did it. `other_text`: its words are others, or were
 * edited. `not_found`: there is no such comment, review or act, or it is of another time. `unreadable`: the forge, or the token, offers no read
 * that tells.
 */
export type ActCode = 'act.other_author' | 'act.other_text' | 'act.not_found' | 'act.unreadable';

/** What the forge says about an act that a delivery tells of. */
export type ActProof =
  /** `by`: the read that told. `actor` null: it happened, and the forge does not tell who did it. */
  | { readonly proven: true; readonly by: string; readonly actor: EventActor | null }
  | { readonly proven: false; readonly code: ActCode; readonly reason: string };

/** Asks the forge whether an event happened as a delivery says, and who did it. */
export interface ActProver {
  /**
   * @param people further people of the event that must be as the delivery says, as paths below `event`
   * @throws ForgeError when the forge cannot be asked now
   */
  prove(event: ForgeEvent, people?: readonly string[]): Promise<ActProof>;
}

/** Name under which the proof is kept with the lookups of a run; no rule can name a lookup so. */
export const ACT_LOOKUP = '@act';

export interface Judged {
  /** Whether the forge named who did it: the one whom the delivery names. */
  readonly namesActor: boolean;
  /** Null = go on. */
  readonly refusal: { readonly code: ActCode; readonly reason: string } | null;
  /** What is kept with the run. */
  readonly kept: JsonObject;
}

/**
 * What the forge says, or that it could not be asked for a day, so that nothing waits for ever.
 * @param waitedMs since it was to be asked first
 * @throws ForgeError while the forge cannot be asked
 */
export async function proveWithin(
  prover: ActProver,
  event: ForgeEvent,
  people: readonly string[],
  waitedMs: number,
): Promise<ActProof> {
  try {
    return await prover.prove(event, people);
  } catch (error) {
    if (!(error instanceof ForgeError) || waitedMs < PATIENCE_MS) throw error;
    return {
      proven: false,
      code: 'act.unreadable',
      reason: `the forge could not be asked for a day: ${error.message}`,
    };
  }
}

/**
 * Whether a decision may rest on what a delivery says.
 * @param waitedMs since the event was stored
 * @throws ForgeError while the forge cannot be asked
 */
export async function judgeAct(prover: ActProver, event: ForgeEvent, rests: Rests, waitedMs: number): Promise<Judged> {
  const proof = await proveWithin(prover, event, rests.people, waitedMs);
  const judged: ActProof =
    proof.proven && proof.actor === null && rests.on === 'actor'
      ? { proven: false, code: 'act.unreadable', reason: `the forge does not say who did it (${proof.by})` }
      : proof;
  const refusal = judged.proven ? null : { code: judged.code, reason: judged.reason };
  return { namesActor: judged.proven && judged.actor !== null, refusal, kept: { value: { ...judged } as JsonObject } };
}

/** The trace of a run with the refusal as fields, so that nobody has to read the sentence. */
export function withRefusal(trace: Json, { code, reason }: NonNullable<Judged['refusal']>): JsonObject {
  return { ...(isJsonObject(trace) ? trace : {}), refused: { code, reason } };
}
