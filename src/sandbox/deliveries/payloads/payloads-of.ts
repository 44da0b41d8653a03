import type { Told } from '../../world.js';
import type { Payload, PayloadContext } from './context.js';
import { commentPayloads, issuePayloads, pullPayloads } from './issues.js';
import { forkPayloads, packagePayloads, releasePayloads, repositoryPayloads, statusPayloads, wikiPayloads } from './others.js';
import { refPayloads } from './refs.js';
import { jobPayloads, runPayloads } from './workflows.js';

/**
 * What one act makes the server send, in order. Acts that real servers keep to themselves (transfer, archive, rename, definitions of
 * labels, protections, teams) give nothing.
 * @see reference/webhooks.md sections 4 and 5
 */
export function payloadsOf(context: PayloadContext, told: Told): Payload[] {
  switch (told.kind) {
    case 'repository.created':
    case 'repository.deleted':
      return repositoryPayloads(context, told);
    case 'repository.forked':
      return forkPayloads(context, told);
    case 'pushed':
    case 'branch.created':
    case 'branch.deleted':
    case 'tag.created':
    case 'tag.deleted':
      return refPayloads(context, told);
    case 'comment.created':
    case 'comment.edited':
    case 'comment.deleted':
      return commentPayloads(context, told);
    case 'pull.merged':
    case 'pull.synchronized':
    case 'pull.review_requested':
    case 'pull.review_request_removed':
    case 'pull.reviewed':
    case 'pull.review_dismissed':
      return pullPayloads(context, told);
    case 'release.published':
    case 'release.updated':
    case 'release.deleted':
      return releasePayloads(context, told);
    case 'package.created':
    case 'package.deleted':
      return packagePayloads(context, told);
    case 'wiki.created':
    case 'wiki.edited':
    case 'wiki.deleted':
      return wikiPayloads(context, told);
    case 'status.set':
      return statusPayloads(context, told);
    case 'job.queued':
    case 'job.waiting':
    case 'job.started':
    case 'job.finished':
      return jobPayloads(context, told);
    case 'run.requested':
    case 'run.started':
    case 'run.finished':
      return runPayloads(context, told);
    case 'issue.opened':
    case 'issue.closed':
    case 'issue.reopened':
    case 'issue.edited':
    case 'issue.deleted':
    case 'issue.labeled':
    case 'issue.labels_cleared':
    case 'issue.milestoned':
    case 'issue.demilestoned':
    case 'issue.assigned':
    case 'issue.unassigned':
      return issuePayloads(context, told);
    case 'repository.renamed':
    case 'repository.transferred':
    case 'repository.edited':
    case 'label.defined':
    case 'label.changed':
    case 'label.removed':
    case 'protection.set':
    case 'protection.removed':
    case 'team.changed':
      return [];
  }
}
