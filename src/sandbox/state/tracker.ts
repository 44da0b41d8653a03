import type { Id, Seconds } from './basics.js';
import type { Asset } from './repository.js';

/** A label of a repository or (repoId null) of an organization. */
export interface Label {
  id: Id;
  repoId: Id | null;
  orgId: Id | null;
  name: string;
  /** Six lower-case hex digits, no `#`. */
  color: string;
  description: string;
  exclusive: boolean;
  isArchived: boolean;
}

export interface Milestone {
  id: Id;
  repoId: Id;
  title: string;
  description: string;
  state: 'open' | 'closed';
  createdAt: Seconds;
  updatedAt: Seconds;
  closedAt: Seconds;
  /** 0 = none. */
  dueOn: Seconds;
}

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
}

/** An entry of an issue's timeline; `comment` is the only kind with a text of a person. */
export interface Comment {
  id: Id;
  issueId: Id;
  kind: 'comment' | 'review' | 'close' | 'reopen' | 'merge' | 'label' | 'milestone' | 'assignees' | 'title' | 'review_request' | 'other';
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
