import { portToken } from '../../core/part.js';
import type { LoadResult, RuleFile } from '../language/revision.js';

/** Turns rule files into a revision. */
export interface RuleLoader {
  /**
   * @param kept name of the organization, or of its shadow
   * @param known this state of the files was active before: what was allowed then is not asked again
   */
  load(kept: string, files: readonly RuleFile[], known: boolean): Promise<LoadResult>;
}

export const RULE_LOADER = portToken<RuleLoader>('RuleLoader');
