import type { Id, Seconds } from '../basics.js';
import type { Asset } from './repository.js';

/** An issue or, with `pull`, a pull request. */
export interface Issue {
  id: Id;
  repoId: Id;
  number: number;
  posterId: Id;
  title: string;
  body: string;
  state: 'open' | 'closed';
  isLocked: boolean;
  ref: string;
  labels: Set<Id>;
  milestoneId: Id | null;
  assignees: Id[];
  createdAt: Seconds;
  updatedAt: Seconds;
  closedAt: Seconds;
  dueOn: Seconds;
  contentVersion: number;
  assets: Asset[];
  pull: Pull | null;
}

export interface Pull {
  id: Id;
  headRepoId: Id | null;
  headBranch: string;
  headSha: string;
  baseBranch: string;
  baseSha: string;
  mergeBase: string;
  allowMaintainerEdit: boolean;
  mergedAt: Seconds;
  mergedById: Id | null;
  mergeCommitSha: string;
  requestedReviewers: Id[];
  requestedTeams: Id[];
  /** It is merged as soon as the required checks succeed. */
  planned?: PlannedMerge | null;
}

interface PlannedMerge {
  byId: Id;
  style: string;
  title: string;
  message: string;
  deleteBranch: boolean;
}

/** An entry of an issue's timeline; `comment` is the only kind with a text of a person. */
export interface Comment {
  id: Id;
  issueId: Id;
  kind:
    | 'comment'
    | 'review'
    | 'close'
    | 'reopen'
    | 'merge'
    | 'merge-planned'
    | 'merge-cancelled'
    | 'label'
    | 'milestone'
    | 'assignees'
    | 'title'
    | 'deadline-removed'
    | 'push'
    | 'review_request'
    | 'other';
  posterId: Id;
  body: string;
  createdAt: Seconds;
  updatedAt: Seconds;
  assets: Asset[];
  /** What an entry that is no text of a person tells. */
  detail?: EntryDetail;
}

export interface EntryDetail {
  oldTitle?: string;
  newTitle?: string;
  oldRef?: string;
  newRef?: string;
  labelId?: Id;
  /** The label, assignee or request was taken away. */
  isRemoval?: boolean;
  milestoneId?: Id | null;
  oldMilestoneId?: Id | null;
  assigneeId?: Id;
  teamId?: Id;
  reviewId?: Id;
}

/** One account, one content and one object: there is no second. It is told to nobody. */
export interface Reaction {
  issueId: Id;
  /** Null = to the issue itself. */
  commentId: Id | null;
  userId: Id;
  content: string;
  createdAt: Seconds;
}

export type ReviewState = 'APPROVED' | 'REQUEST_CHANGES' | 'COMMENT' | 'PENDING' | 'REQUEST_REVIEW';

export interface Review {
  id: Id;
  issueId: Id;
  reviewerId: Id;
  /** The team that is asked; its request names no person. */
  teamId: Id | null;
  state: ReviewState;
  body: string;
  commitId: string;
  isOfficial: boolean;
  isStale: boolean;
  isDismissed: boolean;
  submittedAt: Seconds;
  updatedAt: Seconds;
  /** The timeline entry of the review. */
  commentId: Id;
  comments: ReviewComment[];
}

export interface ReviewComment {
  id: Id;
  path: string;
  body: string;
  oldPosition: number;
  newPosition: number;
  createdAt: Seconds;
}
