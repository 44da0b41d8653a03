import { hashOf } from './ids.js';

/** In the words of OpenTelemetry, so that tools which know them join the lines of one delivery. */
export interface TraceFields {
  /** What caused it all: an event, an occurrence of a schedule, or a plan. */
  readonly trace_id: string;
  readonly span_id: string;
  readonly parent_span_id?: string;
}

/**
 * Where a log line stands between a delivery and the calls it led to. Made of ids that are stored anyway, so that every process says the same of one
 * event, and nothing more is kept.
 * @param causeId id of the event, tick or plan
 * @param spanOf id of what the line is about
 * @param within id of what that came of
 */
export function traceOf(causeId: string, spanOf: string, within?: string): TraceFields {
  return {
    trace_id: hashOf('trace', causeId).slice(0, 32),
    span_id: spanIdOf(spanOf),
    ...(within === undefined ? {} : { parent_span_id: spanIdOf(within) }),
  };
}

function spanIdOf(id: string): string {
  return hashOf('span', id).slice(0, 16);
}
