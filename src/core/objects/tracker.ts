import { z } from 'zod';
import { team, user } from './accounts.js';
import { anything, flag, id, int, listOf, text, time, words } from './base.js';
import { repository } from './repositories.js';

/** `Label` of the forge's API. `color` comes back as six lower-case digits without `#`. */
export const label = z.looseObject({
  color: text,
  description: text,
  exclusive: flag,
  id,
  is_archived: flag,
  name: text,
  url: text,
});
export type Label = z.output<typeof label>;

const openState = words('open', 'closed');

/** `Milestone` of the forge's API. */
export const milestone = z.looseObject({
  closed_at: time,
  closed_issues: int,
  created_at: time,
  description: text,
  due_on: time,
  id,
  open_issues: int,
  state: openState,
  title: text,
  updated_at: time,
});
export type Milestone = z.output<typeof milestone>;

/** `Attachment` of the forge's API. */
export const attachment = z.looseObject({
  browser_download_url: text,
  created_at: time,
  download_count: int,
  id,
  name: text,
  size: int,
  type: text,
  uuid: text,
});

/** `Comment` of the forge's API. */
export const comment = z.looseObject({
  assets: listOf(attachment).optional(),
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

/** recordings, talk. `content` is a name such as `+1` or `eyes`. */
export const reaction = z.looseObject({ content: text, created_at: time, user: user.nullish() });

export const issuePull = z.looseObject({ draft: flag, html_url: text, merged: flag, merged_at: time });
export const issueRepository = z.looseObject({ full_name: text, id, name: text, owner: text });

/** recordings, issues. `pull_request` is not null when the issue is a pull request. */
export const issue = z.looseObject({
  assets: listOf(attachment).optional(),
  assignee: user.nullish(),
  assignees: listOf(user).optional(),
  body: text,
  closed_at: time,
  comments: int,
  content_version: int,
  created_at: time,
  due_date: time,
  html_url: text,
  id,
  is_locked: flag,
  labels: listOf(label).optional(),
  milestone: milestone.nullish(),
  number: int,
  original_author: text,
  original_author_id: id,
  pin_order: int,
  projects: anything,
  pull_request: issuePull.nullish(),
  ref: text,
  repository: issueRepository.nullish(),
  state: openState,
  time_estimate: int,
  title: text,
  updated_at: time,
  url: text,
  user: user.nullish(),
});
export type Issue = z.output<typeof issue>;

/** recordings, issues: one entry of a timeline; further fields differ by `type` and are kept as they are. */
export const timelineEntry = comment.extend({
  assignee: user.nullish(),
  assignee_team: team.nullish(),
  label: label.nullish(),
  milestone: milestone.nullish(),
  new_title: text,
  old_milestone: milestone.nullish(),
  old_title: text,
  ref_commit_sha: text,
  review_id: id,
  type: text,
});

export const pullEnd = z.looseObject({ label: text, ref: text, repo: repository.nullish(), repo_id: id, sha: text });

/** recordings, pull-requests. `mergeable` may lag behind: servers check in the background. */
export const pull = z.looseObject({
  additions: int,
  allow_maintainer_edit: flag,
  assignee: user.nullish(),
  assignees: listOf(user).optional(),
  base: pullEnd.nullish(),
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
  flow: int,
  head: pullEnd.nullish(),
  html_url: text,
  id,
  is_locked: flag,
  labels: listOf(label).optional(),
  merge_base: text,
  merge_commit_sha: text,
  mergeable: flag,
  merged: flag,
  merged_at: time,
  merged_by: user.nullish(),
  milestone: milestone.nullish(),
  number: int,
  patch_url: text,
  pin_order: int,
  requested_reviewers: listOf(user).optional(),
  requested_reviewers_teams: listOf(team).optional(),
  review_comments: int,
  state: openState,
  title: text,
  updated_at: time,
  url: text,
  user: user.nullish(),
});
export type Pull = z.output<typeof pull>;

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

/** recordings, pull-lifecycle: a comment on a line, with the hunk that it is about. */
export const reviewComment = comment
  .pick({
    body: true,
    created_at: true,
    html_url: true,
    id: true,
    pull_request_url: true,
    updated_at: true,
    user: true,
  })
  .extend({
    commit_id: text,
    diff_hunk: text,
    original_commit_id: text,
    original_position: int,
    path: text,
    position: int,
    pull_request_review_id: id,
    resolver: user.nullish(),
  });

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
