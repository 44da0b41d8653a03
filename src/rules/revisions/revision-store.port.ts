import { portToken } from '../../core/part.js';
import type { RuleOrigin } from '../sources/rule-repository.port.js';

/** One loaded state of an organization's files. */
export interface StoredRevision {
  id: string;
  org: string;
  /** Hash over paths and texts. */
  hash: string;
  files: Array<{ path: string; text: string }>;
  state: 'active' | 'replaced' | 'broken';
  /** Problems of a broken revision, printed form. */
  problems: string[];
  loadedAt: Date;
  /** Of rules from a repository: the commit, its author and who approved it. */
  origin?: RuleOrigin;
}

export interface RevisionStore {
  save(revision: StoredRevision): Promise<void>;
  active(org: string): Promise<StoredRevision | null>;
  byId(id: string): Promise<StoredRevision | null>;
  /** Those of the ids that are not stored. */
  missing(ids: readonly string[]): Promise<string[]>;
  list(org: string, limit: number): Promise<StoredRevision[]>;
}

export const REVISION_STORE = portToken<RevisionStore>('RevisionStore');
