import type { DeliveryReader, Family, RowReader } from '../family.js';
import { commentFamily } from './comment.js';
import { issueFamily } from './issue.js';
import { packageFamily } from './package.js';
import { pullRequestFamily } from './pull-request.js';
import { pushFamily } from './push.js';
import { refFamily } from './ref.js';
import { releaseFamily } from './release.js';
import { repositoryFamily } from './repository.js';
import { reviewFamily } from './review.js';
import { statusFamily } from './status.js';
import { taskFamily } from './task.js';
import { wikiFamily } from './wiki.js';
import { workflowFamily } from './workflow.js';

/** Every family we know. A new one is a file and a line here. */
const FAMILIES: readonly Family[] = [
  pushFamily,
  refFamily,
  repositoryFamily,
  issueFamily,
  commentFamily,
  pullRequestFamily,
  reviewFamily,
  releaseFamily,
  packageFamily,
  wikiFamily,
  statusFamily,
  workflowFamily,
  taskFamily,
];

/** By event type, as the Event-Type header says it. */
export const DELIVERY_READERS: ReadonlyMap<string, DeliveryReader> = tableOf(
  FAMILIES.map((family) => family.deliveries),
);

/** By `op_type` of a feed row. */
export const ROW_READERS: ReadonlyMap<string, RowReader> = tableOf(FAMILIES.map((family) => family.rows));

function tableOf<Reader>(
  parts: ReadonlyArray<Readonly<Record<string, Reader>> | undefined>,
): ReadonlyMap<string, Reader> {
  const table = new Map<string, Reader>();
  for (const part of parts) {
    for (const [name, reader] of Object.entries(part ?? {})) {
      if (table.has(name)) throw new Error(`two families read ${name}`);
      table.set(name, reader);
    }
  }
  return table;
}
