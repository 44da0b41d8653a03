import { z } from 'zod';
import { fields, texts } from '../../core/schema.js';

/** What a reload of the config changed in the process that answers. */
export const reloadReport = z.object({
  here: z
    .object({
      ...fields('added removed changed', texts.describe('Names of organizations.')),
      needsRestart: texts.describe('Keys of the config that say something else, and hold from the next start.'),
    })
    .nullable()
    .describe('Null when no process of the bot answers, but a command over its store.'),
  elsewhere: z.boolean().describe('Whether the other processes of the bot were told; they follow within five seconds.'),
});
export type ReloadReport = z.output<typeof reloadReport>;
export type Reloaded = NonNullable<ReloadReport['here']>;
