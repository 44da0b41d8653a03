import { z } from 'zod';
import { flag, id, listOf, text, time } from './base.js';
import { attachment } from './comment.js';
import { user } from './user.js';

/** api-spec, Release. */
export const release = z.looseObject({
  assets: listOf(attachment).nullish(),
  author: user.nullish(),
  body: text,
  created_at: time,
  draft: flag,
  html_url: text,
  id,
  name: text,
  prerelease: flag,
  published_at: time,
  tag_name: text,
  tarball_url: text,
  target_commitish: text,
  upload_url: text,
  url: text,
  zipball_url: text,
});
export type Release = z.output<typeof release>;
