import { ok } from '../answer.js';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../paging.js';
import type { Handlers } from '../handler.js';
import { shaped } from '../render/view.js';
import { MAX_BLOB_BYTES, MAX_RESPONSE_BYTES } from './contents.js';

export const serverHandlers: Handlers = {
  getVersion: ({ profile }) => ok({ version: profile.version }),

  getApiSettings: ({ view }) =>
    ok(
      shaped(view, 'server settings', {
        max_response_items: MAX_PAGE_SIZE,
        default_paging_num: DEFAULT_PAGE_SIZE,
        default_git_trees_per_page: 1000,
        default_max_blob_size: MAX_BLOB_BYTES,
        default_max_response_size: MAX_RESPONSE_BYTES,
      }),
    ),
};
