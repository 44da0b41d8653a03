import type { Organization, Team } from '../../core/objects/accounts.js';
import type { OrgRights } from '../../core/operators.js';
import { SEEN_UNITS } from '../../core/visibility.js';
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
  const { id, login, restricted } = await client.getSelf({});
  if (!id || !login) throw new Error('the forge does not say who the person is');
  const mine = await listAll(client, 'listMyOrgs', {}, { maxPages: OWN_PAGES });
  const rights: OrgRights[] = [];
  let teams: Promise<readonly OwnTeam[]> | null = null;
  for (const pinnedOrg of orgs) {
    const name = nameAmong(mine, pinnedOrg);
    if (name === null) continue;
    const org = pinnedOrg.key;
    const { is_owner: isOwner } = await client.getOrgPermissions({ username: login, org: name });
    if (isOwner) {
      rights.push({ org, isOwner: true, repositories: [] });
      continue;
    }
    teams ??= ownTeams(client);
    const own = (await teams).filter((team) => team.org === name.toLowerCase());
    rights.push({ org, isOwner: false, repositories: await repositoriesOf(client, name, own, restricted === true) });
  }
  return { id, login, rights };
}

/** An organization of the config. */
export interface KnownOrg {
  readonly key: string;
  readonly name: string;
  /** As the forge told the bot; null = it never did, and the name counts. */
  readonly number: string | null;
}

/** The name that the organization has now; null where it is none of these. */
function nameAmong(mine: readonly Organization[], { name, number }: KnownOrg): string | null {
  const nameOf = (org: Organization): string | null => org.username ?? org.name ?? null;
  const ownOrg = mine.find((org) =>
    number === null ? nameOf(org)?.toLowerCase() === name.toLowerCase() : org.id === number,
  );
  return ownOrg ? nameOf(ownOrg) : null;
}

interface OwnTeam {
  readonly id: string;
  readonly org: string;
  readonly reachesAll: boolean;
  /** It may write in some unit of a repository (issues, say, and no code). */
  readonly writes: boolean;
  /** Units that its members may read; null = all of them. */
  readonly units: readonly string[] | null;
}

/** Teams of the person. A server without the list has repositories alone. */
async function ownTeams(client: ForgeClient): Promise<OwnTeam[]> {
  const teams =
    (await whereOffered(client.listMyTeams, () => listAll(client, 'listMyTeams', {}, { maxPages: OWN_PAGES }))) ?? [];
  return teams.flatMap((team): OwnTeam[] => {
    const { id, organization, includes_all_repositories: all, permission, units_map: map } = team;
    const org = organization?.username ?? organization?.name;
    if (!id || !org) return [];
    const levels = [permission, ...Object.values(map ?? {})];
    const writes = levels.some((level) => level === 'write' || level === 'admin' || level === 'owner');
    return [{ id, org: org.toLowerCase(), reachesAll: all === true, writes, units: readBy(team) }];
  });
}

/** A server that tells no units gives all of them. */
function readBy({ permission, units, units_map: map }: Team): readonly string[] | null {
  if (permission === 'admin' || permission === 'owner' || (!map && !units)) return null;
  const read = map ? Object.keys(map).filter((unit) => map[unit] !== 'none') : (units ?? []);
  const names = read.map((unit) => unit.replace(/^repo\./, ''));
  return SEEN_UNITS.every((unit) => names.includes(unit)) ? null : names;
}

async function repositoriesOf(
  client: ForgeClient,
  org: string,
  teams: readonly OwnTeam[],
  isRestricted: boolean,
): Promise<OrgRights['repositories']> {
  const everywhere = teams.filter(({ reachesAll }) => reachesAll);
  const opensAll = everywhere.some(({ writes, units }) => writes && units === null);
  const reaching = new Map<string, OwnTeam[]>();
  if (!opensAll)
    for (const team of teams.filter(({ reachesAll }) => !reachesAll))
      for (const { id } of await listAll(client, 'listTeamRepos', { id: team.id }, { maxPages: REPOSITORY_PAGES }))
        if (id) reaching.set(id, [...(reaching.get(id) ?? []), team]);
  const seen = await listAll(client, 'listOrgRepos', { org }, { maxPages: REPOSITORY_PAGES });
  return seen.flatMap(({ id, name, permissions, private: isPrivate }) => {
    if (!id || permissions?.pull === false) return [];
    const through = [...everywhere, ...(reaching.get(id) ?? [])];
    const canWrite = permissions?.push === true || permissions?.admin === true || through.some(({ writes }) => writes);
    // What is public, everybody may read; who is in no team that reaches it was let in as a collaborator, who reads all.
    const isOpen = (isPrivate === false && !isRestricted) || permissions?.admin === true || through.length === 0;
    const isWhole = isOpen || through.some(({ units }) => units === null);
    return [{ id, name: name ?? undefined, canWrite, units: isWhole ? null : unitsOf(through) }];
  });
}

function unitsOf(teams: readonly OwnTeam[]): string[] {
  return [...new Set(teams.flatMap(({ units }) => units ?? []))];
}
