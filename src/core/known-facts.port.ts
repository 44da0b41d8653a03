import type { Json } from './json.js';

/** What was learned last of something that may change without telling us; the newest value, kept over restarts. */
export interface KnownFact {
  readonly fact: Json;
  readonly learnedAt: Date;
}

/** `kind` says what was learned (`server`, `rules.pin`, …), `subject` about whom: an organization, or `''` for the forge itself. */
export abstract class KnownFacts {
  abstract read(forge: string, subject: string, kind: string): Promise<KnownFact | null>;
  abstract write(forge: string, subject: string, kind: string, fact: Json): Promise<void>;
}
