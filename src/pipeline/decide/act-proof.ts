import { ForgeError } from '../../core/errors.js';
import { isClaimed } from '../../core/event-knowledge.js';
import type { EventActor, ForgeEvent } from '../../core/event.js';
import { ACT_LOOKUP, type TOLD_BEFORE } from '../../core/told-acts.js';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.js';
import { textOf } from '../../core/reason.js';
import { withNote } from '../../core/run-reasons.js';
import type { Report, Rests } from '../../rules/language/revision.js';
import { PATIENCE_MS } from './answer-lookups.js';
import type { DecidedReport } from './plan-intents.js';

/**
 * Why the forge does not confirm what a delivery says. `other_author`: somebody else did it. `other_text`: its words are others, or were
 * edited. `not_found`: there is no such comment, review or act, or it is of another time. `gone`: there is none any more, and an event told its deletion. `unreadable`: the forge, or the token, offers no read
 * that tells. `newer`: what the rule reads is otherwise now than the delivery says. `told_before`: another event told the same act, and the rule acted upon that.
 */
export type ActCode =
  | 'act.other_author'
  | 'act.other_text'
  | 'act.not_found'
  | 'act.unreadable'
  | typeof GONE
  | typeof NEWER
  | typeof TOLD_BEFORE;
export const NEWER = 'act.newer';
export const GONE = 'act.gone';

/** What the forge says about an act that a delivery tells of. */
export type ActProof =
  /** `actor` null: it happened, and the forge does not tell who did it. */
  | {
      readonly proven: true;
      /** The read that told. */
      readonly by: string;
      readonly actor: EventActor | null;
      /** The event as the forge says it, as far as it was to be read. */
      readonly event: ForgeEvent;
      /** Paths below `event` whose value is another one than the delivery says. */
      readonly newer: readonly string[];
      /** Names of the entries of the forge that show the act; what a rule did upon one event, it does upon no other that stands on them. */
      readonly acts: readonly string[];
    }
  | { readonly proven: false; readonly code: ActCode; readonly reason: string };

/** Asks the forge whether an event happened as a delivery says, and who did it. */
export interface ActProver {
  /**
   * @param reads what is read of the event beside who did it, as paths below `event`; empty path = all of it. Default: nothing
   * @param rule who is to act upon it: entries upon which it acted for another event prove nothing more to it. Default: nobody, and any entry proves
   * @throws ForgeError when the forge cannot be asked now
   */
  prove(event: ForgeEvent, reads?: readonly string[], rule?: string): Promise<ActProof>;
}

export interface Judged {
  /** Whether the forge named who did it: the one whom the delivery names. */
  readonly namesActor: boolean;
  /** Null = go on. */
  readonly refusal: { readonly code: ActCode; readonly reason: string } | null;
  /** The event to decide about: as the forge says it. */
  readonly event: ForgeEvent;
  /** What the forge shows otherwise than the delivery says; not empty = the decision is to be made anew. */
  readonly newer: readonly string[];
  /** What is kept with the run. Null = nothing: polling read the event. */
  readonly record: JsonObject | null;
  /** Entries of the forge that show the act. */
  readonly acts: readonly string[];
}

/**
 * What the forge says, or that it could not be asked for a day, so that nothing waits for ever.
 * @param waitedMs since it was to be asked first
 * @throws ForgeError while the forge cannot be asked
 */
export async function proveWithin(
  prover: ActProver,
  event: ForgeEvent,
  reads: readonly string[],
  waitedMs: number,
  rule?: string,
): Promise<ActProof> {
  try {
    return await prover.prove(event, reads, rule);
  } catch (error) {
    if (!(error instanceof ForgeError) || waitedMs < PATIENCE_MS) throw error;
    return unreadable(`the forge could not be asked for a day: ${error.message}`);
  }
}

/**
 * Whether a decision may rest on what a delivery says.
 * @param waitedMs since the event was stored
 * @throws ForgeError while the forge cannot be asked
 */
export async function judgeAct(
  prover: ActProver,
  event: ForgeEvent,
  rests: Rests,
  waitedMs: number,
  rule: string,
): Promise<Judged> {
  const proof = await proveWithin(prover, event, rests.reads, waitedMs, rule);
  const judged: ActProof =
    proof.proven && proof.actor === null && rests.on === 'actor' && isClaimed(event)
      ? unreadable(`the forge does not say who did it (${proof.by})`)
      : proof;
  if (!judged.proven) {
    const { code, reason } = judged;
    return {
      namesActor: false,
      refusal: { code, reason },
      event,
      newer: [],
      record: { value: { ...judged } },
      acts: [],
    };
  }
  const { by, actor, newer, acts, event: confirmed } = judged;
  const value = { proven: true, by, actor: actor && { ...actor }, ...(newer.length > 0 ? { newer: [...newer] } : {}) };
  const record = isClaimed(event) ? { value } : null;
  return { namesActor: actor !== null, refusal: null, event: confirmed, newer, record, acts };
}

function unreadable(reason: string): Extract<ActProof, { proven: false }> {
  return { proven: false, code: 'act.unreadable', reason };
}

/** What of an event was changed since its delivery, or never was as the delivery says. */
function tellNewer(newer: readonly string[]): string {
  return `the forge shows another value of ${newer.map((path) => (path === '' ? 'event' : `event.${path}`)).join(', ')} than the delivery`;
}

/** The trace of a run with the refusal as fields, so that nobody has to read the sentence. */
export function withRefusal(trace: Json, { code, reason }: Refusal): JsonObject {
  return { ...(isJsonObject(trace) ? trace : {}), refused: { code, reason } };
}

/** A rule that what the forge shows does not start is refused: only the delivery said what it asks for. */
export function afterReading(judged: Judged, report: Report | null): Judged {
  if (judged.refusal || report?.verdict === 'fired') return judged;
  const because = report ? textOf(report.reason) : 'on and where let it through no more';
  return { ...judged, refusal: { code: NEWER, reason: `${tellNewer(judged.newer)}; with that: ${because}` } };
}

export type Refusal = NonNullable<Judged['refusal']>;

export function isRefused(judged: Judged | null): judged is Judged & { readonly refusal: Refusal } {
  return judged !== null && judged.refusal !== null;
}

export function withProof(lookups: JsonObject, proof: Pick<Judged, 'record'> | null): JsonObject {
  return proof?.record ? { ...lookups, [ACT_LOOKUP]: proof.record } : lookups;
}

/** A decision by newer values than the delivery has says so. */
export function withWhatIsNewer(report: DecidedReport, newer: readonly string[]): DecidedReport {
  if (newer.length === 0) return report;
  const trace = { ...(isJsonObject(report.trace) ? report.trace : {}), read_anew: { code: NEWER, fields: [...newer] } };
  return { ...report, reason: withNote(report.reason, tellNewer(newer)), trace };
}
