import type { OrgRights } from '../../core/operators.js';
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
export async function rightsOfPerson(client: ForgeClient, orgs: readonly string[]): Promise<PersonAtForge> {
  const { id, login } = await client.getSelf({});
  if (!id || !login) throw new Error('the forge does not say who the person is');
  const mine = await listAll(client, 'listMyOrgs', {}, { maxPages: OWN_PAGES });
  const names = new Set(mine.flatMap(({ name, username }) => [name, username]).map((name) => name?.toLowerCase()));
  const rights: OrgRights[] = [];
  let teams: Promise<readonly WritingTeam[]> | null = null;
  for (const org of orgs.filter((name) => names.has(name.toLowerCase()))) {
    const { is_owner: isOwner } = await client.getOrgPermissions({ username: login, org });
    if (isOwner) {
      rights.push({ org, isOwner: true, repositories: [] });
      continue;
    }
    teams ??= writingTeams(client);
    rights.push({ org, isOwner: false, repositories: await repositoriesOf(client, org, await teams) });
  }
  return { id, login, rights };
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
