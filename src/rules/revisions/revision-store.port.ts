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

export abstract class RevisionStore {
  abstract save(revision: StoredRevision): Promise<void>;
  abstract active(org: string): Promise<StoredRevision | null>;
  /** Those that are active in these organizations, without their files. */
  abstract activeIn(orgs: readonly string[]): Promise<Array<Pick<StoredRevision, 'id' | 'org' | 'hash' | 'loadedAt'>>>;
  abstract byId(id: string): Promise<StoredRevision | null>;
  /** Those of the ids that are not stored. */
  abstract missing(ids: readonly string[]): Promise<string[]>;
  abstract list(org: string, limit: number): Promise<StoredRevision[]>;
}
