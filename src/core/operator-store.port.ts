import type { Operator } from './operators.js';

/** Operators and the hashes of their tokens. Every control request asks it, so that a revocation holds everywhere at once. */
export abstract class OperatorStore {
  abstract add(operator: Operator, tokenHash: string): Promise<void>;
  /** Whatever its state; null = no token has this hash. */
  abstract byTokenHash(tokenHash: string): Promise<Operator | null>;
  /** All that were ever made, oldest first. */
  abstract list(): Promise<Operator[]>;
  /**
   * Revoke every token of a name, or the one of an id. Tokens that were revoked before stay unchanged.
   * @returns those that it revoked
   */
  abstract revoke(nameOrId: string, by: string, at: Date): Promise<Operator[]>;
}
