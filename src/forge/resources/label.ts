import { z } from 'zod';
import { flag, id, text } from './base.js';

/** api-spec, Label. `color` comes back as six lower-case digits without `#`. */
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
