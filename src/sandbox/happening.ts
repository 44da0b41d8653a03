import type { Id, Seconds } from './basics.js';
import type { Comment, Issue, Review } from './entities/issue.js';
import type { PackageVersion, Team, User } from './entities/people.js';
import type { BranchProtection, Commit, CommitStatus, Label, Release, Repository } from './entities/repository.js';
import type { Task, WorkflowJob, WorkflowRun } from './entities/run.js';

interface InRepository {
  repo: Repository;
}
interface OnIssue extends InRepository {
  issue: Issue;
}

/**
 * One act in the world, told once, after the state was changed. The feed, the deliveries and the workflows listen to it and decide what
 * follows (a new branch is one happening here, two deliveries and two feed rows there). `refs/…` in full; commits newest first.
 */
export type Happening =
  | ({ kind: 'repository.created' } & InRepository)
  | ({ kind: 'repository.deleted' } & InRepository)
  | ({ kind: 'repository.renamed'; oldName: string } & InRepository)
  | ({ kind: 'repository.transferred'; oldOwner: string } & InRepository)
  /** `repo` is the new fork. */
  | ({ kind: 'repository.forked'; original: Repository } & InRepository)
  | ({ kind: 'repository.edited' } & InRepository)
  | ({ kind: 'pushed'; ref: string; before: string; after: string; commits: Commit[] } & InRepository)
  | ({ kind: 'branch.created'; ref: string; sha: string; commits: Commit[] } & InRepository)
  | ({ kind: 'branch.deleted'; ref: string; sha: string } & InRepository)
  | ({ kind: 'tag.created'; ref: string; sha: string } & InRepository)
  | ({ kind: 'tag.deleted'; ref: string; sha: string } & InRepository)
  | ({ kind: 'issue.opened' | 'issue.deleted' } & OnIssue)
  /** `entry` is the timeline's, for the feed's `comment_id`. */
  | ({ kind: 'issue.closed' | 'issue.reopened'; entry: Comment } & OnIssue)
  | ({ kind: 'issue.edited'; oldTitle?: string; oldBody?: string; oldRef?: string } & OnIssue)
  | ({ kind: 'issue.labeled' | 'issue.labels_cleared' } & OnIssue)
  | ({ kind: 'issue.milestoned' | 'issue.demilestoned' } & OnIssue)
  | ({ kind: 'issue.assigned' | 'issue.unassigned'; assignee: User } & OnIssue)
  | ({ kind: 'comment.created' | 'comment.deleted'; comment: Comment } & OnIssue)
  | ({ kind: 'comment.edited'; comment: Comment; oldBody: string } & OnIssue)
  /** Pull requests open, close, reopen, are edited, labeled … by the `issue.*` kinds (`issue.pull` is set); these are their own. */
  | ({ kind: 'pull.merged'; isAuto: boolean } & OnIssue)
  | ({ kind: 'pull.synchronized'; before: string; after: string } & OnIssue)
  | ({ kind: 'pull.review_requested' | 'pull.review_request_removed'; reviewer: User } & OnIssue)
  | ({ kind: 'pull.reviewed' | 'pull.review_dismissed'; review: Review } & OnIssue)
  | ({ kind: 'release.published' | 'release.updated' | 'release.deleted'; release: Release } & InRepository)
  | { kind: 'package.created' | 'package.deleted'; package: PackageVersion }
  | ({ kind: 'wiki.created' | 'wiki.edited' | 'wiki.deleted'; page: string; comment: string } & InRepository)
  | ({ kind: 'status.set'; status: CommitStatus } & InRepository)
  | ({
      kind: 'job.queued' | 'job.waiting' | 'job.started' | 'job.finished';
      run: WorkflowRun;
      job: WorkflowJob;
      task: Task | null;
    } & InRepository)
  | ({ kind: 'run.requested' | 'run.started' | 'run.finished'; run: WorkflowRun } & InRepository)
  | ({ kind: 'label.defined' | 'label.changed' | 'label.removed'; label: Label } & InRepository)
  | ({ kind: 'protection.set' | 'protection.removed'; protection: BranchProtection } & InRepository)
  | { kind: 'team.changed'; team: Team };

/** What listeners get: the act, who did it, when, and its place in the order of all acts. */
export type Told = Happening & { by: User; at: Seconds; n: number };

export type Listener = (happening: Told) => void;

/** What one request changed, for the ledger. */
export interface Change {
  kind: string;
  id: Id | string;
  what: 'created' | 'updated' | 'deleted';
}

/** The acts that may have one of these kinds (a member of the union can stand for several). */
export type ToldOf<K extends Told['kind'], T = Told> = T extends { kind: infer Kinds }
  ? Extract<Kinds, K> extends never
    ? never
    : T
  : never;
