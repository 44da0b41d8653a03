import { isJsonObject } from '../core/json.js';
import type { Json } from '../core/json.js';
import { withReasonText } from '../core/reason.js';
import type { Attempt, Intent, Run } from '../core/run.js';
import { hasSealedReads } from '../pipeline/decide/answer-lookups.js';
import { isSealed } from '../core/encryptor.js';
import type { AboutRun } from './about-run.js';
import { lookOfStep } from './explain-for-event.js';
import type {
  EventFacts,
  ExplainedIntent,
  ExplainedLookup,
  Look,
  Place,
  RevisionFacts,
  RunExplanation,
} from './explanation.js';
import type { SourceText } from './source-text.js';
import { readTrace } from './read-trace.js';
import type { ReadTrace } from './read-trace.js';
import { shortAnswer, shortJson } from './short-json.js';

interface StoredRun {
  readonly run: Run;
  readonly intents: ReadonlyArray<{ readonly intent: Intent; readonly attempts: readonly Attempt[] }>;
  readonly event: EventFacts | null;
  readonly context: AboutRun;
  readonly revision: RevisionFacts;
  /** A place with its line. */
  readonly lineAt: (place: Place) => Look;
  /** The rule around a place; null = it is not kept, or not for this caller. `place` null = what the run kept names none. */
  readonly source: (place: Place | null) => SourceText | null;
  readonly intentId: string | null;
  readonly notes: readonly string[];
  /** Answers and results are not cut. */
  readonly isFull: boolean;
}

/** What a run decided and what came of it, from what was stored with it. Pure. */
export function explainRun({
  run,
  intents,
  event,
  context,
  revision,
  lineAt,
  source,
  intentId,
  notes,
  isFull,
}: StoredRun): RunExplanation {
  const { trace, lookups: _lookups, runKey: _runKey, forge: _forge, ...facts } = run;
  const read = run.kind === 'rule' && !isSealed(trace) ? readTrace(trace) : readTrace(null);
  const look = lookOf(run, read, intents.length);
  return {
    about: 'run',
    run: withReasonText(facts),
    context,
    intentId,
    event,
    revision,
    place: read.place,
    look: look && lineAt(look),
    conditions: read.conditions,
    steps: read.steps,
    sections: run.kind === 'policy' && isJsonObject(trace) && !isSealed(trace) ? trace : null,
    lookups: explainLookups(run, isFull),
    source: source(read.place),
    intents: intents.map(({ intent, attempts }) => explainIntent(intent, attempts, isFull)),
    notes: [...notes, ...notesOnSeal(run)],
  };
}

/** Answers as they were kept with the run, with the lookups they came from. */
export function explainLookups({ lookups, trace }: Pick<Run, 'lookups' | 'trace'>, isFull: boolean): ExplainedLookup[] {
  const { reads } = readTrace(trace);
  return Object.entries(lookups).map(([name, answer]) => ({
    name,
    use: typeof reads[name] === 'string' ? reads[name] : null,
    answer: shortAnswer(answer, isFull),
  }));
}

/** Says that the explanation lacks what is sealed, and who sees it. */
export function notesOnSeal(run: Pick<Run, 'lookups' | 'trace'>): string[] {
  return hasSealedReads(run)
    ? [
        'what the run read is sealed: owners of the organization and the owner of the host see it, in a process with the keys.data of that time',
      ]
    : [];
}

/** Nothing has to be looked at where something was wanted. */
function lookOf({ state }: Run, { conditions, steps, failed }: ReadTrace, intents: number): Place | null {
  if (intents > 0) return null;
  if (state === 'not-fired') return conditions.find((condition) => condition.state === 'false')?.look ?? null;
  if (state === 'error') return conditions.find((condition) => condition.state === 'error')?.look ?? failed;
  const idle = steps.find(({ held }) => held);
  return idle ? lookOfStep(idle) : null;
}

/** A map of lists, maps and nothing says nothing in one line. */
function isShown(result: Json | null | undefined): result is Json {
  if (result === null || result === undefined) return false;
  return !isJsonObject(result) || Object.values(result).some((value) => value !== null && typeof value !== 'object');
}

function explainIntent(
  { id, action, itemKey, effectKey, mode, state, reason, result }: Intent,
  attempts: readonly Attempt[],
  isFull: boolean,
): ExplainedIntent {
  return {
    ...withReasonText({ id, action, itemKey, effectKey, mode, state, reason }),
    result: isShown(result) ? shortJson(result, isFull) : null,
    attempts: attempts.map(({ n, operation, sentAt, answeredAt, outcome, status, message }) => ({
      n,
      operation,
      sentAt,
      answeredAt,
      outcome,
      status,
      message,
    })),
  };
}
