import type { Json, JsonObject } from '../../core/json.js';
import { isJsonObject } from '../../core/json.js';
import { emptyTable } from '../../core/table.js';

/** What is held about one thing of an object: its value, the fact's time that told it (ISO; null = none told), and how. */
export interface Held {
  readonly value: Json;
  readonly at: string | null;
  /** A fact about this very thing said so; else it stood in an object that came along with something else. */
  readonly isTold: boolean;
}

/** Everything held about one object, by name. */
export type ObjectState = Readonly<Record<string, Held>>;

export function readState(stored: JsonObject | null): ObjectState {
  const state: Record<string, Held> = emptyTable();
  for (const [name, held] of Object.entries(stored ?? {})) {
    if (isJsonObject(held))
      state[name] = {
        value: held.value ?? null,
        at: typeof held.at === 'string' ? held.at : null,
        isTold: held.told === true,
      };
  }
  return state;
}

export function writeState(state: ObjectState): JsonObject {
  return Object.fromEntries(
    Object.entries(state).map(([name, { value, at, isTold }]) => [name, { value, at, told: isTold }]),
  );
}

/** Facts of one second stand in the order in which they came, and so does what tells no time. */
export function isOlder(at: string | null, held: Held): boolean {
  return at !== null && held.at !== null && at < held.at;
}
