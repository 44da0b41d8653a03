import { tableOf } from './table.js';

/** Units of a repository that a team may give or not, where events tell what is in them. */
export const SEEN_UNITS = ['code', 'issues', 'pulls', 'releases', 'packages', 'wiki', 'actions'] as const;

/** By the first word of a kind of event: the unit that it tells of. Others tell of the repository as a whole. */
export const UNITS_OF_FAMILIES: Readonly<Record<string, string>> = tableOf({
  push: 'code',
  branch: 'code',
  tag: 'code',
  status: 'code',
  issue: 'issues',
  comment: 'comments',
  pull_request: 'pulls',
  review: 'pulls',
  release: 'releases',
  package: 'packages',
  wiki: 'wiki',
  workflow: 'actions',
  task: 'actions',
});

function unitOfKind(kind: string): string | null {
  return UNITS_OF_FAMILIES[kind.split('.')[0] ?? ''] ?? null;
}

/**
 * The entries of `OrgVisibility.repositories` for one repository.
 * @param units those whose content may be read; null = all
 */
export function seenRepository(id: string, units: readonly string[] | null): string[] {
  if (units === null || SEEN_UNITS.every((unit) => units.includes(unit))) return [id];
  const seen: string[] = SEEN_UNITS.filter((unit) => units.includes(unit));
  // A comment does not say in its kind what it is on.
  const comments = units.includes('issues') && units.includes('pulls') ? ['comments'] : [];
  return [...seen, ...comments].map((unit) => `${id}/${unit}`);
}

/** What somebody may be told of one organization. */
export interface OrgVisibility {
  /** Its name as the config writes it. */
  readonly org: string;
  /**
   * Numbers of the repositories, as decimal strings; `12/pulls` = of the repository 12 what belongs to its pull requests (`SEEN_UNITS`), and nothing
   * else. Null = all of the organization, also what is about no repository.
   */
  readonly repositories: readonly string[] | null;
  /** Names of these repositories, as far as the forge told them; absent = names are not looked at, since all of them may be told. */
  readonly names?: readonly string[];
}

/**
 * What somebody may be told; null = everything. Each organization is named once at most. A number of a repository says nothing without its
 * organization: two forges give the same numbers.
 */
export type Visibility = readonly OrgVisibility[] | null;

/** Whether anything of the organization may be told. */
export function seesOrg(visibility: Visibility, org: string): boolean {
  return visibility === null || visibility.some((one) => one.org === org);
}

/** Whether all of the organization may be told. */
export function seesWholeOrg(visibility: Visibility, org: string): boolean {
  return visibility === null || visibility.some((one) => one.org === org && one.repositories === null);
}

/** Whether what is about this repository of the organization may be told; null = what is about the organization itself. */
export function seesRepo(visibility: Visibility, org: string, repoId: string | null): boolean {
  return (
    visibility === null ||
    visibility.some(
      (one) => one.org === org && (one.repositories === null || (repoId !== null && one.repositories.includes(repoId))),
    )
  );
}

/** Whether an event of this kind in this repository may be told: all of the repository, or the unit that the event belongs to. */
export function seesEvent(visibility: Visibility, org: string, repoId: string | null, kind: string): boolean {
  const unit = unitOfKind(kind);
  return (
    seesRepo(visibility, org, repoId) ||
    (repoId !== null && unit !== null && seesRepo(visibility, org, `${repoId}/${unit}`))
  );
}

/** The same visibility, of one organization alone. */
export function visibilityWithin(visibility: Visibility, org: string): Visibility {
  return visibility === null ? [{ org, repositories: null }] : visibility.filter((one) => one.org === org);
}
