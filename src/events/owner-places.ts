import { tableOf } from '../core/table.js';

/**
 * What a place of an arrival that names an owner or a repository means. `own`: it must name the organization whose hook or poll brought the
 * arrival. `foreign`: it may name anybody (a head repository, a fork and its owner, a parent, the other side of a transfer). Only an own place becomes
 * target, lookup or power.
 */
export type PlaceRole = 'own' | 'foreign';

/** Who is known to tell a place: recorded servers of the product, our own poller, or nobody yet (the place is known from the servers' source). */
export type Teller = 'gitea' | 'forgejo' | 'poller' | 'unrecorded';

interface ListedPlace {
  readonly role: PlaceRole;
  readonly by: readonly Teller[];
}

/** The places of one type of arrival, by path: keys joined by dots, `[]` for the items of a list. */
export interface PlacesOfType {
  /** The own place with the repository that the event is about. */
  readonly main: string;
  /** The main place may be null: the event then is about no repository, and `owner` says whose it is. */
  readonly owner?: string;
  readonly places: Readonly<Record<string, ListedPlace>>;
}

const BOTH = ['gitea', 'forgejo'] as const;
const GITEA = ['gitea'] as const;
const FORGEJO = ['forgejo'] as const;
const POLLER = ['poller'] as const;
const NOBODY = ['unrecorded'] as const;

const own = (by: readonly Teller[] = BOTH): ListedPlace => ({ role: 'own', by });
const foreign = (by: readonly Teller[] = BOTH): ListedPlace => ({ role: 'foreign', by });

const REPOSITORY = { repository: own() } as const;
const ISSUE = { ...REPOSITORY, 'issue.repository': own() } as const;

/** Below a pull request. Teams of a former owner stay asked for a review after a transfer, so they may be anybody's. */
function ofPullRequest(by: readonly Teller[], teams: readonly Teller[] = by): Record<string, ListedPlace> {
  return {
    'pull_request.base.repo': own(by),
    'pull_request.base.repo_id': own(by),
    'pull_request.head.repo': foreign(by),
    'pull_request.head.repo_id': foreign(by),
    'pull_request.requested_reviewers_teams[].organization': foreign(teams),
  };
}

const onRepository = (by: readonly Teller[] = BOTH): PlacesOfType => ({
  main: 'repository',
  places: { repository: own(by) },
});
const onIssue: PlacesOfType = { main: 'repository', places: ISSUE };
const onPullRequest = (teams: readonly Teller[]): PlacesOfType => ({
  main: 'repository',
  places: { ...REPOSITORY, ...ofPullRequest(BOTH, teams) },
});
const onActionRun = (by: readonly Teller[]): PlacesOfType => ({
  main: 'run.repository',
  places: { 'run.repository': own(by), 'last_run.repository': own(NOBODY) },
});

/** Inside every repository of the organization: the repository it was forked from, and to whom it is about to go. */
export const PLACES_IN_REPOSITORY: Readonly<Record<string, ListedPlace>> = tableOf({
  parent: foreign(),
  repo_transfer: foreign(NOBODY),
});

/** Every place of every type of delivery (by event type) and of the three kinds of polled rows. */
export const OWNER_PLACES: ReadonlyMap<string, PlacesOfType> = new Map<string, PlacesOfType>(
  Object.entries({
    push: onRepository(),
    create: onRepository(),
    delete: onRepository(),
    wiki: onRepository(),
    release: onRepository(),
    status: onRepository(GITEA),
    issues: onIssue,
    issue_assign: onIssue,
    issue_label: onIssue,
    issue_milestone: onIssue,
    issue_comment: onIssue,
    pull_request: onPullRequest(NOBODY),
    pull_request_assign: onPullRequest(NOBODY),
    pull_request_label: onPullRequest(NOBODY),
    pull_request_milestone: onPullRequest(NOBODY),
    pull_request_sync: onPullRequest(NOBODY),
    pull_request_review_request: onPullRequest(BOTH),
    pull_request_review_approved: onPullRequest(NOBODY),
    pull_request_review_rejected: onPullRequest(NOBODY),
    pull_request_review_comment: onPullRequest(BOTH),
    pull_request_comment: { main: 'repository', places: { ...ISSUE, ...ofPullRequest(BOTH) } },
    repository: {
      main: 'repository',
      places: { ...REPOSITORY, organization: own(), 'changes.owner': foreign(NOBODY) },
    },
    // `forkee` is the original and `repository` the new fork: the other way round than elsewhere.
    fork: { main: 'forkee', places: { forkee: own(), repository: foreign() } },
    package: {
      main: 'package.repository',
      owner: 'package.owner',
      places: {
        'package.owner': own(),
        'package.repository': own(NOBODY),
        repository: own(NOBODY),
        organization: own(GITEA),
      },
    },
    workflow_run: {
      main: 'repository',
      places: {
        repository: own(GITEA),
        organization: own(GITEA),
        'workflow_run.repository': own(GITEA),
        'workflow_run.head_repository': foreign(NOBODY),
        'workflow_run.pull_requests[].base.repo': own(GITEA),
        'workflow_run.pull_requests[].head.repo': foreign(GITEA),
        ...ofPullRequest(NOBODY),
      },
    },
    workflow_job: {
      main: 'repository',
      places: { repository: own(GITEA), organization: own(GITEA), ...ofPullRequest(NOBODY) },
    },
    action_run_success: onActionRun(FORGEJO),
    action_run_failure: onActionRun(FORGEJO),
    action_run_recover: onActionRun(NOBODY),
    feed: { main: 'repo', places: { repo: own(), repo_id: own() } },
    // Rows of these two name no repository of their own, or not always: the poller writes it beside them.
    tasks: { main: 'repository', places: { repository: own(POLLER) } },
    lists: { main: 'repository', places: { repository: own(POLLER), 'object.repository': own(POLLER) } },
  }),
);

/** Of an event type that nobody knows: the places that the known types have in common. No rule can match such an event. */
export const UNKNOWN_TYPE: PlacesOfType = {
  main: 'repository',
  owner: 'organization',
  places: {
    repository: own(NOBODY),
    'run.repository': own(NOBODY),
    'package.owner': own(NOBODY),
    'package.repository': own(NOBODY),
    organization: own(NOBODY),
  },
};
