import { isJsonObject, type Json, type JsonObject } from '../core/json.js';
import {
  askPerson,
  defineRecovery,
  done,
  resend,
  settledAs,
  type RecoveryFacts,
  type Verdict,
} from './support/recovery.js';
import { whereOffered } from './support/where-offered.js';

/** Where nothing can be read, sending again may undo a person's change that came since: only while the call is this young. */
const YOUNG_MS = 60_000;

export type WantedSettings = Readonly<Record<string, string | boolean | undefined>>;

/** Absolute values: what is there now is ours, what was there before, or somebody else's. */
export const userSettingsRecovery = defineRecovery<WantedSettings, JsonObject>({
  reads: ['getUserSettings'],
  mayRead: [],
  settle: 'whole',
  absolute: true,

  async read({ forge }) {
    const settings = await whereOffered(forge.getUserSettings, (get) => get({}));
    return settings === undefined ? null : { ...(settings as JsonObject) };
  },

  decide: decideSettings,
});

export function decideSettings({
  wanted,
  snapshot,
  seen,
  sentAgoMs,
}: RecoveryFacts<WantedSettings, JsonObject>): Verdict {
  if (seen === null) {
    return sentAgoMs <= YOUNG_MS
      ? resend('the settings cannot be read; the same values sent again do no harm')
      : askPerson('the settings cannot be read, and somebody may have changed them since our call');
  }
  const given = Object.entries(wanted).filter((entry): entry is [string, string | boolean] => entry[1] !== undefined);
  const different = given.filter(([name, value]) => plain(seen[name], value) !== value);
  if (different.length === 0) return done('the settings are as wanted');
  const before = isJsonObject(snapshot?.['before'] ?? null) ? (snapshot?.['before'] as JsonObject) : null;
  const third =
    before === null ? [] : different.filter(([name, value]) => plain(seen[name], value) !== plain(before[name], value));
  if (third.length > 0)
    return settledAs('conflict', `somebody else changed ${third.map(([name]) => name).join(', ')} meanwhile`);
  return resend('the settings are as before the call');
}

/** Servers leave out what is empty. */
function plain(value: Json | undefined, like: string | boolean): Json {
  return value ?? (typeof like === 'boolean' ? false : '');
}
