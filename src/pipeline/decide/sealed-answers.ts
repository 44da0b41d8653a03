import { BotError } from '../../core/errors.js';
import { isJsonObject, parseJson, stringifyJson, type Json, type JsonObject } from '../../core/json.js';
import { ACT_LOOKUP } from './act-proof.js';
import { isSealed, type Encryptor } from '../../core/encryptor.js';

/** Lookups that answer for a whole organization or account: the answer may hold text of any repository, also of a private one. */
const OF_ANY_REPOSITORY: ReadonlySet<string> = new Set(['feed.list', 'jobs.mine', 'package.get']);

/** Whether answers to such questions may hold text of a private repository, although the run is about a public one or about none. */
export function tellsOfAnyRepository(uses: Iterable<string>): boolean {
  return [...uses].some((use) => OF_ANY_REPOSITORY.has(use));
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
