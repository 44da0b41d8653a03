import { z } from 'zod';
import { flag, text } from './base.js';

const one = z.looseObject({
  description: text,
  diff_view_style: text,
  full_name: text,
  hide_activity: flag,
  hide_email: flag,
  language: text,
  location: text,
  theme: text,
  website: text,
});

/** api-spec, UserSettings. Servers answer one object, the specification says an array: both are read as one object. */
export const userSettings = z.union([one, z.tuple([one], one).transform(([first]) => first)]);
export type UserSettings = z.output<typeof userSettings>;
