import type { LoadEnvironment, Revision, RuleFile } from '../revision.js';

/** What a revision was made of: enough to make it again in another thread. */
export interface RevisionSources {
  readonly files: readonly RuleFile[];
  readonly org: string;
  readonly powers: ReadonlySet<string>;
  readonly secrets: ReadonlySet<string>;
}

const sources = new WeakMap<Revision, RevisionSources>();

export function rememberSources(
  revision: Revision,
  files: readonly RuleFile[],
  { org, powers, secrets }: LoadEnvironment,
): Revision {
  sources.set(revision, { files, org, powers, secrets });
  return revision;
}

/** Null for one that was not loaded from files. */
export function sourcesOf(revision: Revision): RevisionSources | null {
  return sources.get(revision) ?? null;
}
