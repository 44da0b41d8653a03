import { lookups } from '../../actions/lookups/index.js';
import type { LookupAnswer, LookupReader, LookupScope } from '../../actions/lookups/lookup-reader.port.js';
import { canonicalJson } from '../../core/canonical-json.js';
import type { Clock } from '../../core/clock.js';
import { type Encryptor, isSealed } from '../../core/encryptor.js';
import { BotError, ForgeError } from '../../core/errors.js';
import { hashOf } from '../../core/ids.js';
import { type Json, type JsonObject, isJsonObject, parseJson, stringifyJson } from '../../core/json.js';
import { emptyTable } from '../../core/table.js';
import { combineAnswers } from '../../rules/language/propose/lookups.js';
import type { Evaluation, LookupAnswers, LookupRequest } from '../../rules/language/revision.js';
import { ACT_LOOKUP } from '../../core/told-acts.js';

/** More lookups than any rule file can name in its size; a guard against an evaluation that never decides. */
const MAX_LOOKUPS = 100;
/** A forge that cannot be asked for so long makes the decision an error, so that nothing waits for ever. */
export const PATIENCE_MS = 24 * 3_600_000;

export interface Decided {
  readonly evaluation: Extract<Evaluation, { kind: 'decided' }>;
  /** Answers by name, as they are kept with the run. */
  readonly lookups: JsonObject;
  /** Names of the lookups that were asked. */
  readonly uses: ReadonlySet<string>;
}

/**
 * Evaluate, read what is asked for, evaluate again with the answer, until it is decided.
 * @param since when the cause was stored
 * @throws ForgeError while the forge cannot be asked; the decision is to be made later
 */
export async function answerLookups(
  evaluate: (answers: LookupAnswers) => Evaluation | Promise<Evaluation>,
  { reader, scope, clock, since }: { reader: LookupReader; scope: LookupScope; clock: Clock; since: Date },
): Promise<Decided> {
  const answers: Record<string, LookupAnswer> = emptyTable();
  const asks = new Map<string, string>();
  const uses = new Set<string>();
  for (let round = 0; round <= MAX_LOOKUPS; round += 1) {
    const evaluation = await evaluate(answers);
    if (evaluation.kind === 'decided') return { evaluation, lookups: asRecord(answers, asks), uses };
    uses.add(evaluation.request.use);
    asks.set(evaluation.request.as, askKey(evaluation.request));
    answers[evaluation.request.as] = await readEach(evaluation.request, read);
  }
  throw new Error(`an evaluation asked for more than ${MAX_LOOKUPS} lookups`);

  async function read(request: LookupRequest): Promise<LookupAnswer> {
    try {
      return await reader.read(request, scope);
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      if (clock.now().getTime() - since.getTime() < PATIENCE_MS) throw error;
      return { failed: `the forge could not be asked for a day: ${error.message}` };
    }
  }
}

/** With `for_each` one read after another: a rule must not have the forge for itself. */
export async function readEach(
  request: LookupRequest,
  read: (request: LookupRequest) => Promise<LookupAnswer>,
): Promise<LookupAnswer> {
  const { each, ...single } = request;
  if (!each) return read(request);
  const parts: LookupAnswer[] = [];
  for (const params of each) {
    const part = await read({ ...single, params });
    parts.push(part);
    // The rest could not change the outcome any more.
    if ('failed' in part || ('missing' in part && request.onMissing === 'fail')) break;
  }
  const oldest = parts.flatMap(({ cachedAt }) => cachedAt ?? []).sort()[0];
  return { ...combineAnswers(request, parts, each.length), ...(oldest === undefined ? {} : { cachedAt: oldest }) };
}

/** Each answer with the key of its question, so that history can tell what it is an answer to. */
function asRecord(answers: Readonly<Record<string, LookupAnswer>>, asks: ReadonlyMap<string, string>): JsonObject {
  return Object.fromEntries(
    Object.entries(answers).map(([name, answer]) => [name, { ...answer, asked: asks.get(name) ?? null }]),
  );
}

/** What a lookup asks, whatever a rule calls it: equal keys about one repository are one question. Kept with each recorded answer. */
export function askKey({ use, params, each, first }: Pick<LookupRequest, 'use' | 'params' | 'each' | 'first'>): string {
  const bound = first === undefined ? [] : [`first ${first}`];
  return hashOf(use, canonicalJson(each ?? params), ...bound).slice(0, 32);
}

/** Whether answers to such questions may hold what not everybody may read who sees the run: text of a private repository, or what owners alone may read. */
export function isForOwnersAlone(uses: Iterable<string>): boolean {
  return [...uses].some((use) => lookups.get(use)?.privacy !== undefined);
}

/** A run with what it read, as far as it is kept. */
interface Reads {
  readonly lookups: JsonObject;
  /** Absent where the caller did not read it from the store. */
  readonly trace?: Json;
}

/**
 * Seals what a run read, where it may hold text of a private repository: each answer that has a value, and the trace, which shows what
 * expressions saw of it. Answers without a value (missing, failed) and the proof of who did it (`@act`) stay readable.
 */
export function sealReads<Recorded extends { readonly run: Required<Reads>; readonly readsPrivate?: boolean }>(
  recorded: Recorded,
  encryptor: Encryptor,
): Recorded {
  if (!recorded.readsPrivate) return recorded;
  const { lookups, trace } = recorded.run;
  const seal = (value: Json): Json => ({ ...encryptor.seal(stringifyJson(value)) });
  const sealed = Object.entries(lookups).map(([name, answer]): [string, Json] => [
    name,
    hasValue(answer) && name !== ACT_LOOKUP ? seal(answer) : answer,
  ]);
  return {
    ...recorded,
    run: { ...recorded.run, lookups: Object.fromEntries(sealed), trace: trace === null ? null : seal(trace) },
  };
}

/**
 * Opens what `sealReads` sealed. A value stays sealed where this process does not have its key. Runs that were stored before there was a
 * seal come back as they are.
 */
export function openReads<Run extends Reads>(run: Run, encryptor: Encryptor): Run {
  if (!hasSealedReads(run)) return run;
  const opened = Object.entries(run.lookups).map(([name, answer]): [string, Json] => [name, open(answer, encryptor)]);
  return {
    ...run,
    lookups: Object.fromEntries(opened),
    ...(run.trace === undefined ? {} : { trace: open(run.trace, encryptor) }),
  };
}

export function hasSealedReads({ lookups, trace }: Reads): boolean {
  return isSealed(trace) || Object.values(lookups).some(isSealed);
}

function open(value: Json, encryptor: Encryptor): Json {
  if (!isSealed(value)) return value;
  try {
    return parseJson(encryptor.unseal(value).reveal());
  } catch (error) {
    if (error instanceof BotError && ['SECRET_WITHHELD', 'SEAL_BROKEN'].includes(error.code)) return value;
    throw error;
  }
}

/** Whether anything that was asked was answered with a value. */
export function hasAnswers(lookups: JsonObject): boolean {
  return Object.values(lookups).some(hasValue);
}

function hasValue(answer: Json): boolean {
  return isJsonObject(answer) && 'value' in answer;
}
