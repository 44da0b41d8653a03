import { isJsonObject } from '../core/json.js';
import type { Run } from '../journal/run.js';
import type { LookupAnswers } from '../rules/revision.js';

export type RecordedRun = Pick<Run, 'id' | 'rule' | 'lookups' | 'decidedAt' | 'state' | 'reason' | 'revisionId'>;

/** Answers of lookups as they were kept with a run; what cannot be read counts as not kept. */
export function answersOf({ lookups }: Pick<Run, 'lookups'>): LookupAnswers {
  const answers: Record<string, LookupAnswers[string]> = {};
  for (const [name, answer] of Object.entries(lookups)) {
    if (!isJsonObject(answer)) continue;
    if (answer['missing'] === true) answers[name] = { missing: true };
    else if (typeof answer['failed'] === 'string') answers[name] = { failed: answer['failed'] };
    else if ('value' in answer) answers[name] = { value: answer['value'] ?? null };
  }
  return answers;
}
