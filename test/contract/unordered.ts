import { isJsonObject, type Json } from '../../src/core/json.js';
import type { CompareContext } from './compare.js';
import type { Path } from './leaves.js';

/** Arrays that a server gives in no order, as the recordings' README lists them. */
export function isUnordered(path: Path, context: CompareContext): boolean {
  const key = path.at(-1);
  // Servers collect the names of one edit in a set, and the groups of changed files in a map.
  if (key === 'requested_reviewers' || key === 'units' || key === 'assignees') return true;
  if (key === 'events') return /\/hooks(\/|\?|$)/.test(context.path);
  if (key === 'files') return /\/(compare|commits)(\/|\?|$)/.test(context.path);
  return path.length === 0 && isTokenList(context.path);
}

/** The `assignee` beside several `assignees` is any one of them. */
export function isAnyAssignee(key: string, holder: Readonly<Record<string, Json>>): boolean {
  return key === 'assignee' && Array.isArray(holder['assignees']) && holder['assignees'].length > 1;
}

/** Newest first, by whole seconds: tokens of one second come in any order. */
export function isTokenList(path: string): boolean {
  return /^\/users\/[^/]+\/tokens\/?(\?|$)/.test(path);
}

/**
 * The parts of a list that stand in no order among themselves: in a timeline, assignments of one second. Servers collect the names of one
 * edit in a set, so two assignments come in any order.
 * @returns first and behind-the-last place of each; every other place is a part of its own
 */
export function partsOf(list: readonly Json[], path: Path, context: CompareContext): [from: number, to: number][] {
  const isTimeline = path.length === 0 && /\/timeline\/?(\?|$)/.test(context.path);
  const parts: [number, number][] = [];
  list.forEach((item, i) => {
    const last = parts.at(-1);
    if (last && isTimeline && isOneEdit(list[i - 1], item)) last[1] = i + 1;
    else parts.push([i, i + 1]);
  });
  return parts;
}

function isOneEdit(a: Json | undefined, b: Json): boolean {
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  return a.type === 'assignees' && b.type === 'assignees' && a.created_at === b.created_at;
}
