import type { Visibility } from '../../src/core/visibility.js';

/** Twins of stores know whole visibilities alone: what depends on a part is asked of real stores. @throws Error where a part is asked for */
export function wholeVisibility(visibility: Visibility | undefined): void {
  if (visibility) throw new Error('a twin cannot tell what is visible: ask a real store');
}
