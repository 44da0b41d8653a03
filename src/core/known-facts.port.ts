import type { Json } from './json.js';

/** What was learned last of something that may change without telling us; the newest value, kept over restarts. */
export interface KnownFact {
  readonly fact: Json;
  readonly learnedAt: Date;
}

export interface FactOfSubject extends KnownFact {
  readonly forge: string;
  readonly subject: string;
  readonly kind: string;
}

/** `kind` says what was learned (`server`, `rules.pin`, …), `subject` about whom: an organization, or `''` for the forge itself. */
export abstract class KnownFacts {
  abstract read(forge: string, subject: string, kind: string): Promise<KnownFact | null>;
  abstract write(forge: string, subject: string, kind: string, fact: Json): Promise<void>;
  /** All facts of a kind, in no order. */
  abstract all(kind: string): Promise<FactOfSubject[]>;
  /** Facts of these kinds about these subjects, whatever their forge, in no order. */
  abstract of(kinds: readonly string[], subjects: readonly string[]): Promise<FactOfSubject[]>;
  /**
   * Be the only one that learns or does this, for at most `forMs` by the clock of the store, or until `release`.
   * @param holder who claims, and may extend what it claimed. Default: nobody may
   * @returns false while another one is
   */
  abstract claim(forge: string, subject: string, kind: string, forMs: number, holder?: string): Promise<boolean>;
  /** @param holder whose claim ends; one that another took over stays. Default: whoever has it */
  abstract release(forge: string, subject: string, kind: string, holder?: string): Promise<void>;
}
