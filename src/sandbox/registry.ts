import type { OperationName } from '../forge/operations.js';
import { feedHandlers } from './feed/org-feed.js';
import { protectionHandlers } from './resources/branch-protection.js';
import { branchHandlers } from './resources/branch.js';
import { commentHandlers } from './resources/comment.js';
import { commitHandlers } from './resources/commit.js';
import { contentHandlers, fileWriteHandlers } from './resources/contents.js';
import { organizationHookHandlers } from './resources/hook.js';
import { issueLabelHandlers } from './resources/issue-labels.js';
import { issueHandlers } from './resources/issue.js';
import { labelHandlers } from './resources/label.js';
import { milestoneHandlers } from './resources/milestone.js';
import { oauthApplicationHandlers } from './resources/oauth-application.js';
import { memberHandlers, organizationHandlers } from './resources/organization.js';
import { packageHandlers } from './resources/package.js';
import { pullHandlers } from './resources/pull.js';
import { pushMirrorHandlers } from './resources/push-mirror.js';
import { reactionHandlers } from './resources/reaction.js';
import { releaseHandlers } from './resources/release.js';
import { repositoryCreateHandlers } from './resources/repository-create.js';
import { repositoryHandlers } from './resources/repository-edit.js';
import { reviewHandlers } from './resources/review.js';
import { actionsRunHandlers } from './resources/run.js';
import { statusHandlers } from './resources/status.js';
import { tagHandlers } from './resources/tag.js';
import { teamHandlers } from './resources/team.js';
import { tokenHandlers } from './resources/token.js';
import { userHandlers } from './resources/user.js';
import { variableHandlers } from './resources/variable.js';
import type { Handler, Handlers } from './handler.js';
import { jobHandlers } from './resources/job.js';
import { collaboratorHandlers } from './resources/collaborator.js';
import { assigneeHandlers } from './resources/issue-assignees.js';
import { pullFileHandlers } from './resources/pull-files.js';
import { mergeHandlers } from './resources/pull-merge.js';
import { repositoryReadHandlers } from './resources/repository.js';
import { serverHandlers } from './resources/server.js';

/** A new resource is one file and one word here. */
const RESOURCES: readonly Handlers[] = [
  memberHandlers,
  organizationHandlers,
  teamHandlers,
  tokenHandlers,
  oauthApplicationHandlers,
  userHandlers,
  organizationHookHandlers,
  packageHandlers,
  variableHandlers,
  serverHandlers,
  repositoryCreateHandlers,
  repositoryHandlers,
  repositoryReadHandlers,
  collaboratorHandlers,
  pushMirrorHandlers,
  reactionHandlers,
  releaseHandlers,
  branchHandlers,
  protectionHandlers,
  tagHandlers,
  commitHandlers,
  contentHandlers,
  fileWriteHandlers,
  statusHandlers,
  labelHandlers,
  milestoneHandlers,
  issueHandlers,
  issueLabelHandlers,
  assigneeHandlers,
  commentHandlers,
  pullHandlers,
  pullFileHandlers,
  mergeHandlers,
  reviewHandlers,
  actionsRunHandlers,
  jobHandlers,
  feedHandlers,
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
