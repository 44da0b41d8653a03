import type { OperationName } from '../forge/operations.js';
import type { ServerQuirks } from './quirks.js';
import type { Shapes } from './profile-shapes.js';
import type { TellingStyle } from './telling-style.js';

export const PROFILE_NAMES = ['gitea', 'gitea@1.26', 'gitea@1.24', 'forgejo', 'core'] as const;
export type ProfileName = (typeof PROFILE_NAMES)[number];

/** Every way in which servers differ, as data: handlers ask the profile, never its name. Source: recordings of each server. */
export interface Profile {
  name: ProfileName;
  family: 'gitea' | 'forgejo';
  /** As `GET /version` tells it. */
  version: string;
  /** Only the 20 numbered operations. */
  coreOnly: boolean;
  /** Operations that this server does not have. */
  missing: ReadonlySet<OperationName>;
  /** Operations whose last path parameter is one segment here, though the table marks it as a tail: a slash must be `%2F`. */
  singleSegment: ReadonlySet<OperationName>;
  /** HEAD answers like GET without a body; else 405. */
  head: boolean;
  /** Where refusals point (`url` of the body), below the host. */
  docsPath: string;
  /** A 404 that says nothing in particular: its message, and whether and where its body has `errors`. */
  notFound: { message: string; errors: 'none' | 'null in front' | 'list behind' };
  access: AccessStyle;
  web: WebStyle;
  lists: ListStyle;
  tracker: TrackerStyle;
  repositories: RepositoryStyle;
  workflows: WorkflowStyle;
  variables: VariableStyle;
  /** An edit of a hook that names no authorization header keeps it; else it is cleared. */
  hookKeepsAuthorization: boolean;
  /** What the server does by itself. */
  quirks: ServerQuirks;
  /** How acts are told in deliveries and feed rows. */
  telling: TellingStyle;
  /** Which fields objects have. */
  shapes: Shapes;
}

interface AccessStyle {
  /** A public-only token at a private thing. */
  publicOnly: 403 | 404;
  /** A public-only token at `/user/settings`. */
  publicOnlySettings: 'refused' | 'allowed';
  /** Listing tokens insists on the Basic scheme. */
  tokensNeedBasic: boolean;
  /** Nobody may read packages of a public owner. */
  packagesOpen: boolean;
  /** The permission of a team whose rights come from units: never told, or told as the general one of its members. */
  teamPermission: 'untold' | 'told';
  /** A unit that is switched off, where no part of the tracker is: the role decides, or it is not there (404). */
  unitOff: 'by role' | 404;
  /** Placeholder of a hidden e-mail: `wes@noreply.localhost` or `3+wes@noreply.localhost`. */
  noreply: 'name' | 'id and name';
}

/** The pages: logging in, and giving applications access. */
interface WebStyle {
  /** The cookie of every browser. */
  sessionCookie: string;
  /** The cookie of who wants to be remembered. */
  rememberCookie: string;
  /** `Cache-Control` of every page. */
  cacheControl: string;
  /** Words of the login page. */
  signIn: string;
  /** What the login page says of a mistake stands in a box of its own. */
  flashes: boolean;
  /** Where the path stands to which a login returns. */
  returnsBy: 'address' | 'cookie';
  /** The method of `/user/logout`. */
  logsOutBy: 'GET' | 'POST';
  /** A method that a path does not have gets a session too. */
  sessionsEverywhere: boolean;
  /** Addresses of an application that are none are refused. */
  redirectsChecked: boolean;
  /** Each new token of a grant ends its earlier refresh tokens; and an access token is none. */
  oneRefreshToken: boolean;
  /** Nothing is told of tokens of another client. */
  hidesForeignTokens: boolean;
  /** A person in no organization has `groups` all the same: null. */
  tellsNoGroups: boolean;
  /** Named where a caller is asked who it is. */
  realm: string;
  /** Error and description of a code that was asked for with another registered address. */
  otherRedirect: [error: string, description: string];
  /** What is said of a refresh token of another client. */
  foreignRefreshToken: string;
  /** What is said of a token that is none. */
  badToken: string;
}

export interface ListStyle {
  /** Lists that come whole when no page is asked for, whatever the limit says. */
  wholeWithoutPage: ReadonlySet<OperationName>;
  /** Lists without `X-Total-Count`, which others have. */
  withoutTotal: ReadonlySet<OperationName>;
  /** Lists without `Link`, which others have. */
  withoutLink: ReadonlySet<OperationName>;
}

interface TrackerStyle {
  /** An edit of an issue that names an older `content_version`. */
  staleEdit: 'refused' | 'taken';
  /** A state that is none: refused, or open. */
  unknownState: 412 | 'open';
  /** A comment on an issue that is not there. */
  missingIssueCommented: 404 | 500;
  /** The answer to an edit that changes nothing of a comment leaves out its user. */
  unchangedCommentHidesUser: boolean;
  /** A reaction is taken back, whether or not there was one. */
  reactionTakenBack: 200 | 204;
  /** Body of the 403 for somebody who may not label. */
  labelRefusal: 'message' | 'empty';
  /** For who may not read an issue, all of it is not there; or timeline, labels and edits still are. */
  unreadIssue: 'not there' | 'there in part';
  /** Milestones listed when no state is asked for. */
  milestonesListed: 'open' | 'all';
  /** Milestones without a due date stand there. */
  undatedMilestones: 'first' | 'last';
  /** An edit of a milestone: what is left out clears the due date and a date counts as the end of the day as it is written, in the server's zone; or neither. */
  milestoneDue: 'cleared, end of day' | 'kept, as sent';
  /** The answer to a call that puts an issue into a milestone shows the milestone's counts as they were before. */
  milestoneCountsLag: boolean;
  /** `open_pr_counter` in the answer to an opening counts that pull request already. */
  openingCounts: boolean;
  /** A list of pull requests may be asked for by base branch. */
  pullsByBase: boolean;
  /** Whoever opens a pull request may ask for reviews in the same call; else the names are ignored. */
  reviewersAtOpening: boolean;
  /** What names the title and the message of a merge: `MergeTitleField` alone, or `merge_title_field` too. */
  mergeFields: 'camel case' | 'both cases';
}

/** Groups of the files that a commit changed. */
export type FileGroup = 'added' | 'removed' | 'modified';

interface RepositoryStyle {
  /** A name with two dots in a row. */
  dots: 422 | 500;
  /** Message of an annotated tag. */
  tagMessage: 'with its last newline' | 'trimmed';
  /** Tells the language that most of its code is in. */
  tellsLanguage: boolean;
  /** DELETE of a branch that is not there. */
  missingBranchDeleted: 404 | 500;
  /** Who stays in the lists of a protection: whoever may read code, or those alone whose access is not by team units. */
  protectionNames: 'readers' | 'direct';
  /** A status for a commit that is not there, or a list of commits that begins there. */
  missingCommitStatus: 404 | 500;
  /** Any path of a repository without commits: refused, or an empty list. */
  emptyContents: 404 | 'empty list';
  /** The combined status of a commit without any, or beyond its last page: pending, or an object of empty values. */
  noStatus: 'pending' | 'blank';
  /** A status whose state is no known word counts as pending, or does not count. */
  unknownStatus: 'pending' | 'ignored';
  /** A push mirror address may carry user and password. */
  mirrorCredentials: boolean;
  /** A push mirror sync that failed. */
  mirrorSyncFailed: 422 | 500;
  /** Whoever sends a patch must name a `sha`, of which nothing is asked; and nobody's role is asked about before the login. */
  patchWantsSha: boolean;
  /** Order of the groups of files that a commit of a list changed. Real servers turn the three at random; these are the recorded turns. */
  commitFiles: Readonly<Partial<Record<OperationName, readonly FileGroup[]>>>;
}

export const COMMIT_FILES: readonly FileGroup[] = ['added', 'removed', 'modified'];

interface WorkflowStyle {
  /** `run_attempt` of a job: the attempt of its run, or how often a runner took the job. */
  jobAttempt: 'of run' | 'claims';
  /** Jobs of several repositories come by id, or repository by repository. */
  jobOrder: 'by id' | 'by repository';
  /** `sort` and `order` of a job list are heeded. */
  jobsSorted: boolean;
  /** A skipped job has a `conclusion`. */
  skippedConclusion: boolean;
  /** How a run is shown: the form of Gitea's runs, or that of Forgejo's `action_run` deliveries. */
  runForm: 'workflow run' | 'action run';
  dispatch: DispatchStyle;
}

interface DispatchStyle {
  /** `return_run_details` is heeded. */
  details: boolean;
  /** A ref or a workflow that is not there. */
  unknown: 404 | 500;
  /** A workflow without the trigger: refused, or nothing happens. */
  withoutTrigger: 422 | 'ignored';
}

interface VariableStyle {
  /** Success of creating one. */
  created: 201 | 204;
  /** Longest value in characters; null = any. */
  maxCharacters: number | null;
}
