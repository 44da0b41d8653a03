import type { ForgeEvent } from '../../core/event.js';
import type { JsonObject } from '../../core/json.js';
import type { Run } from '../../core/run.js';
import type { Decision } from './plan-intents.js';

/**
 * Most decisions are that a rule does not want an event. Their runs keep no trace: event, revision and time are kept by reference, and whoever asks has
 * the rule evaluated again. A run keeps its trace where the rule read something, or knew whose effect the event is.
 */
export function mayLeaveOutTrace(
  { kind, mode }: Pick<Decision, 'kind' | 'mode'>,
  event: ForgeEvent | null,
  { verdict }: Pick<Decision['report'], 'verdict'>,
  lookups: JsonObject,
): boolean {
  const isOfEvent = event !== null && (event.byRule ?? null) === null;
  return (
    verdict === 'not-fired' && kind === 'rule' && mode !== 'shadow' && isOfEvent && Object.keys(lookups).length === 0
  );
}

/** Whether the trace of a run is to be derived. */
export function lacksTrace({ kind, state, trace, cause }: Pick<Run, 'kind' | 'state' | 'trace' | 'cause'>): boolean {
  return kind === 'rule' && state === 'not-fired' && trace === null && cause.kind === 'event';
}
