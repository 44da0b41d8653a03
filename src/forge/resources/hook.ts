import { z } from 'zod';
import { flag, id, secret, text, textMap, texts, time } from './base.js';

/** api-spec, Hook. The Authorization header of a hook is a credential: held as Secret. */
export const hook = z.looseObject({
  active: flag,
  authorization_header: secret,
  branch_filter: text,
  config: textMap,
  created_at: time,
  events: texts,
  id,
  name: text,
  type: text,
  updated_at: time,
});
export type Hook = z.output<typeof hook>;
