import { z } from 'zod';
import { id, int, listOf, text, time } from './base.js';
import { verification } from './branch.js';
import { repository } from './repository.js';
import { user } from './user.js';

const signature = z.looseObject({ date: text, email: text, name: text });

/** recordings, general and pull-requests: one commit with its account and git side. */
export const commit = z.looseObject({
  author: user.nullish(),
  commit: z
    .looseObject({
      author: signature.nullish(),
      committer: signature.nullish(),
      message: text,
      tree: z.looseObject({ created: time, sha: text, url: text }).nullish(),
      url: text,
      verification: verification.nullish(),
    })
    .nullish(),
  committer: user.nullish(),
  created: time,
  files: listOf(z.looseObject({ filename: text, status: text })).nullish(),
  html_url: text,
  parents: listOf(z.looseObject({ created: time, sha: text, url: text })).nullish(),
  sha: text,
  stats: z.looseObject({ additions: int, deletions: int, total: int }).nullish(),
  url: text,
});

export const comparison = z.looseObject({
  commits: listOf(commit).nullish(),
  files: listOf(z.looseObject({ filename: text, status: text })).nullish(),
  total_commits: int,
});

/** One status row; the word is in `status`, not `state` (api-behaviour 3.7). */
export const commitStatus = z.looseObject({
  context: text,
  created_at: time,
  creator: user.nullish(),
  description: text,
  id,
  status: text,
  target_url: text,
  updated_at: time,
  url: text,
});
export type CommitStatus = z.output<typeof commitStatus>;

export const combinedStatus = z.looseObject({
  commit_url: text,
  repository: repository.nullish(),
  sha: text,
  state: text,
  statuses: listOf(commitStatus).nullish(),
  total_count: int,
  url: text,
});
