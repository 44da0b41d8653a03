import { FORGEJO_DELIVERIES, GITEA_DELIVERIES, type DeliveryStyle } from './deliveries/delivery-request.js';
import type { BranchFilterReach } from './deliveries/branch-filter.js';
import type { HookEventType } from './deliveries/hook-events.js';

/** How a server tells what happened, in deliveries and in feed rows: data of a profile. Source: recordings of each server. */
export interface TellingStyle {
  readonly requests: DeliveryStyle;
  /** Event types that this server does not know: it never sends them, and a hook cannot ask for them. */
  readonly silent: ReadonlySet<HookEventType>;
  /** Verdicts of reviews are asked for by one name, or by one each. */
  readonly reviewNames: 'one' | 'each';
  /** Commits in a push delivery at most. */
  readonly pushCommits: number;
  /** Whether the branch filter of a hook shuts out tags too, or looks at branches alone. */
  readonly branchFilter: BranchFilterReach;
  /** `ref` of create and delete: `v1` or `refs/tags/v1`. */
  readonly refNames: 'short' | 'full';
  /** Deleting an issue is told. */
  readonly tellsIssueDeleted: boolean;
  /** `before` and `after` of a synchronized pull request. */
  readonly tellsSyncShas: boolean;
  /** `changes` also names `added_labels` and `removed_labels`, both null. */
  readonly tellsLabelChanges: boolean;
  /** `organization` of a package, or null. */
  readonly tellsPackageOrganization: boolean;
  readonly feed: FeedStyle;
}

export interface FeedStyle {
  /** `12|title` or `["12","title"]`. */
  readonly content: 'bar' | 'json';
  /** Ref of a published release. */
  readonly releaseRef: 'full' | 'bare';
  /** Commit messages in push objects. */
  readonly message: 'whole' | 'first line';
  /** Commits of push objects also carry `Signature` and `Verification`, both null. */
  readonly hasVerification: boolean;
  /** `Commits` of a tag: null or an empty list. */
  readonly noCommits: null | readonly [];
  /** A dismissed review makes a row. */
  readonly tellsDismissal: boolean;
}

const ACTION_RUNS: readonly HookEventType[] = ['action_run_failure', 'action_run_recover', 'action_run_success'];

export const GITEA_TELLING: TellingStyle = {
  requests: GITEA_DELIVERIES,
  silent: new Set(ACTION_RUNS),
  reviewNames: 'one',
  pushCommits: 5,
  branchFilter: 'all',
  refNames: 'short',
  tellsIssueDeleted: true,
  tellsSyncShas: true,
  tellsLabelChanges: true,
  tellsPackageOrganization: true,
  feed: {
    content: 'bar',
    releaseRef: 'full',
    message: 'whole',
    hasVerification: false,
    noCommits: null,
    tellsDismissal: false,
  },
};

export const GITEA_1_26_TELLING: TellingStyle = { ...GITEA_TELLING, tellsSyncShas: false };

export const GITEA_1_24_TELLING: TellingStyle = {
  ...GITEA_1_26_TELLING,
  silent: new Set([...ACTION_RUNS, 'workflow_run']),
  branchFilter: 'branches',
  tellsIssueDeleted: false,
  tellsLabelChanges: false,
};

export const FORGEJO_TELLING: TellingStyle = {
  requests: FORGEJO_DELIVERIES,
  silent: new Set(['status', 'workflow_run', 'workflow_job']),
  reviewNames: 'each',
  pushCommits: 15,
  branchFilter: 'branches',
  refNames: 'full',
  tellsIssueDeleted: false,
  tellsSyncShas: false,
  tellsLabelChanges: false,
  tellsPackageOrganization: false,
  feed: {
    content: 'json',
    releaseRef: 'bare',
    message: 'first line',
    hasVerification: true,
    noCommits: [],
    tellsDismissal: true,
  },
};
