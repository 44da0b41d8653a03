import { z } from 'zod';
import { id, secret, text, texts, time } from './base.js';

/** api-spec, AccessToken. `sha1` carries the whole token in the answer of a creation: held as Secret, and so is its tail. */
export const accessToken = z.looseObject({
  created_at: time,
  id,
  last_used_at: time,
  name: text,
  scopes: texts,
  sha1: secret,
  token_last_eight: secret,
});
export type AccessToken = z.output<typeof accessToken>;
