import { objectName } from '../../core/object-name.js';
import { compareIds } from './recovery.js';

/** What servers tell of an object whose name others may bear too. */
interface Bearer {
  readonly id?: unknown;
  /** Of a milestone. */
  readonly state?: unknown;
  /** Of a label. */
  readonly is_archived?: unknown;
}

/**
 * The object that a name stands for where several bear it: one in use (open, not archived) before one that was put away, one that is as
 * wanted before others, the oldest first. Everything that finds an object by its name asks here, so that all of it means the same one.
 * @param bearers objects of one name, in any order
 */
export function chosenOf<One extends Bearer>(
  bearers: readonly One[],
  isAsWanted: (one: One) => boolean = () => false,
): One | undefined {
  return chosenFirst(bearers, isAsWanted).at(0);
}

/** All of them in that order. */
export function chosenFirst<One extends Bearer>(
  bearers: readonly One[],
  isAsWanted: (one: One) => boolean = () => false,
): One[] {
  const rank = (one: One): number => (isInUse(one) ? 0 : 2) + (isAsWanted(one) ? 0 : 1);
  return [...bearers].sort((a, b) => rank(a) - rank(b) || compareIds(String(a.id ?? ''), String(b.id ?? '')));
}

/** Neither closed nor archived. */
export function isInUse({ state, is_archived }: Bearer): boolean {
  return state !== 'closed' && is_archived !== true;
}

export function idsOf(objects: ReadonlyArray<{ readonly id?: string | null | undefined }>): string[] {
  return objects.map(({ id }) => id ?? '');
}

/** What an edit changes, its name included. */
export function differenceOf(before: string | null | undefined, wanted: string, fields: string): string {
  const isRenamed = objectName(before ?? '') !== objectName(wanted);
  return [isRenamed ? `renamed from ${objectName(before ?? '')}` : '', fields].filter((part) => part !== '').join(', ');
}
