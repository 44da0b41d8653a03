import { z } from 'zod';
import { flag, id, int, text, time } from './base.js';

/** api-spec, User. */
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
  restricted: flag,
  source_id: id,
  starred_repos_count: int,
  username: text,
  visibility: text,
  website: text,
});
export type User = z.output<typeof user>;
