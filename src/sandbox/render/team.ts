import type { Team } from '../world.js';
import { UNITS } from '../world.js';
import { shaped } from './shape.js';
import { renderOrganization } from './user.js';
import type { View } from './view.js';

/** A team. Where rights come from units, most servers say `none` for its `permission`. */
export function renderTeam(view: View, team: Team, options: { withOrganization?: boolean } = {}): object {
  const org = view.world.owner(team.orgId);
  const units = UNITS.filter((unit) => team.units.has(unit));
  const isTold = team.permission === 'admin' || team.permission === 'owner' || view.profile.access.teamPermission === 'told';
  return shaped(view, 'team', {
    id: team.id,
    name: team.name,
    description: team.description,
    organization: options.withOrganization && org.kind === 'organization' ? renderOrganization(view, org) : null,
    includes_all_repositories: team.includesAllRepositories,
    permission: isTold ? team.permission : 'none',
    units,
    units_map: Object.fromEntries([...units].sort().map((unit) => [unit, team.units.get(unit) ?? 'none'])),
    can_create_org_repo: team.canCreateOrgRepo,
    visibility: team.visibility,
  });
}
