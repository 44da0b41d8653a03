import type { Intent } from '../../core/run.js';

/** What becomes of an intent whose call may or may not have had its effect. It is never sent again without a read, an arrival or a person. */
export interface UnknownOutcomes {
  /** The intent has just become `unknown`. */
  handle(intent: Intent): Promise<void>;
  /** Everything that is due. Never throws. */
  pass(limit: number): Promise<void>;
}
