import { z } from 'zod';
import { id, int, text, time } from './base.js';

/** api-spec, Milestone. */
export const milestone = z.looseObject({
  closed_at: time,
  closed_issues: int,
  created_at: time,
  description: text,
  due_on: time,
  id,
  open_issues: int,
  state: text,
  title: text,
  updated_at: time,
});
export type Milestone = z.output<typeof milestone>;
