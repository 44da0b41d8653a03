import { z } from 'zod';
import { id, secret, text } from './base.js';

/** recordings, variables. `data` is the value: held as Secret, since people keep credentials in variables. */
export const variable = z.looseObject({ data: secret, description: text, name: text, owner_id: id, repo_id: id });
export type Variable = z.output<typeof variable>;
