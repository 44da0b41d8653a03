import { z } from 'zod';
import { user } from './accounts.js';
import { flag, id, text, time } from './base.js';
import { repository } from './repositories.js';
import { comment } from './tracker.js';
import { fields } from '../schema.js';

/** `Activity` of the forge's API: one row of the feed. `op_type` stays text, since servers know more words than the specification. */
export const activity = z.looseObject({
  act_user: user.nullish(),
  ...fields('act_user_id comment_id id repo_id user_id', id),
  comment: comment.nullish(),
  ...fields('content op_type ref_name', text),
  created: time,
  is_private: flag,
  repo: repository.nullish(),
});
