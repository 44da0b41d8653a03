import { ok } from '../answer.js';
import type { Organization, Repository, User, World } from '../world.js';
import type { ControlRoute } from './router.js';

/** Who and what is there: people to act as, organizations with teams and hooks, repositories. No secrets. */
export const worldRoute: ControlRoute = {
  method: 'GET',
  path: '/_sandbox/world',
  run: ({ parts: { world, profile } }) => {
    const owners = [...world.owners.values()];
    return ok({
      profile: profile.name,
      users: owners
        .filter((owner): owner is User => owner.kind === 'user')
        .map(({ id, login, fullName, isAdmin }) => ({ id, login, full_name: fullName, admin: isAdmin })),
      orgs: owners
        .filter((owner): owner is Organization => owner.kind === 'organization')
        .map((org) => shownOrg(world, org)),
      repos: [...world.repos.values()].map((repo) => shownRepo(world, repo)),
    });
  },
};

function shownOrg(world: World, org: Organization): object {
  const teams = [...world.teams.values()].filter((team) => team.orgId === org.id);
  const hooks = [...world.hooks.values()].filter((hook) => hook.orgId === org.id);
  return {
    id: org.id,
    name: org.login,
    teams: teams.map(({ id, name, permission, members }) => ({
      id,
      name,
      permission,
      members: [...members].map((member) => world.owner(member).login),
    })),
    hooks: hooks.map(({ id, url, events, isActive }) => ({ id, url, events, active: isActive })),
  };
}

function shownRepo(world: World, repo: Repository): object {
  return {
    id: repo.id,
    full_name: `${world.ownerOf(repo).login}/${repo.name}`,
    default_branch: repo.defaultBranch,
    private: repo.private,
    archived: repo.archivedAt !== 0,
    fork: repo.forkOf !== null,
    template: repo.template,
    empty: repo.git.branches.size === 0,
    branches: [...repo.git.branches.keys()],
    tags: [...repo.git.tags.keys()],
  };
}

/** `?after=N` leaves out entries up to N, `limit=N` all after so many, `writes=true` those that only read. */
export const ledgerRoute: ControlRoute = {
  method: 'GET',
  path: '/_sandbox/ledger',
  run: ({ parts, query }) => {
    const after = Number(query.get('after') ?? 0) || 0;
    const limit = Number(query.get('limit') ?? 0) || Infinity;
    // Numbers are places: entries are never dropped.
    const entries = parts.ledger.entries.slice(after, after + limit);
    return ok({
      last: parts.ledger.entries.length,
      entries: query.get('writes') === 'true' ? entries.filter(({ method }) => method !== 'GET') : entries,
    });
  },
};
