import type { RuleFile } from '../language/revision.js';

/** Compares rules with what happened. */
export abstract class RuleHistory {
  /** One sentence: what the active rules of the organization, or those that are proposed, would have made of its stored events; null when nothing can be compared. */
  abstract onHistory(org: string, proposed?: readonly RuleFile[]): Promise<string | null>;
}
