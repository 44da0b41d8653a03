import { z } from 'zod';
import { flag, id, int, secret, text, textMap, texts, time } from './base.js';
import { fields } from '../schema.js';

/** `User` of the forge's API. */
export const user = z.looseObject({
  ...fields('active is_admin prohibit_login restricted', flag),
  ...fields('avatar_url description email full_name html_url language location login login_name pronouns', text),
  ...fields('username visibility website', text),
  created: time,
  ...fields('followers_count following_count starred_repos_count', int),
  id,
  last_login: time,
  source_id: id,
});

/** `Organization` of the forge's API. */
export const organization = z.looseObject({
  ...fields('avatar_url description email full_name location name username visibility website', text),
  created: time,
  id,
  repo_admin_change_team_access: flag,
});
export type Organization = z.output<typeof organization>;

/** `Team` of the forge's API. */
export const team = z.looseObject({
  can_create_org_repo: flag,
  ...fields('description name permission visibility', text),
  id,
  includes_all_repositories: flag,
  organization: organization.nullish(),
  units: texts,
  units_map: textMap,
});
export type Team = z.output<typeof team>;

const one = z.looseObject({
  ...fields('description diff_view_style full_name language location theme website', text),
  hide_activity: flag,
  hide_email: flag,
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
  ...fields('can_create_repository can_read can_write is_admin is_owner', flag),
});
