import type { Json } from '../../../core/json.js';
import type { ExprValue } from '../expression-engine.js';
import { unknownIn, withUnknown } from '../expressions/unknown.js';
import { formatTime } from './time.js';

/** A value of an expression as JSON: times RFC 3339, durations `90s`, whole numbers exact. */
export function toJson(value: ExprValue): Json {
  switch (typeof value) {
    case 'bigint':
      return Number.isSafeInteger(Number(value)) ? Number(value) : value;
    case 'object':
      return value === null ? null : objectToJson(value);
    default:
      return value;
  }
}

function objectToJson(value: object): Json {
  if (value instanceof Date) return formatTime(value);
  if (Array.isArray(value)) return (value as ExprValue[]).map(toJson);
  if (isDuration(value)) return formatDuration(value);
  const object = Object.fromEntries(
    Object.entries(value as Record<string, ExprValue>).map(([key, item]) => [key, toJson(item)]),
  );
  return withUnknown(object, unknownIn(value));
}

function isDuration(value: object): value is { seconds: bigint; nanos: number } {
  const { seconds, nanos } = value as { seconds?: unknown; nanos?: unknown };
  return typeof seconds === 'bigint' && typeof nanos === 'number' && Object.keys(value).length === 2;
}

/** As the forge's own durations are written (`8h0m0s` reads the same as `28800s`). */
function formatDuration({ seconds, nanos }: { seconds: bigint; nanos: number }): string {
  return nanos === 0 ? `${seconds}s` : `${Number(seconds) + nanos / 1e9}s`;
}
