import { z } from 'zod';
import { flag, id, int, listOf, text, time } from './base.js';
import { attachment, comment } from './comment.js';
import { label } from './label.js';
import { milestone } from './milestone.js';
import { team } from './organization.js';
import { user } from './user.js';

/** recordings, issues. `pull_request` is not null when the issue is a pull request. */
export const issue = z.looseObject({
  assets: listOf(attachment).nullish(),
  assignee: user.nullish(),
  assignees: listOf(user).nullish(),
  body: text,
  closed_at: time,
  comments: int,
  content_version: int,
  created_at: time,
  due_date: time,
  html_url: text,
  id,
  is_locked: flag,
  labels: listOf(label).nullish(),
  milestone: milestone.nullish(),
  number: int,
  original_author: text,
  original_author_id: id,
  pin_order: int,
  pull_request: z.looseObject({ draft: flag, html_url: text, merged: flag, merged_at: time }).nullish(),
  ref: text,
  repository: z.looseObject({ full_name: text, id, name: text, owner: text }).nullish(),
  state: text,
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
