import { portToken } from '../../core/part.js';

/** Compares rules with what happened. */
export interface RuleHistory {
  /** One sentence: what the active rules of the organization would have made of its stored events; null when nothing can be compared. */
  onHistory(org: string): Promise<string | null>;
}

export const RULE_HISTORY = portToken<RuleHistory>('RuleHistory');
