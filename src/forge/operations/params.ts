import type { ParamSpec } from '../define-operation.js';

/** Query of every paged list: `page` from 1, `limit` cut down silently by the server. */
export const paging = {
  page: { type: 'integer', summary: 'page number, from 1' },
  limit: { type: 'integer', summary: 'page size; servers cut it down to their own maximum' },
} as const satisfies Record<string, ParamSpec>;

export const jobStatus = {
  type: 'string',
  summary: 'pending, queued, in_progress, failure, success or skipped',
} as const satisfies ParamSpec;
