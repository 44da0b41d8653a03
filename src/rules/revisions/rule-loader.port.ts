import type { LoadResult, RuleFile } from '../language/revision.js';

/** Turns rule files into a revision. */
export abstract class RuleLoader {
  /**
   * @param name name of the organization, or of its shadow
   * @param wasActive this state of the files was active before: what was allowed then is not asked again
   * @param isAlone as if the operator had given the organization nothing: no message then tells of what the files do not have themselves. Default: false
   */
  abstract load(name: string, files: readonly RuleFile[], wasActive: boolean, isAlone?: boolean): Promise<LoadResult>;
}
