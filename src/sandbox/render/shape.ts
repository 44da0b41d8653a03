import type { Shape, ShapeDifference } from '../profile-shapes.js';
import type { View } from './view.js';

/** An object as this server shows it, out of one that has the fields of all servers. */
export function shaped(view: View, shape: Shape, object: object): object {
  const difference = view.profile.shapes[shape];
  if (!difference) return object;
  const entries = Object.entries(object).filter(([key, value]) => isShown(difference, key, value));
  return Object.fromEntries(inOrder(entries, difference.behind ?? {}).map(([key, value]) => [difference.named?.[key] ?? key, valueOf(difference, key, value)]));
}

function isShown({ without = [], omitEmpty = [] }: ShapeDifference, key: string, value: unknown): boolean {
  if (without.includes(key)) return false;
  return !(omitEmpty.includes(key) && (value === null || value === undefined || value === 0 || value === '' || value === false));
}

function valueOf({ fixed, nullWhenEmpty = [] }: ShapeDifference, key: string, value: unknown): unknown {
  if (fixed && key in fixed) return fixed[key];
  return nullWhenEmpty.includes(key) && Array.isArray(value) && value.length === 0 ? null : value;
}

type Entry = [string, unknown];

function inOrder(entries: Entry[], behind: Readonly<Record<string, string>>): Entry[] {
  const moved = entries.filter(([key]) => key in behind);
  if (moved.length === 0) return entries;
  const kept = entries.filter(([key]) => !(key in behind));
  return kept.flatMap((entry) => [entry, ...moved.filter(([key]) => behind[key] === entry[0])]);
}
