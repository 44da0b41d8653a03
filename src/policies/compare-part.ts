import type { Json, JsonObject } from '../core/json.js';
import { isJsonObject } from '../core/json.js';
import type { PolicyPart } from '../rules/compile/program.js';

/** One setting that is not as the policy says. */
export interface Difference {
  field: string;
  wanted: Json;
  found: Json;
}

interface Comparison {
  /** The field of the forge's answer that names the object. */
  key: string;
  sameKey: (wanted: string, found: string) => boolean;
  /** Settings that are compared when the policy states them. */
  fields: Readonly<Record<string, (wanted: Json, found: Json) => boolean>>;
}

const COMPARISONS: Readonly<Record<PolicyPart['section'], Comparison>> = {
  branches: { key: 'new_branch_name', sameKey: isEqual, fields: {} },
  variables: { key: 'name', sameKey: isEqual, fields: {} },
  labels: { key: 'name', sameKey: isEqual, fields: { color: sameColor, description: sameText, exclusive: sameFlag } },
  milestones: { key: 'title', sameKey: isEqual, fields: { state: isEqual, description: sameText, due_on: sameDay } },
  push_mirrors: { key: 'remote_address', sameKey: sameAddress, fields: { interval: sameDuration, sync_on_commit: sameFlag } },
};

/**
 * @param listed what the forge holds; rows that cannot be read are skipped
 * @returns null when nothing of that name is there, else what differs (of several with one name, the nearest)
 */
export function compareItem(section: PolicyPart['section'], wanted: JsonObject, listed: Json): Difference[] | null {
  const { key, sameKey, fields } = COMPARISONS[section];
  const rows = Array.isArray(listed) ? listed.filter(isJsonObject) : [];
  const same = rows.filter((row) => typeof row[key] === 'string' && sameKey(String(wanted[key]), row[key]));
  const differences = same.map((row) =>
    Object.entries(fields).flatMap(([field, isSame]): Difference[] => {
      const stated = wanted[field];
      return stated === undefined || isSame(stated, row[field] ?? null) ? [] : [{ field, wanted: stated, found: row[field] ?? null }];
    }),
  );
  return differences.sort((a, b) => a.length - b.length)[0] ?? null;
}

function isEqual(wanted: Json, found: Json): boolean {
  return wanted === found;
}

function sameText(wanted: Json, found: Json): boolean {
  return (wanted ?? '') === (found ?? '');
}

function sameFlag(wanted: Json, found: Json): boolean {
  return (wanted ?? false) === (found ?? false);
}

/** Requests carry a leading #, answers none. */
function sameColor(wanted: Json, found: Json): boolean {
  return plainColor(wanted) === plainColor(found);
}

function plainColor(color: Json): string {
  const plain = String(color).replace(/^#/, '').toLowerCase();
  return plain.length === 3 ? [...plain].map((digit) => digit + digit).join('') : plain;
}

/** The forge moves a due date within its day when it is edited, and tells it in its own offset: only that day is compared. */
function sameDay(wanted: Json, found: Json): boolean {
  if (typeof wanted !== 'string' || typeof found !== 'string') return wanted === found;
  if (!wanted.includes('T')) return wanted === found.slice(0, 10);
  const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)$/.exec(found) ?? [null, '+', '0', '0'];
  const offsetMs = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  return new Date(Date.parse(wanted) + offsetMs).toISOString().slice(0, 10) === found.slice(0, 10);
}

/** The forge gives addresses back without user and password. */
function sameAddress(wanted: string, found: string): boolean {
  return plainAddress(wanted) === plainAddress(found);
}

function plainAddress(address: string): string {
  if (!URL.canParse(address)) return address;
  const { protocol, host, pathname } = new URL(address);
  return `${protocol}//${host}${pathname.replace(/\/+$/, '').replace(/\.git$/, '')}`;
}

/** `8h`, `8h0m0s` and `28800s` are one interval. */
function sameDuration(wanted: Json, found: Json): boolean {
  return seconds(String(wanted)) === seconds(String(found));
}

const UNITS: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1, ms: 0.001 };

function seconds(text: string): number | string {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) return text;
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS[unit ?? ''] ?? 0), 0);
}
