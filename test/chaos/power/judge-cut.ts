import { parseJson, type JsonObject } from '../../../src/core/json.js';
import { keyOfIntent } from '../effect-key.js';

/** What the outside knew before the power went. */
export interface Before {
  /** Deliveries that were answered, and the id that they were answered with. */
  readonly acknowledged: ReadonlyArray<{ readonly key: string; readonly id: string }>;
  /** Calls that changed something in the forge, by its ledger. */
  readonly effects: ReadonlyArray<{ readonly key: string }>;
  /** What values are sealed with; null = nothing was acknowledged yet. */
  readonly key: string | null;
  /** Whether the store said that it keeps the cursor. */
  readonly isKept: boolean;
}

/** What the store holds that was opened after it. */
export type Found =
  | { readonly failed: string }
  | {
      readonly failed?: never;
      readonly arrivals: ReadonlyArray<{
        readonly id: string;
        readonly deliveryId: string | null;
        readonly isArchived: boolean;
        readonly bytes: number;
        readonly state: string;
        /** Counted with the first delivery of its text: it has no body, and its bytes are those of the first. */
        readonly isRepeat: boolean;
      }>;
      readonly intents: ReadonlyArray<{ readonly params: string; readonly state: string }>;
      /** The position of the feed, as JSON text. */
      readonly cursor: string | null;
      readonly key: string | null;
      readonly archived: readonly string[];
    };

/** States of an intent of which nobody would know that its call was sent: it would be sent again. */
const UNSENT = ['planned', 'claimed'];

/** @returns what is wrong; empty = nothing was lost, and nothing will be doubled */
export function judgeCut(before: Before, found: Found): string[] {
  if (found.failed !== undefined) return [`the store does not open: ${found.failed}`];
  const arrivals = new Map(found.arrivals.map((one) => [one.id, one]));
  const archived = new Set(found.archived);
  const intents = new Map(
    found.intents.map(({ params, state }) => [keyOfIntent(parseJson(params) as JsonObject), state]),
  );
  const counting = found.arrivals.filter(({ state, isRepeat }) => state !== 'stored' && !isRepeat);
  const ids = counting.flatMap(({ deliveryId }) => deliveryId ?? []);
  return [
    ...before.acknowledged
      .filter(({ id }) => !arrivals.has(id))
      .map(({ key }) => `lost: the acknowledged delivery ${key}`),
    ...[...arrivals.values()]
      .filter(({ id, isArchived, isRepeat }) => isArchived && !isRepeat && !archived.has(id))
      .map(({ id }) => `lost: the body of ${id} is in no archive`),
    ...[...arrivals.values()]
      .filter(({ bytes, isArchived }) => bytes === 0 && !isArchived)
      .map(({ id }) => `lost: the body of ${id}`),
    ...before.effects
      .filter(({ key }) => UNSENT.includes(intents.get(key) ?? 'planned'))
      .map(({ key }) => `doubled: ${key} is in the forge, and its intent is ${intents.get(key) ?? 'not there'}`),
    ...(new Set(ids).size < ids.length ? ['doubled: a delivery counts twice'] : []),
    ...(before.key !== null && found.key !== before.key
      ? [`lost: the data key is ${found.key === null ? 'not there' : 'another'}`]
      : []),
    ...(before.isKept && !found.cursor?.includes('kept') ? ['lost: the cursor'] : []),
  ];
}
