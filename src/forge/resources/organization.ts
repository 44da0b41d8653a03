import { z } from 'zod';
import { flag, id, text, textMap, texts } from './base.js';

/** api-spec, Organization. */
export const organization = z.looseObject({
  avatar_url: text,
  description: text,
  email: text,
  full_name: text,
  id,
  location: text,
  name: text,
  repo_admin_change_team_access: flag,
  username: text,
  visibility: text,
  website: text,
});
export type Organization = z.output<typeof organization>;

/** api-spec, Team. */
export const team = z.looseObject({
  can_create_org_repo: flag,
  description: text,
  id,
  includes_all_repositories: flag,
  name: text,
  organization: organization.nullish(),
  permission: text,
  units: texts,
  units_map: textMap,
  visibility: text,
});
export type Team = z.output<typeof team>;
