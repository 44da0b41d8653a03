import { isDeepStrictEqual } from 'node:util';
import type { AppConfig } from './app-config.js';
import { Secret } from '../core/secret.js';
import { tableOf } from '../core/table.js';

/** Whether two parts of a config say the same, values of secrets included. */
export function isSameConfig(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(opened(one), opened(other));
}

function opened(value: unknown): unknown {
  if (value instanceof Secret) return value.isWithheld ? { withheld: true } : { secret: value.reveal() };
  if (Array.isArray(value)) return value.map(opened);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, opened(inner)]));
}

/** Names in the file of what has another name here. */
const WRITTEN = tableOf({
  'store.kind': 'store.url',
  'store.dir': 'store.url',
  'queue.kind': 'queue.url',
  'retention.maxAgeMs': 'retention.max_age',
  'server.unverified': 'server.unverified_bytes',
  'server.undecided': 'server.undecided_bytes',
});

/**
 * The keys, as the file names them, that say something else than at the start of the process and that a reload cannot change: all but those of the
 * organizations. Such as `server.port` and `forges`.
 */
export function changedKeys(started: Omit<AppConfig, 'orgs'>, next: AppConfig): string[] {
  const { file: _file, orgs: _orgs, warnings: _warnings, ...rest } = next;
  const changed = Object.entries(rest).flatMap(([group, after]: [string, unknown]) => {
    const before: unknown = started[group as keyof typeof rest];
    if (isSameConfig(before, after)) return [];
    if (!isGroup(before) || !isGroup(after)) return [group];
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return keys
      .filter((key) => !isSameConfig(before[key] ?? null, after[key] ?? null))
      .map((key) => WRITTEN[`${group}.${key}`] ?? `${group}.${written(key)}`);
  });
  // Without a place of its own, the socket lies beside the store.
  const isMoved = changed.includes('store.url');
  return [...new Set(changed)].filter((key) => !isMoved || key !== 'control.socket');
}

function isGroup(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `publicUrl` is `public_url` in the file. */
function written(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
