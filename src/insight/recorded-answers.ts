import { isJsonObject } from '../core/json.js';
import type { Json, JsonObject } from '../core/json.js';
import { askKey } from '../pipeline/decide/answer-lookups.js';
import type { LookupAnswer } from '../actions/lookups/lookup-reader.port.js';
import type { Run } from '../core/run.js';
import type { LookupAnswers, LookupRequest } from '../rules/language/revision.js';
import { emptyTable } from '../core/table.js';

export type RecordedRun = Pick<Run, 'id' | 'rule' | 'lookups' | 'decidedAt' | 'state' | 'reason' | 'revisionId'>;

/** Answers of lookups as they were kept with a run; what cannot be read counts as not kept. */
export function answersOf({ lookups }: Pick<Run, 'lookups'>): LookupAnswers {
  const answers: Record<string, LookupAnswers[string]> = emptyTable();
  for (const [name, stored] of Object.entries(lookups)) {
    const answer = readAnswer(stored);
    if (answer) answers[name] = answer;
  }
  return answers;
}

function readAnswer(stored: Json): LookupAnswer | null {
  if (!isJsonObject(stored)) return null;
  if (stored['missing'] === true) return { missing: true };
  if (typeof stored['failed'] === 'string')
    return { failed: stored['failed'], ...(stored['notOffered'] === true ? { notOffered: true as const } : {}) };
  return 'value' in stored ? { value: stored['value'] ?? null } : null;
}

/**
 * What history holds about one event: answers by what was asked, whichever rule asked it. A rule's own answer comes before those of others.
 * An answer that does not say what it was asked answers nothing.
 */
export class AnswersOfEvent {
  readonly #byAsk = new Map<string, LookupAnswer>();
  readonly #byRule = new Map<string, Map<string, LookupAnswer>>();

  /** @param runs in the order in which they were recorded: a later answer stands for an earlier one */
  constructor(runs: ReadonlyArray<{ readonly rule: string; readonly lookups: JsonObject }>) {
    for (const { rule, lookups } of runs) for (const stored of Object.values(lookups)) this.#add(rule, stored);
  }

  /** Null = history does not hold it. */
  find(rule: string, request: Pick<LookupRequest, 'use' | 'params' | 'each'>): LookupAnswer | null {
    const key = askKey(request);
    return this.#byRule.get(rule)?.get(key) ?? this.#byAsk.get(key) ?? null;
  }

  #add(rule: string, stored: Json): void {
    const answer = readAnswer(stored);
    const request = isJsonObject(stored) ? stored['asked'] : null;
    if (!answer || typeof request !== 'string') return;
    this.#byAsk.set(request, answer);
    let own = this.#byRule.get(rule);
    if (!own) this.#byRule.set(rule, (own = new Map()));
    own.set(request, answer);
  }
}
