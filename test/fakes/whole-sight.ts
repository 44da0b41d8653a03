import type { Sight } from '../../src/core/sight.js';

/** Twins of stores know whole sights alone: what depends on a part is asked of real stores. @throws Error where a part is asked for */
export function wholeSight(sight: Sight | undefined): void {
  if (sight) throw new Error('a twin cannot tell what is in sight: ask a real store');
}
