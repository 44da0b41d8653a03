import { z } from 'zod';
import { int, text, texts } from './base.js';
import { user } from './user.js';

export const serverVersion = z.looseObject({ version: text });

/** Page sizes of the server (api-behaviour 1.2). */
export const apiSettings = z.looseObject({
  default_git_trees_per_page: int,
  default_max_blob_size: int,
  default_max_response_size: int,
  default_paging_num: int,
  max_response_items: int,
});

export const topics = z.looseObject({ topics: texts });

export const collaboratorPermission = z.looseObject({ permission: text, role_name: text, user: user.nullish() });
