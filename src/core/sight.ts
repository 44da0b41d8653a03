/** What somebody may be told of one organization. */
export interface OrgSight {
  /** Its name as the config writes it. */
  readonly org: string;
  /** Numbers of the repositories, as decimal strings; null = all of the organization, also what is about no repository. */
  readonly repositories: readonly string[] | null;
}

/**
 * What somebody may be told; null = everything. Each organization is named once at most. A number of a repository says nothing without its
 * organization: two forges give the same numbers.
 */
export type Sight = readonly OrgSight[] | null;

/** Whether anything of the organization may be told. */
export function seesOrg(sight: Sight, org: string): boolean {
  return sight === null || sight.some((one) => one.org === org);
}

/** Whether all of the organization may be told. */
export function seesWholeOrg(sight: Sight, org: string): boolean {
  return sight === null || sight.some((one) => one.org === org && one.repositories === null);
}

/** Whether what is about this repository of the organization may be told; null = what is about the organization itself. */
export function seesRepo(sight: Sight, org: string, repoId: string | null): boolean {
  return (
    sight === null ||
    sight.some(
      (one) => one.org === org && (one.repositories === null || (repoId !== null && one.repositories.includes(repoId))),
    )
  );
}

/** The same sight, of one organization alone. */
export function sightWithin(sight: Sight, org: string): Sight {
  return sight === null ? [{ org, repositories: null }] : sight.filter((one) => one.org === org);
}
