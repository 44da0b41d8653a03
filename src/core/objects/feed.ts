import { z } from 'zod';
import { user } from './accounts.js';
import { flag, id, text, time } from './base.js';
import { repository } from './repositories.js';
import { comment } from './tracker.js';

/** `Activity` of the forge's API: one row of the feed. `op_type` stays text, since servers know more words than the specification. */
export const activity = z.looseObject({
  act_user: user.nullish(),
  act_user_id: id,
  comment: comment.nullish(),
  comment_id: id,
  content: text,
  created: time,
  id,
  is_private: flag,
  op_type: text,
  ref_name: text,
  repo: repository.nullish(),
  repo_id: id,
  user_id: id,
});
