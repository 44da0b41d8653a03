import { z } from 'zod';
import { listOf, text, time, int } from './base.js';

/** api-spec, ContentsResponse: one entry of the file system; `content` is base64. */
export const contents = z.looseObject({
  _links: z.looseObject({ git: text, html: text, self: text }).nullish(),
  content: text,
  download_url: text,
  encoding: text,
  git_url: text,
  html_url: text,
  last_author_date: time,
  last_commit_message: text,
  last_commit_sha: text,
  last_committer_date: time,
  lfs_oid: text,
  lfs_size: int,
  name: text,
  path: text,
  sha: text,
  size: int,
  submodule_git_url: text,
  target: text,
  type: text,
  url: text,
});
/** What lies under a path: a file with its content, or a folder (`type: dir`) whose `entries` have none. Servers answer a bare list for a folder. */
export const fileOrFolder = z.preprocess(
  (answer) => (Array.isArray(answer) ? { type: 'dir', entries: answer } : answer),
  contents.extend({ entries: listOf(contents).nullish() }),
);

/** api-behaviour 1.1: what a commit to one file answers; `content` is null once the file is gone. */
export const fileChange = z.looseObject({
  commit: z.looseObject({ html_url: text, message: text, sha: text, url: text }).nullish(),
  content: contents.nullish(),
});
export type Contents = z.output<typeof contents>;
