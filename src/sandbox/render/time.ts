import type { Seconds } from '../basics.js';

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
    formats.set(zone, format);
  }
  return format;
}

/** Minutes east of UTC at that moment. */
export function offsetMinutes(at: Seconds, zone: string): number {
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(at * 1000)
      .map((part) => [part.type, Number(part.value)]),
  );
  const local = Date.UTC(parts.year ?? 0, (parts.month ?? 1) - 1, parts.day, parts.hour, parts.minute, parts.second);
  return Math.round((local - at * 1000) / 60_000);
}

/** `2026-11-20T20:07:09+01:00`; `Z` when the offset is zero. */
export function rfc3339(at: Seconds, zone: string): string {
  const minutes = offsetMinutes(at, zone);
  const local = new Date((at + minutes * 60) * 1000).toISOString().slice(0, 19);
  if (minutes === 0) return `${local}Z`;
  const two = (n: number) => String(n).padStart(2, '0');
  const size = Math.abs(minutes);
  return `${local}${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}
