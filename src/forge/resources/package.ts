import { z } from 'zod';
import { id, int, text, time } from './base.js';
import { repository } from './repository.js';
import { user } from './user.js';

/** api-spec, Package. */
export const packageVersion = z.looseObject({
  created_at: time,
  creator: user.nullish(),
  html_url: text,
  id,
  name: text,
  owner: user.nullish(),
  repository: repository.nullish(),
  type: text,
  version: text,
});

/** recordings, packages: one file of a package version. */
export const packageFile = z.looseObject({
  id,
  md5: text,
  name: text,
  sha1: text,
  sha256: text,
  sha512: text,
  size: int,
  Size: int,
});
