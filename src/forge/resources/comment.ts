import { z } from 'zod';
import { id, int, listOf, text, time } from './base.js';
import { user } from './user.js';

/** api-spec, Attachment. */
export const attachment = z.looseObject({
  browser_download_url: text,
  created_at: time,
  download_count: int,
  id,
  name: text,
  size: int,
  uuid: text,
});
export type Attachment = z.output<typeof attachment>;

/** api-spec, Comment. */
export const comment = z.looseObject({
  assets: listOf(attachment).nullish(),
  body: text,
  created_at: time,
  html_url: text,
  id,
  issue_url: text,
  original_author: text,
  original_author_id: id,
  pull_request_url: text,
  updated_at: time,
  user: user.nullish(),
});
export type Comment = z.output<typeof comment>;
