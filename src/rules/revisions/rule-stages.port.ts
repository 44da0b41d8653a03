import type { CompiledRule } from '../language/revision.js';

/** What the stage of a rule depends on. */
export interface StagedRule {
  readonly id: string;
  readonly kind: 'rule' | 'policy';
  readonly mode: 'live' | 'dry-run' | 'shadow';
  /** Percent of repositories in which it writes at first; absent or null = no canary. */
  readonly canary?: number | null;
  readonly ruleHash?: string;
}

/** Which stage of a rule that is tried first has come. */
export abstract class RuleStages {
  /** Whether what a rule planned live may still be written. */
  abstract mayWrite(org: string, rule: StagedRule): Promise<boolean>;
}

export function stagedOf({ id, mode, canary, textHash }: CompiledRule): StagedRule {
  return { id, kind: 'rule', mode, canary, ruleHash: textHash };
}
