import { isJsonObject, stringifyJson, type Json, type JsonObject } from '../../core/json.js';
import { askPerson, done, resend, settledAs, type RecoveryFacts, type Verdict } from './recovery.js';

/** Settings of one object by name; undefined = the rule says nothing of it. */
export type Settings = Readonly<Record<string, Json | undefined>>;

/** Settings that the rule states. */
export function statedOf(wanted: Settings): Array<[string, Json]> {
  return Object.entries(wanted).filter((entry): entry is [string, Json] => entry[1] !== undefined);
}

/**
 * Whether a forge's setting is the wanted one. Servers leave out what is empty, tell whole numbers in other types, and give lists of names
 * in any order and case.
 */
export function isSameSetting(wanted: Json, found: Json | undefined): boolean {
  if (Array.isArray(wanted))
    return stringifyJson(plainList(wanted)) === stringifyJson(plainList(Array.isArray(found) ? found : []));
  if (typeof wanted === 'boolean') return wanted === (found ?? false);
  return String(wanted ?? '') === String(found ?? (typeof wanted === 'number' || typeof wanted === 'bigint' ? 0 : ''));
}

function plainList(list: readonly Json[]): Json[] {
  return [...new Set(list.map((item) => String(item).toLowerCase()))].sort();
}

/** Names of the stated settings that are not so at the forge. */
export function differingSettings(wanted: Settings, found: Settings): string[] {
  return statedOf(wanted).flatMap(([name, value]) => (isSameSetting(value, found[name]) ? [] : [name]));
}

/** `required_approvals 0 -> 2` */
export function tellSettings(names: readonly string[], wanted: Settings, found: Settings): string {
  return names
    .map((name) => `${name} ${stringifyJson(found[name] ?? null)} -> ${stringifyJson(wanted[name] ?? null)}`)
    .join(', ');
}

/** Absolute values of one object: what is there now is as wanted, as before the call, or somebody else's. */
export function decideSettingsOf(what: string, { wanted, snapshot, seen }: RecoveryFacts<Settings, Settings>): Verdict {
  if (seen === null) return askPerson(`${what} cannot be read`);
  const different = differingSettings(wanted, seen);
  if (different.length === 0) return done(`${what}: as wanted`);
  const kept = snapshot?.['before'] ?? null;
  const before: JsonObject | null = isJsonObject(kept) ? kept : null;
  const third =
    before === null
      ? []
      : different.filter((name) => !isSameSetting(before[name] ?? emptyLike(wanted[name]), seen[name]));
  if (third.length > 0) return settledAs('conflict', `somebody else changed ${third.join(', ')} of ${what} meanwhile`);
  return resend(`${what}: ${different.join(', ')} as before the call`);
}

/** Forges leave out what is empty. */
function emptyLike(value: Json | undefined): Json {
  if (Array.isArray(value)) return [];
  return typeof value === 'boolean' ? false : typeof value === 'string' ? '' : 0;
}
