import type { OperationName } from '../forge/operations.js';
import { feedHandlers } from './feed/org-feed.js';
import type { Handler } from './handler.js';
import { actionsRunHandlers } from './resources/actions-runs.js';
import { protectionHandlers } from './resources/branch-protections.js';
import { branchHandlers } from './resources/branches.js';
import { commentHandlers } from './resources/comments.js';
import { commitHandlers } from './resources/commits.js';
import { contentHandlers } from './resources/contents.js';
import { fileWriteHandlers } from './resources/file-writes.js';
import { issueLabelHandlers } from './resources/issue-labels.js';
import { issueHandlers } from './resources/issues.js';
import { labelHandlers } from './resources/labels.js';
import { memberHandlers } from './resources/members.js';
import { milestoneHandlers } from './resources/milestones.js';
import { organizationHookHandlers } from './resources/organization-hooks.js';
import { organizationHandlers } from './resources/organizations.js';
import { packageHandlers } from './resources/packages.js';
import { pullHandlers } from './resources/pulls.js';
import { pushMirrorHandlers } from './resources/push-mirrors.js';
import { releaseHandlers } from './resources/releases.js';
import { repositoryHandlers } from './resources/repositories.js';
import { repositoryCreateHandlers } from './resources/repository-create.js';
import { reviewHandlers } from './resources/reviews.js';
import { serverHandlers } from './resources/server.js';
import { statusHandlers } from './resources/statuses.js';
import { tagHandlers } from './resources/tags.js';
import { teamHandlers } from './resources/teams.js';
import { tokenHandlers } from './resources/tokens.js';
import { userHandlers } from './resources/users.js';
import { variableHandlers } from './resources/variables.js';

/** What a resource file exports: handlers by the names of the operations table; routes and scopes derive from the table. */
export type Handlers = Partial<Record<OperationName, Handler>>;

/** A new resource is one file and one line here. */
const RESOURCES: readonly Handlers[] = [
  actionsRunHandlers,
  protectionHandlers,
  branchHandlers,
  commentHandlers,
  commitHandlers,
  contentHandlers,
  feedHandlers,
  fileWriteHandlers,
  issueLabelHandlers,
  issueHandlers,
  labelHandlers,
  memberHandlers,
  milestoneHandlers,
  organizationHandlers,
  organizationHookHandlers,
  packageHandlers,
  pullHandlers,
  pushMirrorHandlers,
  releaseHandlers,
  repositoryCreateHandlers,
  repositoryHandlers,
  reviewHandlers,
  serverHandlers,
  statusHandlers,
  tagHandlers,
  teamHandlers,
  tokenHandlers,
  userHandlers,
  variableHandlers,
];

/**
 * All handlers by operation name.
 * @throws Error when two resources claim one operation
 */
export function allHandlers(): ReadonlyMap<OperationName, Handler> {
  const all = new Map<OperationName, Handler>();
  for (const handlers of RESOURCES) {
    for (const [name, handler] of Object.entries(handlers) as [OperationName, Handler][]) {
      if (all.has(name)) throw new Error(`two handlers for ${name}`);
      all.set(name, handler);
    }
  }
  return all;
}
