import { InvalidArgumentError } from 'commander';
import { tableOf } from '../core/table.js';

const UNIT_MS: Readonly<Record<string, number>> = tableOf({ m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 });

/** `90d`, `12h`, `30m`, `2w` as seconds. */
export function readDuration(text: string): number {
  const ms = durationMs(text);
  if (ms === null || ms === 0) throw new InvalidArgumentError('use a duration like 90d, 12h, 30m or 2w.');
  return ms / 1000;
}

/** `30d`, `12h`, `90m`, `2w` before now, or a time: `2026-11-01`, `2026-11-01T08:00:00Z`. */
export function readSince(text: string, now = new Date()): Date {
  const ms = durationMs(text);
  if (ms !== null) return new Date(now.getTime() - ms);
  const at = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d)?)?$/.test(text) ? new Date(text) : null;
  if (!at || Number.isNaN(at.getTime()))
    throw new InvalidArgumentError('expected 30d, 12h, 90m, 2w, or a time like 2026-11-01.');
  return at;
}

function durationMs(text: string): number | null {
  const [, count, unit] = /^(\d{1,5})([mhdw])$/.exec(text) ?? [];
  return count === undefined || unit === undefined ? null : Number(count) * (UNIT_MS[unit] ?? 0);
}
