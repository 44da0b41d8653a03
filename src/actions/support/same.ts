import { tableOf } from '../../core/table.js';

/** Comparisons of what a rule wants with what a forge tells; each knows how servers write the same thing in another way. */

const HEX = /^#?([0-9a-f]{3}|[0-9a-f]{6})$/;

/** Six lower-case digits without `#`, as servers answer; null when it is no colour (3 or 6 hex digits, `#` or not). */
export function normalizeColor(color: string): string | null {
  const digits = HEX.exec(color.trim().toLowerCase())?.[1];
  if (digits === undefined) return null;
  return digits.length === 3 ? [...digits].map((digit) => digit + digit).join('') : digits;
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
 * Whether a due date that the forge tells is the wanted day. Servers move the time to 23:59:59 of their own day on an edit, and tell it
 * in their own offset, so days are compared in the offset of what they told.
 * @param wanted RFC 3339 time or day
 * @param told   RFC 3339 time with the server's offset, or null for none
 */
export function isSameDay(wanted: string, told: string | null | undefined): boolean {
  if (!told) return false;
  const toldDay = told.slice(0, 10);
  if (/^\d{4}-\d{2}-\d{2}$/.test(wanted)) return wanted === toldDay;
  return new Date(Date.parse(wanted) + offsetMs(told)).toISOString().slice(0, 10) === toldDay;
}

/** The time to send for a wanted time or day; noon of a day is that day in nearly every zone. */
export function dueTime(wanted: string): string {
  return /^\d{4}-\d{2}-\d{2}$/.test(wanted) ? `${wanted}T12:00:00Z` : wanted;
}

function offsetMs(time: string): number {
  const match = /([+-])(\d{2}):(\d{2})$/.exec(time);
  if (!match) return 0;
  return (match[1] === '-' ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3])) * 60_000;
}

/** Texts as forges keep them: LF, and no spaces at the end. */
export function isSameText(a: string | null | undefined, b: string | null | undefined): boolean {
  return normalizeLines(a ?? '').trimEnd() === normalizeLines(b ?? '').trimEnd();
}
