import { InvalidArgumentError } from 'commander';
import { tableOf } from '../core/table.js';

const UNIT_MS: Readonly<Record<string, number>> = tableOf({ m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 });

/** `90d`, `12h`, `30m`, `2w` as seconds. */
export function readDuration(text: string): number {
  const [, count, unit] = /^(\d{1,5})([mhdw])$/.exec(text) ?? [];
  const ms = Number(count) * (UNIT_MS[unit ?? ''] ?? 0);
  if (!Number.isFinite(ms) || ms <= 0) throw new InvalidArgumentError('a duration like 90d, 12h, 30m or 2w is wanted.');
  return ms / 1000;
}

/** `30d`, `12h`, `90m`, `2w` before now, or a time: `2026-11-01`, `2026-11-01T08:00:00Z`. */
export function readSince(text: string, now = new Date()): Date {
  const [, count, unit] = /^(\d{1,5})([mhdw])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) return new Date(now.getTime() - Number(count) * (UNIT_MS[unit] ?? 0));
  const at = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d)?)?$/.test(text) ? new Date(text) : null;
  if (!at || Number.isNaN(at.getTime())) throw new InvalidArgumentError('30d, 12h, 90m, 2w, or a time like 2026-11-01 is wanted.');
  return at;
}
