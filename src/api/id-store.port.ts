import type { Visibility } from '../core/visibility.js';

/** What has an id that people type. */
export type IdKind = 'run' | 'intent' | 'event' | 'arrival' | 'revision';

export interface IdMatch {
  readonly kind: IdKind;
  readonly id: string;
}

/** Finds whole ids by a part of them. */
export abstract class IdStore {
  /**
   * Ids of these kinds that begin with the text, whatever their age, or that end with it, among the newest `ENDINGS_OF` of each kind.
   * Where not everything is visible, of those that begin so the first `ENDINGS_OF` of each kind alone are looked at.
   * @param text lower-case hexadecimal digits and dashes
   * @returns `limit` of each kind at most, of what is visible
   */
  abstract like(text: string, kinds: readonly IdKind[], limit: number, visibility: Visibility): Promise<IdMatch[]>;
}

/** Ids begin with the time, so no index serves their endings: this many of each kind are looked through. */
export const ENDINGS_OF = 20_000;
