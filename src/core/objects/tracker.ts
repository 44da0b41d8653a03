import { z } from 'zod';
import { team, user } from './accounts.js';
import { anything, flag, id, int, listOf, text, time, words } from './base.js';
import { repository } from './repositories.js';
import { fields } from '../schema.js';

/** `Label` of the forge's API. `color` comes back as six lower-case digits without `#`. */
export const label = z.looseObject({
  ...fields('color description name url', text),
  exclusive: flag,
  id,
  is_archived: flag,
});
export type Label = z.output<typeof label>;

const openState = words('open', 'closed');

/** `Milestone` of the forge's API. */
export const milestone = z.looseObject({
  ...fields('closed_at created_at due_on updated_at', time),
  closed_issues: int,
  description: text,
  id,
  open_issues: int,
  state: openState,
  title: text,
});
export type Milestone = z.output<typeof milestone>;

/** `Attachment` of the forge's API. */
export const attachment = z.looseObject({
  ...fields('browser_download_url name type uuid', text),
  created_at: time,
  download_count: int,
  id,
  size: int,
});

/** `Comment` of the forge's API. */
export const comment = z.looseObject({
  assets: listOf(attachment).optional(),
  ...fields('body html_url issue_url original_author pull_request_url', text),
  created_at: time,
  id,
  original_author_id: id,
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
  ...fields('body html_url original_author ref title url', text),
  ...fields('closed_at created_at due_date updated_at', time),
  ...fields('comments content_version number pin_order time_estimate', int),
  id,
  is_locked: flag,
  labels: listOf(label).optional(),
  milestone: milestone.nullish(),
  original_author_id: id,
  projects: anything,
  pull_request: issuePull.nullish(),
  repository: issueRepository.nullish(),
  state: openState,
  user: user.nullish(),
});
export type Issue = z.output<typeof issue>;

/** recordings, issues: one entry of a timeline; further fields differ by `type` and are kept as they are. */
export const timelineEntry = comment.extend({
  assignee: user.nullish(),
  assignee_team: team.nullish(),
  label: label.nullish(),
  milestone: milestone.nullish(),
  ...fields('new_title old_title ref_commit_sha type', text),
  old_milestone: milestone.nullish(),
  review_id: id,
});
export type TimelineEntry = z.output<typeof timelineEntry>;

export const pullEnd = z.looseObject({ label: text, ref: text, repo: repository.nullish(), repo_id: id, sha: text });

/** recordings, pull-requests. `mergeable` may lag behind: servers check in the background. */
export const pull = z.looseObject({
  ...fields('additions changed_files comments content_version deletions flow number pin_order review_comments', int),
  ...fields('allow_maintainer_edit draft is_locked mergeable merged', flag),
  assignee: user.nullish(),
  assignees: listOf(user).optional(),
  base: pullEnd.nullish(),
  ...fields('body diff_url html_url merge_base merge_commit_sha patch_url title url', text),
  ...fields('closed_at created_at due_date merged_at updated_at', time),
  head: pullEnd.nullish(),
  id,
  labels: listOf(label).optional(),
  merged_by: user.nullish(),
  milestone: milestone.nullish(),
  requested_reviewers: listOf(user).optional(),
  requested_reviewers_teams: listOf(team).optional(),
  state: openState,
  user: user.nullish(),
});
export type Pull = z.output<typeof pull>;

/** recordings, pull-requests: one review, or one request for it. */
export const review = z.looseObject({
  ...fields('body commit_id html_url pull_request_url state', text),
  comments_count: int,
  ...fields('dismissed official stale', flag),
  id,
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
  ...fields('additions changes deletions', int),
  ...fields('contents_url filename html_url previous_filename raw_url status', text),
});
