import type { Json, JsonObject } from '../core/json.js';
import { chosenFirst, chosenOf } from '../actions/support/same-name.js';
import { isSameDay, isSameSetting, normalizeMirrorAddress } from '../actions/support/compare.js';
import { isSameName } from '../core/object-name.js';
import { isJsonObject } from '../core/json.js';
import type { PolicyPart } from '../rules/language/compile/program.js';
import { tableOf } from '../core/table.js';

/** One setting that is not as the policy says. */
export interface Difference {
  field: string;
  wanted: Json;
  actual: Json;
}

interface Comparison {
  /** The field of the forge's answer that names the object. */
  key: string;
  sameKey: (wanted: string, actual: string) => boolean;
  /** Settings that are compared when the policy states them; `all` = each of them, as a setting. */
  fields: Readonly<Record<string, (wanted: Json, actual: Json) => boolean>> | 'all';
  /** It should not be there: that it is, is the difference. */
  isGone?: true;
}

const COMPARISONS: Readonly<Record<PolicyPart['section'], Comparison>> = {
  branches: { key: 'new_branch_name', sameKey: isEqual, fields: {} },
  variables: { key: 'name', sameKey: isEqual, fields: {} },
  labels: {
    key: 'name',
    sameKey: isSameName,
    fields: { color: sameColor, description: sameText, exclusive: sameFlag, is_archived: sameFlag },
  },
  removed_labels: { key: 'name', sameKey: isSameName, fields: {}, isGone: true },
  removed_milestones: { key: 'title', sameKey: isSameName, fields: {}, isGone: true },
  enforced_protections: { key: 'name', sameKey: isEqual, fields: 'all' },
  settings: { key: '', sameKey: isEqual, fields: 'all' },
  topics: { key: '', sameKey: isEqual, fields: {} },
  milestones: { key: 'title', sameKey: isSameName, fields: { state: isEqual, description: sameText, due_on: sameDay } },
  push_mirrors: {
    key: 'remote_address',
    sameKey: sameAddress,
    fields: { interval: sameDuration, sync_on_commit: sameFlag },
  },
};

/**
 * @param listed what the forge holds; rows that cannot be read are skipped
 * @returns null when nothing of that name is there, else what differs (of several with one name, of the one that the action chooses)
 */
export function compareItem(section: PolicyPart['section'], wanted: JsonObject, listed: Json): Difference[] | null {
  const { key, sameKey, fields, isGone } = COMPARISONS[section];
  if (section === 'topics') return compareTopics(wanted, isJsonObject(listed) ? (listed['topics'] ?? null) : null);
  if (section === 'settings') return isJsonObject(listed) ? differencesOf(allOf(wanted, ''), wanted, listed) : null;
  const rows = Array.isArray(listed) ? listed.filter(isJsonObject) : [];
  const rowsNamed = (name: Json): JsonObject[] =>
    rows.filter((row) => typeof row[key] === 'string' && sameKey(String(name), row[key]));
  const same = rowsNamed(wanted[key] ?? null);
  if (isGone) return same.map((row) => ({ field: key, wanted: null, actual: row[key] ?? null })).slice(0, 1);
  if (same.length > 0 && wanted['keep'] === true) return [];
  const compared = fields === 'all' ? allOf(wanted, key) : fields;
  const differencesIn = (row: JsonObject): Difference[] => differencesOf(compared, wanted, row);
  const chosen = chosenOf(same, (row) => differencesIn(row).length === 0);
  return chosen === undefined ? differencesOfEarlier() : differencesIn(chosen);

  /** What has an earlier name is there, under another name. */
  function differencesOfEarlier(): Difference[] | null {
    const earlier = wanted['renamed_from'] ?? [];
    const [row] = (Array.isArray(earlier) ? earlier : [earlier]).flatMap((name) => chosenFirst(rowsNamed(name)));
    return row === undefined
      ? null
      : [
          { field: key, wanted: wanted[key] ?? null, actual: row[key] ?? null },
          ...differencesOf(compared, wanted, row),
        ];
  }
}

type Fields = Exclude<Comparison['fields'], 'all'>;

function differencesOf(fields: Fields, wanted: JsonObject, row: JsonObject): Difference[] {
  return Object.entries(fields).flatMap(([field, isSame]): Difference[] => {
    const stated = wanted[field] ?? null;
    return stated === null || isSame(stated, row[field] ?? null)
      ? []
      : [{ field, wanted: stated, actual: row[field] ?? null }];
  });
}

function allOf(wanted: JsonObject, key: string): Fields {
  return Object.fromEntries(
    Object.keys(wanted)
      .filter((field) => field !== key)
      .map((field) => [field, (stated: Json, actual: Json) => isSameSetting(field, stated, actual)]),
  );
}

/** The whole list differs or it does not: that is how the forge takes it. */
function compareTopics(wanted: JsonObject, actual: Json): Difference[] {
  const list = (value: Json | undefined): string[] | null =>
    Array.isArray(value) ? value.map(String) : typeof value === 'string' ? [value] : null;
  const there = list(actual) ?? [];
  const goal = list(wanted['set']) ?? [
    ...there.filter((topic) => !list(wanted['remove'])?.includes(topic)),
    ...(list(wanted['add']) ?? []),
  ];
  const [after, before] = [goal, there].map((topics) => [...new Set(topics)].sort());
  return isSameSetting('topics', after ?? [], before ?? [])
    ? []
    : [{ field: 'topics', wanted: after ?? [], actual: before ?? [] }];
}

function isEqual(wanted: Json, actual: Json): boolean {
  return wanted === actual;
}

function sameText(wanted: Json, actual: Json): boolean {
  return (wanted ?? '') === (actual ?? '');
}

function sameFlag(wanted: Json, actual: Json): boolean {
  return (wanted ?? false) === (actual ?? false);
}

/** Requests carry a leading #, answers none. */
function sameColor(wanted: Json, actual: Json): boolean {
  return plainColor(wanted) === plainColor(actual);
}

function plainColor(color: Json): string {
  const plain = String(color).replace(/^#/, '').toLowerCase();
  return plain.length === 3 ? [...plain].map((digit) => digit + digit).join('') : plain;
}

/** As the action that puts it right compares them. */
function sameDay(wanted: Json, actual: Json): boolean {
  return typeof wanted === 'string' && typeof actual === 'string' ? isSameDay(wanted, actual) : wanted === actual;
}

/** The forge gives addresses back without user and password. */
function sameAddress(wanted: string, actual: string): boolean {
  return normalizeMirrorAddress(wanted) === normalizeMirrorAddress(actual);
}

/** `8h`, `8h0m0s` and `28800s` are one interval. */
function sameDuration(wanted: Json, actual: Json): boolean {
  return seconds(String(wanted)) === seconds(String(actual));
}

const UNITS: Readonly<Record<string, number>> = tableOf({ h: 3600, m: 60, s: 1, ms: 0.001 });

function seconds(text: string): number | string {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) return text;
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS[unit ?? ''] ?? 0), 0);
}
