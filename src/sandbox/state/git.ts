import type { Seconds } from './basics.js';

export interface Signature {
  name: string;
  email: string;
  at: Seconds;
}

/** A commit holds its whole tree as path -> blob id; tree ids are computed when asked for. */
export interface Commit {
  sha: string;
  tree: string;
  parents: string[];
  author: Signature;
  committer: Signature;
  message: string;
  files: ReadonlyMap<string, string>;
}

export interface Tag {
  name: string;
  /** The commit. */
  sha: string;
  /** Message of an annotated tag; empty for a light one. */
  message: string;
  createdAt: Seconds;
}

/** The git side of a repository. Branch names and tag names are short; ids are true git object ids. */
export interface GitStore {
  blobs: Map<string, Buffer>;
  commits: Map<string, Commit>;
  /** name -> commit. */
  branches: Map<string, string>;
  tags: Map<string, Tag>;
}

export const NO_SHA = '0'.repeat(40);
