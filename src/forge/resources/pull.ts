import { z } from 'zod';
import { flag, id, int, listOf, text, time } from './base.js';
import { label } from './label.js';
import { milestone } from './milestone.js';
import { team } from './organization.js';
import { repository } from './repository.js';
import { user } from './user.js';

const end = z.looseObject({ label: text, ref: text, repo: repository.nullish(), repo_id: id, sha: text });

/** recordings, pull-requests. `mergeable` may lag behind: servers check in the background. */
export const pull = z.looseObject({
  additions: int,
  allow_maintainer_edit: flag,
  assignee: user.nullish(),
  assignees: listOf(user).nullish(),
  base: end.nullish(),
  body: text,
  changed_files: int,
  closed_at: time,
  comments: int,
  content_version: int,
  created_at: time,
  deletions: int,
  diff_url: text,
  draft: flag,
  due_date: time,
  head: end.nullish(),
  html_url: text,
  id,
  is_locked: flag,
  labels: listOf(label).nullish(),
  merge_base: text,
  merge_commit_sha: text,
  mergeable: flag,
  merged: flag,
  merged_at: time,
  merged_by: user.nullish(),
  milestone: milestone.nullish(),
  number: int,
  patch_url: text,
  requested_reviewers: listOf(user).nullish(),
  requested_reviewers_teams: listOf(team).nullish(),
  review_comments: int,
  state: text,
  title: text,
  updated_at: time,
  url: text,
  user: user.nullish(),
});

/** recordings, pull-requests: one review, or one request for it. */
export const review = z.looseObject({
  body: text,
  comments_count: int,
  commit_id: text,
  dismissed: flag,
  html_url: text,
  id,
  official: flag,
  pull_request_url: text,
  stale: flag,
  state: text,
  submitted_at: time,
  team: team.nullish(),
  updated_at: time,
  user: user.nullish(),
});
export type Review = z.output<typeof review>;

/** recordings, pull-requests: one file that a pull request changes. */
export const changedFile = z.looseObject({
  additions: int,
  changes: int,
  contents_url: text,
  deletions: int,
  filename: text,
  html_url: text,
  previous_filename: text,
  raw_url: text,
  status: text,
});
