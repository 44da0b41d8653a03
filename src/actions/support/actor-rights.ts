import { higherLevel, isLevel, type ActorRights, type RightLevel } from '../../core/rights.js';
import type { ForgeClient } from '../../forge/forge-client.js';
import type { Team } from '../../core/objects/accounts.js';
import { readAll } from './read-all.js';
import { isSameLogin } from './pick-people.js';
import { orMissing, whereAllowed } from './where-offered.js';
import { emptyTable } from '../../core/table.js';

export interface AskedActor {
  readonly login: string;
  /** Null where only the login is told. */
  readonly id: string | null;
}

/** What the forge says about somebody in a repository of an organization, and in which teams they are. */
export interface SeenRights extends ActorRights {
  readonly teams: readonly string[];
  /** False = nothing could be read. */
  readonly isKnown: boolean;
}

export type RightsReads = Pick<ForgeClient, 'getCollaboratorPermission'> &
  Partial<Pick<ForgeClient, 'listOrgTeams' | 'listTeamMembers' | 'listTeamRepos'>>;

/**
 * The highest of ownership of the organization, team units on this repository, and collaborator permission. The permission call alone does
 * not tell the truth about people whose write comes from the units of a team: Gitea says `read`, Forgejo `write` for all units (recordings,
 * general). What cannot be read gives nothing.
 */
export async function readActorRights(
  forge: RightsReads,
  repo: { owner: string; name: string; id: string },
  actor: AskedActor,
): Promise<SeenRights> {
  const { login } = actor;
  if (actor.id !== null && actor.id.startsWith('-')) return nobody(login, 'is no account of a person');
  const ask: ForgeClient['getCollaboratorPermission'] = (args) => forge.getCollaboratorPermission(args);
  const told = await whereAllowed(ask, (get) =>
    orMissing(get({ owner: repo.owner, repo: repo.name, collaborator: login })),
  );
  // The account may have been renamed, and somebody else may have its name now.
  if (told?.user?.id && actor.id !== null && told.user.id !== actor.id)
    return nobody(login, 'is the name of another account now');
  const teams = await teamsOf(forge, repo.owner, actor);
  if (told === undefined && teams === undefined)
    return nobody(login, 'has rights that cannot be known: this token may read neither permissions nor teams', false);
  let level: RightLevel = levelIn(told?.permission);
  const because = told ? [`collaborator permission ${level}`] : [];
  const units: Record<string, RightLevel> = emptyTable();
  for (const team of teams ?? []) {
    if (team.permission === 'owner') {
      level = 'owner';
      because.push(`owner of the organization (team ${team.name ?? ''})`);
      continue;
    }
    if (!(await reaches(forge, team, repo.id))) continue;
    if (team.permission === 'admin') level = higherLevel(level, 'admin');
    for (const [unit, granted] of unitsOf(team)) units[unit] = higherLevel(units[unit] ?? 'none', granted);
    because.push(`team ${team.name ?? ''} (${team.permission === 'admin' ? 'admin' : describeUnits(unitsOf(team))})`);
  }
  // Forgejo tells the highest unit of a team as a permission on all: where a team explains the word, only its units count.
  if (level === 'write' && Object.values(units).includes('write')) level = 'read';
  if (teams === undefined) because.push('teams could not be read');
  return {
    level,
    units,
    teams: (teams ?? []).map(({ name }) => name ?? ''),
    isKnown: true,
    reason: `${login}: ${because.join(', ') || 'nothing'}`,
  };
}

function nobody(login: string, why: string, isKnown = true): SeenRights {
  return { level: 'none', units: {}, teams: [], isKnown, reason: `${login} ${why}` };
}

function levelIn(word: string | null | undefined): RightLevel {
  return word && isLevel(word) ? word : 'none';
}

/** Undefined = teams cannot be read. */
async function teamsOf(forge: RightsReads, org: string, actor: AskedActor): Promise<Team[] | undefined> {
  const all = await whereAllowed(forge.listOrgTeams, () => orMissing(readAll(forge, 'listOrgTeams', { org })));
  if (!all || !forge.listTeamMembers) return undefined;
  const mine: Team[] = [];
  for (const team of all) {
    const members = await whereAllowed(forge.listTeamMembers, () =>
      orMissing(readAll(forge, 'listTeamMembers', { id: team.id ?? '0' })),
    );
    const isMember = members?.some((user) =>
      actor.id === null ? isSameLogin(user.login, actor.login) : user.id === actor.id,
    );
    if (isMember) mine.push(team);
  }
  return mine;
}

async function reaches(forge: RightsReads, team: Team, repoId: string): Promise<boolean> {
  if (team.includes_all_repositories === true) return true;
  const repos = await whereAllowed(forge.listTeamRepos, () =>
    orMissing(readAll(forge, 'listTeamRepos', { id: team.id ?? '0' })),
  );
  return repos?.some(({ id }) => id === repoId) ?? false;
}

/** `issues` to `write`; servers name units `repo.issues`. */
function unitsOf({ units_map: map, units, permission }: Team): Array<[string, RightLevel]> {
  const entries =
    map && Object.keys(map).length > 0
      ? Object.entries(map)
      : (units ?? []).map((unit): [string, string] => [unit, permission ?? 'none']);
  return entries.map(([unit, level]) => [unit.replace(/^repo\./, ''), levelIn(level)]);
}

function describeUnits(units: ReadonlyArray<readonly [string, RightLevel]>): string {
  const writing = units.filter(([, level]) => level !== 'read' && level !== 'none');
  return writing.length === 0 ? 'read' : writing.map(([unit, level]) => `${level} on ${unit}`).join(', ');
}
