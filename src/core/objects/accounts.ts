import { z } from 'zod';
import { flag, id, int, secret, text, textMap, texts, time } from './base.js';

/** `User` of the forge's API. */
export const user = z.looseObject({
  active: flag,
  avatar_url: text,
  created: time,
  description: text,
  email: text,
  followers_count: int,
  following_count: int,
  full_name: text,
  html_url: text,
  id,
  is_admin: flag,
  language: text,
  last_login: time,
  location: text,
  login: text,
  login_name: text,
  prohibit_login: flag,
  pronouns: text,
  restricted: flag,
  source_id: id,
  starred_repos_count: int,
  username: text,
  visibility: text,
  website: text,
});

/** `Organization` of the forge's API. */
export const organization = z.looseObject({
  avatar_url: text,
  created: time,
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

/** `Team` of the forge's API. */
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

const one = z.looseObject({
  description: text,
  diff_view_style: text,
  full_name: text,
  hide_activity: flag,
  hide_email: flag,
  language: text,
  location: text,
  theme: text,
  website: text,
});

/** `UserSettings` of the forge's API. Servers answer one object, the specification says an array: both are read as one object. */
export const userSettings = z.union([one, z.tuple([one], one).transform(([first]) => first)]);

/** `AccessToken` of the forge's API. `sha1` carries the whole token in the answer of a creation: held as Secret, and so is its tail. */
export const accessToken = z.looseObject({
  created_at: time,
  id,
  last_used_at: time,
  name: text,
  scopes: texts,
  sha1: secret,
  token_last_eight: secret,
});
export type AccessToken = z.output<typeof accessToken>;

/** Gitea 1.27 and later: the token of the call itself. */
export const tokenInUse = z.looseObject({
  created_at: time,
  id,
  last_used_at: time,
  name: text,
  scopes: texts,
  user: z.looseObject({ id, login: text }).nullish(),
});

/** A program that people may log in to. `client_secret` is told by the answers that make one: held as Secret. */
export const oauthApplication = z.looseObject({
  client_id: text,
  client_secret: secret,
  confidential_client: flag,
  created: time,
  id,
  name: text,
  redirect_uris: texts,
  skip_secondary_authorization: flag,
});

/** What somebody may do in an organization. Gitea tells no writing that comes from team units. */
export const organizationPermissions = z.looseObject({
  can_create_repository: flag,
  can_read: flag,
  can_write: flag,
  is_admin: flag,
  is_owner: flag,
});
