import {
  higherLevel,
  holdsRight,
  isLevel,
  type ActorRights,
  type NeededRight,
  type RightLevel,
} from '../core/rights.js';
import type { ForgeCapabilities } from './connected-forges.js';
import { type ForgeClient, listAll, orNull } from './forge-client.js';
import { emptyTable } from '../core/table.js';

/** The most that the bot's account may do in any repository of an organization, as far as the forge shows it. */
export interface OwnRights extends ActorRights {
  /** False = something could not be read: what is missing may be there all the same. */
  readonly isKnown: boolean;
}

const OWNER: OwnRights = { level: 'owner', units: {}, isKnown: true, reason: 'owns the organization' };

/**
 * Ownership of the organization, else the best of the teams that the account is in and of what its repositories say about it. Reads alone.
 * What the collaborator call says is not asked: it does not tell the truth about people whose write comes from the units of a team.
 * @param isOwner what asking for the organization's webhooks showed; null = it could not be told
 * @throws ForgeError when the forge cannot be asked now
 */
export async function readOwnRights(
  client: ForgeClient,
  { self, isSiteAdmin }: Pick<ForgeCapabilities, 'self' | 'isSiteAdmin'>,
  org: string,
  isOwner: boolean | null,
): Promise<OwnRights> {
  if (isSiteAdmin === true) return { ...OWNER, reason: 'administers the site' };
  if (isOwner === true) return OWNER;
  const repositories = await orNull(listAll(client, 'listOrgRepos', { org }));
  let level: RightLevel = 'none';
  const units: Record<string, RightLevel> = emptyTable();
  for (const { permissions } of repositories ?? []) {
    if (permissions?.pull === true) level = higherLevel(level, 'read');
    if (permissions?.admin === true) level = 'admin';
  }
  const teams = level === 'admin' ? [] : await ownTeams(client, org, self?.login ?? null);
  for (const { permission, units_map: map, units: names } of teams ?? []) {
    if (permission === 'owner') return OWNER;
    if (permission === 'admin') level = 'admin';
    const granted =
      map && Object.keys(map).length > 0
        ? Object.entries(map)
        : (names ?? []).map((name): [string, string] => [name, permission ?? 'none']);
    for (const [name, word] of granted) {
      const unit = name.replace(/^repo\./, '');
      if (word && isLevel(word)) units[unit] = higherLevel(units[unit] ?? 'none', word);
    }
  }
  // Who may push without a team that says so is a collaborator, with write on everything.
  const mayPush = repositories?.some(({ permissions }) => permissions?.push === true) ?? false;
  if (mayPush && units['code'] !== 'write') level = higherLevel(level, 'write');
  const writes = Object.entries(units).flatMap(([unit, granted]) =>
    granted === 'write' || granted === 'admin' ? [unit] : [],
  );
  const reason =
    level === 'admin'
      ? 'has admin at most'
      : writes.length > 0
        ? `has write on ${writes.sort().join(', ')} at most`
        : `has ${level} at most`;
  return { level, units, isKnown: repositories !== null && teams !== null, reason };
}

/** What the account has instead of a right, as the end of a sentence; null = it is held somewhere in the organization, or that cannot be told. */
export function whyNot(needed: NeededRight, rights: OwnRights): string | null {
  return holdsRight(needed, rights) || !rights.isKnown ? null : rights.reason;
}

async function ownTeams(client: ForgeClient, org: string, login: string | null) {
  const all = login === null ? null : await orNull(listAll(client, 'listOrgTeams', { org }));
  if (!all || login === null) return null;
  const mine: typeof all = [];
  for (const team of all) {
    const members = await orNull(listAll(client, 'listTeamMembers', { id: team.id ?? '0' }));
    // A team whose members are not shown to us is one that we are not in.
    if (members?.some((user) => user.login?.toLowerCase() === login.toLowerCase())) mine.push(team);
  }
  return mine;
}
