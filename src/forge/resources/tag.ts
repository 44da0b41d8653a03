import { z } from 'zod';
import { text, time } from './base.js';

/** A tag with the commit it stands on; `id` is a hash, not a number of the forge. */
export const tag = z.looseObject({
  commit: z.looseObject({ created: time, sha: text, url: text }).nullish(),
  id: text,
  message: text,
  name: text,
  tarball_url: text,
  zipball_url: text,
});
