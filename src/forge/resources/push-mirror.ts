import { z } from 'zod';
import { flag, text, time } from './base.js';

/** api-spec, PushMirror. `remote_address` comes back without user and password. */
export const pushMirror = z.looseObject({
  created: time,
  interval: text,
  last_error: text,
  last_update: time,
  remote_address: text,
  remote_name: text,
  repo_name: text,
  sync_on_commit: flag,
});
export type PushMirror = z.output<typeof pushMirror>;
