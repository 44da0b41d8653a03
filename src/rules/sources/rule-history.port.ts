import { portToken } from '../../core/part.js';
import type { RuleFile } from '../language/revision.js';

/** Compares rules with what happened. */
export interface RuleHistory {
  /** One sentence: what the active rules of the organization, or those that are proposed, would have made of its stored events; null when nothing can be compared. */
  onHistory(org: string, proposed?: readonly RuleFile[]): Promise<string | null>;
}

export const RULE_HISTORY = portToken<RuleHistory>('RuleHistory');
