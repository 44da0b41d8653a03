import type { Json, JsonObject } from '../core/json.js';
import { isJsonObject } from '../core/json.js';
import type { ExplainedCondition, ExplainedLoop, ExplainedPart, ExplainedStep, Place } from './explanation.js';

export interface ReadTrace {
  /** Where the rule begins. */
  readonly place: Place | null;
  readonly conditions: readonly ExplainedCondition[];
  readonly steps: readonly ExplainedStep[];
  /** The lookup behind each name that was answered. */
  readonly reads: Readonly<Record<string, Json>>;
  /** Where a step, or the read it needs, could not be evaluated. */
  readonly failed: Place | null;
}

/** A rule's trace as it was stored, whatever version wrote it: what cannot be read is left out. */
export function readTrace(trace: Json): ReadTrace {
  const stored = isJsonObject(trace) ? trace : {};
  const place = readPlace(stored['at']);
  const file = place?.file ?? '?';
  return {
    place,
    conditions: objects(stored['conditions']).map((condition) => readCondition(condition, file)),
    steps: objects(stored['steps']).map((step) => readStep(step, file)),
    reads: isJsonObject(stored['reads']) ? stored['reads'] : {},
    failed: isJsonObject(stored['failed']) ? readPlace(stored['failed']['at']) : null,
  };
}

/** `rules/1.yaml:12:5` */
export function readPlace(text: Json | undefined): Place | null {
  const [, file, line, col] = typeof text === 'string' ? (/^(.+):(\d+):(\d+)$/.exec(text) ?? []) : [];
  return file === undefined ? null : { file, line: Number(line), col: Number(col) };
}

/** The line that decided, as deep inside a condition as it can be told. */
export function deepest({ place, loop }: ExplainedPart): Place {
  const [inner] = loop?.because ?? [];
  return inner ? deepest(inner) : place;
}

function readCondition(stored: JsonObject, file: string): ExplainedCondition {
  const because = objects(stored['because']).map((part) => readPart(part, file));
  const unknown = Array.isArray(stored['unknown']) ? stored['unknown'].map(String) : null;
  const error = typeof stored['error'] === 'string' ? stored['error'] : null;
  const state = stateOf(stored['value'], error, unknown);
  const place = placeOf(stored, file);
  const start = isJsonObject(stored['starts']) ? placeOf(stored['starts'], file) : place;
  const [first] = because;
  return {
    name: text(stored['name']),
    text: text(stored['source']),
    place,
    state,
    seen: seenOf(stored['seen']),
    because,
    why: error ?? (unknown ? `not known: ${unknown.join(', ')}` : null),
    look: readPlace(stored['at']) ?? (first && state === 'false' ? deepest(first) : start),
  };
}

function stateOf(value: Json | undefined, error: string | null, unknown: string[] | null): ExplainedCondition['state'] {
  if (value === true || value === false) return value ? 'true' : 'false';
  if (error !== null) return 'error';
  return unknown ? 'unknown' : 'not-evaluated';
}

function readPart(stored: JsonObject, file: string): ExplainedPart {
  const value = stored['value'];
  return {
    text: text(stored['source']),
    place: placeOf(stored, file),
    value: typeof value === 'boolean' ? value : null,
    loop: isJsonObject(stored['loop']) ? readLoop(stored['loop'], file) : null,
  };
}

function readLoop(stored: JsonObject, file: string): ExplainedLoop {
  return {
    variable: text(stored['variable']),
    of: number(stored['of']) ?? 0,
    index: number(stored['index']),
    nearest: number(stored['nearest']),
    seen: seenOf(stored['seen']),
    because: objects(stored['because']).map((part) => readPart(part, file)),
    others: objects(stored['others']),
  };
}

function readStep(stored: JsonObject, file: string): ExplainedStep {
  const { held, each } = stored;
  return {
    id: text(stored['id']),
    action: text(stored['action']),
    place: placeOf(stored, file),
    outcome: text(stored['outcome']),
    items: Array.isArray(stored['items']) ? stored['items'].map(String) : [],
    held: isJsonObject(held)
      ? {
          why: text(held['why']),
          text: text(held['source']),
          place: placeOf(held, file),
          seen: seenOf(held['seen']),
          because: objects(held['because']).map((part) => readPart(part, file)),
        }
      : null,
    ...(isJsonObject(each)
      ? {
          each: {
            wanted: number(each['wanted']) ?? 0,
            whenFalse: number(each['when_false']) ?? 0,
            unlessTrue: number(each['unless_true']) ?? 0,
          },
        }
      : {}),
  };
}

function placeOf(stored: JsonObject, file: string): Place {
  return { file, line: number(stored['line']) ?? 0, col: number(stored['col']) ?? 0 };
}

function objects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function seenOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function number(value: Json | undefined): number | null {
  return typeof value === 'number' ? value : null;
}
