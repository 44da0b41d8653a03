import { stringifyJson, type Json, type JsonObject } from '../../core/json.js';
import { tableOf } from '../../core/table.js';

/** Comparisons of what a rule wants with what a forge tells; each knows how servers write the same thing in another way. */

const HEX = /^#?([0-9a-f]{3}|[0-9a-f]{6})$/;

/** Six lower-case digits without `#`, as servers answer; null when it is no colour (3 or 6 hex digits, `#` or not). */
export function normalizeColor(color: string): string | null {
  const digits = HEX.exec(color.trim().toLowerCase())?.[1];
  if (digits === undefined) return null;
  return digits.length === 3 ? [...digits].map((digit) => digit + digit).join('') : digits;
}

/** Whether an event is about the issue or pull request that the parameters name. */
export function isAbout(data: JsonObject, params: JsonObject): boolean {
  return data['number'] !== undefined && String(data['number']) === String(params['number']);
}

/** Servers keep LF. */
export function normalizeLines(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}

const UNIT_MS: Readonly<Record<string, number>> = tableOf({
  h: 3_600_000,
  m: 60_000,
  s: 1_000,
  ms: 1,
  us: 0.001,
  µs: 0.001,
  ns: 0.000_001,
});

/** Milliseconds of a Go duration (`8h`, `8h0m0s`, `10m`, `0`); null when it is none, as the empty text. */
export function goDurationMs(text: string): number | null {
  if (text === '0') return 0;
  if (!/^(\d+(\.\d+)?(h|ms|m|us|µs|ns|s))+$/.test(text)) return null;
  return [...text.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|us|µs|ns|s)/g)].reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * (UNIT_MS[unit ?? ''] ?? 0),
    0,
  );
}

const DEFAULT_PORT: Readonly<Record<string, string>> = tableOf({ 'http:': '80', 'https:': '443' });

/** Address of a mirror without what does not tell two mirrors apart: case of scheme and host, user info, default port, `.git`, last slash. */
export function normalizeMirrorAddress(address: string): string {
  if (!URL.canParse(address)) return address;
  const { protocol, hostname, port, pathname } = new URL(address);
  const path = pathname.replace(/\/+$/, '').replace(/\.git$/, '');
  return `${protocol}//${hostname}${port === '' || port === DEFAULT_PORT[protocol] ? '' : `:${port}`}${path}`;
}

/**
 * Whether a due date that the forge tells is the wanted one: the same instant, or the day as both are written. An edit moves the time to
 * 23:59:59, in the server's zone, of the day as the request writes it; people see that day.
 * @param wanted RFC 3339 time or day
 * @param shownTime RFC 3339 time with the server's offset, or null for none
 */
export function isSameDay(wanted: string, shownTime: string | null | undefined): boolean {
  if (!shownTime) return false;
  return (
    wanted.slice(0, 10) === shownTime.slice(0, 10) || (!isDay(wanted) && Date.parse(wanted) === Date.parse(shownTime))
  );
}

/**
 * The time to send for a wanted time or day, so that the server shows the day as it is written: the wanted time where it falls on that day
 * in the server's zone, else noon of the day there.
 * @param shownTime a time that the server showed in its own zone; absent: its zone is unknown, and noon in UTC is that day in nearly every zone
 */
export function dueTime(wanted: string, shownTime?: string | null): string {
  const day = wanted.slice(0, 10);
  const offset = /(?:Z|[+-]\d{2}:\d{2})$/.exec(shownTime ?? '')?.[0];
  if (!isDay(wanted) && (offset === undefined || dayIn(wanted, offset) === day)) return wanted;
  return `${day}T12:00:00${offset ?? 'Z'}`;
}

function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text);
}

/** The day of an instant at an offset from UTC. */
function dayIn(time: string, offset: string): string {
  const [, sign, hours, minutes] = /([+-])(\d{2}):(\d{2})/.exec(offset) ?? [];
  const east = (sign === '-' ? -1 : 1) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000;
  return new Date(Date.parse(time) + east).toISOString().slice(0, 10);
}

/** Texts as forges keep them: LF, and no spaces at the end. */
export function isSameText(a: string | null | undefined, b: string | null | undefined): boolean {
  return normalizeLines(a ?? '').trimEnd() === normalizeLines(b ?? '').trimEnd();
}

/**
 * Our mark in a description. Only a call that is made again after an unknown outcome carries it: when both calls come through in the end,
 * it tells which of the two objects is the extra one, so that nearly every description stays as the rule wrote it.
 */
const MARK = /(?:^| )\[fh:[0-9a-f]{8}\]$/;

/** Eight digits of the intent key: enough to tell two intents of one name apart, and short enough to be borne. */
export function markOf(intentKey: string): string {
  return `[fh:${intentKey
    .replace(/[^0-9a-f]/g, '')
    .slice(0, 8)
    .padEnd(8, '0')}]`;
}

/**
 * @param mark null = as it is
 * @param max characters that the forge keeps: what the mark would make longer stays as it is, since the forge would refuse it
 */
export function withMark(
  description: string | undefined,
  mark: string | null,
  max = Number.POSITIVE_INFINITY,
): string | undefined {
  if (mark === null) return description;
  const marked = description === undefined || description === '' ? mark : `${description} ${mark}`;
  return marked.length > max ? description : marked;
}

/** Whether it bears this very mark; marks may be off (null). */
export function bearsMark(description: string | null | undefined, mark: string | null): boolean {
  return mark !== null && (description ?? '').endsWith(mark);
}

/** A description as the rule wrote it. */
export function withoutMark(description: string | null | undefined): string {
  return (description ?? '').replace(MARK, '');
}

const MAX_VALUE = 65_536;

/** Name as servers store it. */
export function variableName(name: string): string {
  return name.toUpperCase();
}

/** Why servers refuse this name, or null. */
export function checkVariableName(name: string): string | null {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    return 'must be letters, digits and underscores, and not begin with a digit';
  if (/^(GITEA|GITHUB)_/i.test(name)) return 'must not begin with GITEA_ or GITHUB_';
  return /^CI$/i.test(name) ? 'must not be CI' : null;
}

/** Why servers refuse this value, or null. */
export function checkVariableValue(value: string): string | null {
  if (value === '') return 'must not be empty (the forge refuses an empty value)';
  return value.length > MAX_VALUE ? `must not be longer than ${MAX_VALUE} characters` : null;
}

/** Values as servers keep them. */
export function isSameValue(wanted: string, atForge: string): boolean {
  return normalizeLines(wanted) === normalizeLines(atForge);
}

/**
 * Some of a list, by turns: the turn is the number of the issue or pull request, so that the same one always gets the same people, whoever
 * asks and however often.
 * @param leftOut logins that cannot be picked, such as the author
 */
export function pickByTurn(
  people: readonly string[],
  turn: string,
  count: number,
  leftOut: readonly string[] = [],
): string[] {
  const out = new Set(leftOut.map((login) => login.toLowerCase()));
  const able = people.filter((login) => !out.has(login.toLowerCase()));
  if (able.length === 0) return [];
  const start = Number(BigInt(turn) % BigInt(able.length));
  return Array.from({ length: Math.min(count, able.length) }, (_, index) => able[(start + index) % able.length] ?? '');
}

export function isSameLogin(a: string | null | undefined, b: string | null | undefined): boolean {
  return (a ?? '').toLowerCase() === (b ?? '').toLowerCase();
}

/** Settings of one object by name; undefined = the rule says nothing of it. */
export type Settings = Readonly<Record<string, Json | undefined>>;

/** Settings that the rule states. */
export function statedOf(wanted: Settings): Array<[string, Json]> {
  return Object.entries(wanted).filter((entry): entry is [string, Json] => entry[1] !== undefined);
}

/**
 * Whether a forge's setting is the wanted one. Servers leave out what is empty, tell whole numbers in other types, and give lists in any
 * order. Lists of people and teams are compared without regard to case, as servers find them; all else (contexts of statuses, patterns)
 * is matched by its case.
 * @param name of the setting
 */
export function isSameSetting(name: string, wanted: Json, seen: Json | undefined): boolean {
  if (Array.isArray(wanted))
    return stringifyJson(plainList(name, wanted)) === stringifyJson(plainList(name, Array.isArray(seen) ? seen : []));
  if (typeof wanted === 'boolean') return wanted === (seen ?? false);
  return String(wanted ?? '') === String(seen ?? (typeof wanted === 'number' || typeof wanted === 'bigint' ? 0 : ''));
}

function plainList(name: string, list: readonly Json[]): Json[] {
  const plain = (item: Json): string => (/_(usernames?|teams)$/.test(name) ? String(item).toLowerCase() : String(item));
  return [...new Set(list.map(plain))].sort();
}

/** Names of the stated settings that are not so at the forge. */
export function differingSettings(wanted: Settings, seen: Settings): string[] {
  return statedOf(wanted).flatMap(([name, value]) => (isSameSetting(name, value, seen[name]) ? [] : [name]));
}

/** What these settings are now, and what they become. */
export function changesOf(
  names: readonly string[],
  from: Settings,
  to: Settings,
): Array<{ name: string; from: string; to: string }> {
  const textOfValue = (value: Json | undefined): string => stringifyJson(value ?? null);
  return names.map((name) => ({ name, from: textOfValue(from[name]), to: textOfValue(to[name]) }));
}

/** These settings, to be remembered; what the forge leaves out as null. */
export function valuesOf(names: readonly string[], seen: Settings): JsonObject {
  return Object.fromEntries(names.map((name) => [name, seen[name] ?? null]));
}

/** Forges leave out what is empty. */
export function emptyLike(value: Json | undefined): Json {
  if (Array.isArray(value)) return [];
  return typeof value === 'boolean' ? false : typeof value === 'string' ? '' : 0;
}
