import type { OrgRights } from '../../core/operators.js';
import type { Organization } from '../../core/objects/accounts.js';
import { type ForgeClient, listAll, whereOffered } from '../forge-client.js';

/** Lists are read this far: 5,000 repositories of an organization, 500 teams and organizations of a person. What lies beyond is not seen. */
const REPOSITORY_PAGES = 100;
const OWN_PAGES = 10;

export interface PersonAtForge {
  /** The number of the account, which a new name does not change. */
  readonly id: string;
  readonly login: string;
  readonly rights: readonly OrgRights[];
}

/**
 * Who somebody is, and what that person may do in these organizations, asked with the person's own token. The bot's token would give a wrong answer:
 * servers tell it `read` of a person whose right to write comes from a team.
 * @throws ForgeError; `refused` with 401 or 403 when the token, or the account, is worth nothing
 */
export async function rightsOfPerson(client: ForgeClient, orgs: readonly KnownOrg[]): Promise<PersonAtForge> {
  const { id, login } = await client.getSelf({});
  if (!id || !login) throw new Error('the forge does not say who the person is');
  const mine = await listAll(client, 'listMyOrgs', {}, { maxPages: OWN_PAGES });
  const rights: OrgRights[] = [];
  let teams: Promise<readonly WritingTeam[]> | null = null;
  for (const known of orgs) {
    const name = nameAmong(mine, known);
    if (name === null) continue;
    const org = known.name;
    const { is_owner: isOwner } = await client.getOrgPermissions({ username: login, org: name });
    if (isOwner) {
      rights.push({ org, isOwner: true, repositories: [] });
      continue;
    }
    teams ??= writingTeams(client);
    rights.push({ org, isOwner: false, repositories: await repositoriesOf(client, name, await teams) });
  }
  return { id, login, rights };
}

/** An organization of the config. */
export interface KnownOrg {
  readonly name: string;
  /** As the forge told the bot; null = it never did, and the name counts. */
  readonly number: string | null;
}

/** The name that the organization has now; null where it is none of these. */
function nameAmong(mine: readonly Organization[], { name, number }: KnownOrg): string | null {
  const nameOf = (org: Organization): string | null => org.username ?? org.name ?? null;
  const found = mine.find((org) =>
    number === null ? nameOf(org)?.toLowerCase() === name.toLowerCase() : org.id === number,
  );
  return found ? nameOf(found) : null;
}

interface WritingTeam {
  readonly id: string;
  readonly org: string;
  readonly reachesAll: boolean;
}

/** Teams of the person that may write in some unit of a repository (issues, say, and no code). A server without the list has repositories alone. */
async function writingTeams(client: ForgeClient): Promise<WritingTeam[]> {
  const teams =
    (await whereOffered(client.listMyTeams, () => listAll(client, 'listMyTeams', {}, { maxPages: OWN_PAGES }))) ?? [];
  return teams.flatMap(({ id, organization, includes_all_repositories: all, permission, units_map: units }) => {
    const org = organization?.username ?? organization?.name;
    const levels = [permission, ...Object.values(units ?? {})];
    const writes = levels.some((level) => level === 'write' || level === 'admin' || level === 'owner');
    return id && org && writes ? [{ id, org: org.toLowerCase(), reachesAll: all === true }] : [];
  });
}

async function repositoriesOf(
  client: ForgeClient,
  org: string,
  teams: readonly WritingTeam[],
): Promise<OrgRights['repositories']> {
  const own = teams.filter((team) => team.org === org.toLowerCase());
  const reachesAll = own.some((team) => team.reachesAll);
  const reached = new Set<string>();
  if (!reachesAll)
    for (const { id } of own)
      for (const repository of await listAll(client, 'listTeamRepos', { id }, { maxPages: REPOSITORY_PAGES }))
        if (repository.id) reached.add(repository.id);
  const seen = await listAll(client, 'listOrgRepos', { org }, { maxPages: REPOSITORY_PAGES });
  return seen.flatMap(({ id, permissions }) => {
    if (!id || permissions?.pull === false) return [];
    const writes = permissions?.push === true || permissions?.admin === true;
    return [{ id, canWrite: writes || reachesAll || reached.has(id) }];
  });
}
