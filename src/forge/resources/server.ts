import { z } from 'zod';
import { int, text, texts } from './base.js';
import { user } from './user.js';

export const serverVersion = z.looseObject({ version: text });
export type ServerVersion = z.output<typeof serverVersion>;

/** Page sizes of the server (api-behaviour 1.2). */
export const apiSettings = z.looseObject({
  default_git_trees_per_page: int,
  default_max_blob_size: int,
  default_max_response_size: int,
  default_paging_num: int,
  max_response_items: int,
});
export type ApiSettings = z.output<typeof apiSettings>;

export const topics = z.looseObject({ topics: texts });

export const collaboratorPermission = z.looseObject({ permission: text, role_name: text, user: user.nullish() });
export type CollaboratorPermission = z.output<typeof collaboratorPermission>;
