import type { OperationName } from '../forge/operations.js';
import { FORGEJO_QUIRKS, GITEA_1_24_QUIRKS, GITEA_1_26_QUIRKS, GITEA_QUIRKS } from './quirks.js';
import type { ListStyle, Profile, ProfileName } from './profile.js';
import { COMMIT_FILES } from './profile.js';
import { FORGEJO_SHAPES, GITEA_1_24_SHAPES, GITEA_1_26_SHAPES, GITEA_SHAPES } from './profile-shapes.js';
import { FORGEJO_TELLING, GITEA_1_24_TELLING, GITEA_1_26_TELLING, GITEA_TELLING } from './telling-style.js';

export type { Profile, ProfileName } from './profile.js';

const operations = (...names: OperationName[]): ReadonlySet<OperationName> => new Set(names);

const GITEA_1_27: Profile = {
  name: 'gitea',
  family: 'gitea',
  version: '1.27.0-rc0',
  coreOnly: false,
  missing: operations(),
  singleSegment: operations(),
  head: true,
  docsPath: '/api/swagger',
  notFound: { message: 'not found', errors: 'none' },
  access: {
    publicOnly: 404,
    publicOnlySettings: 'refused',
    tokensNeedBasic: true,
    packagesOpen: false,
    teamPermission: 'untold',
    unitOff: 'by role',
    noreply: 'id and name',
  },
  web: {
    sessionCookie: 'i_like_gitea',
    rememberCookie: 'gitea_incredible',
    cacheControl: 'max-age=0, private, must-revalidate',
    signIn: 'Sign In',
    flashes: true,
    returnsBy: 'address',
    logsOutBy: 'GET',
    sessionsEverywhere: false,
    redirectsChecked: true,
    oneRefreshToken: false,
    hidesForeignTokens: true,
    tellsNoGroups: true,
    realm: 'Gitea OAuth2',
    otherRedirect: ['invalid_grant', 'redirect_uri differs from the original authorization request'],
    foreignRefreshToken: 'refresh token belongs to a different client',
    badToken: 'Failed to authenticate user',
  },
  lists: { wholeWithoutPage: operations(), withoutTotal: operations(), withoutLink: operations() },
  tracker: {
    staleEdit: 'refused',
    unknownState: 412,
    missingIssueCommented: 500,
    unchangedCommentHidesUser: true,
    reactionTakenBack: 204,
    labelRefusal: 'message',
    unreadIssue: 'there in part',
    milestonesListed: 'open',
    undatedMilestones: 'first',
    milestoneDue: 'cleared, end of day',
    milestoneCountsLag: false,
    openingCounts: false,
    pullsByBase: true,
    reviewersAtOpening: true,
    mergeFields: 'both cases',
  },
  repositories: {
    dots: 500,
    tagMessage: 'with its last newline',
    tellsLanguage: false,
    missingBranchDeleted: 404,
    protectionNames: 'readers',
    missingCommitStatus: 500,
    emptyContents: 404,
    noStatus: 'pending',
    unknownStatus: 'pending',
    mirrorCredentials: true,
    mirrorSyncFailed: 422,
    patchWantsSha: false,
    commitFiles: { listPullCommits: COMMIT_FILES, compareCommits: COMMIT_FILES },
  },
  workflows: {
    jobAttempt: 'of run',
    jobOrder: 'by id',
    jobsSorted: true,
    skippedConclusion: true,
    runForm: 'workflow run',
    dispatch: { details: true, unknown: 404, withoutTrigger: 422 },
  },
  variables: { created: 201, maxCharacters: 65_536 },
  hookKeepsAuthorization: false,
  quirks: GITEA_QUIRKS,
  telling: GITEA_TELLING,
  shapes: GITEA_SHAPES,
};

const GITEA_1_26: Profile = {
  ...GITEA_1_27,
  name: 'gitea@1.26',
  version: '1.26.3',
  missing: operations(
    'listJobsOfAttempt',
    'getRunAttempt',
    'addIssueAssignees',
    'removeIssueAssignees',
    'checkAssignee',
    'getOwnToken',
  ),
  head: false,
  notFound: { message: 'not found', errors: 'null in front' },
  access: { ...GITEA_1_27.access, noreply: 'name' },
  web: {
    ...GITEA_1_27.web,
    cacheControl: 'max-age=0, private, must-revalidate, no-transform',
    redirectsChecked: false,
    hidesForeignTokens: false,
  },
  repositories: {
    ...GITEA_1_27.repositories,
    mirrorSyncFailed: 500,
    commitFiles: { listPullCommits: ['modified', 'added', 'removed'], compareCommits: COMMIT_FILES },
  },
  workflows: { ...GITEA_1_27.workflows, jobAttempt: 'claims', jobOrder: 'by repository', jobsSorted: false },
  quirks: GITEA_1_26_QUIRKS,
  telling: GITEA_1_26_TELLING,
  shapes: GITEA_1_26_SHAPES,
};

/** Before 1.25 a list was cut only when a page was asked for, and had a total and links here and there. */
const OLD_LISTS: ListStyle = {
  wholeWithoutPage: operations(
    'listLabels',
    'listOrgLabels',
    'listMilestones',
    'listOrgHooks',
    'listOrgVariables',
    'listUserVariables',
    'listRepoVariables',
    'listPushMirrors',
    'listTokens',
    'listReleases',
    'listReviews',
    'listTimeline',
    'listTopics',
    'listActionTasks',
    'listRepoRuns',
  ),
  withoutTotal: operations('listActionTasks', 'listRepoRuns'),
  withoutLink: operations(
    'listOrgHooks',
    'listOrgVariables',
    'listUserVariables',
    'listRepoVariables',
    'listActionTasks',
    'listRepoRuns',
    'listOrgMembers',
    'listReviews',
  ),
};

const WITHOUT_SLASH = operations('getBranchProtection', 'updateBranchProtection', 'deleteBranchProtection');

const GITEA_1_24: Profile = {
  ...GITEA_1_26,
  name: 'gitea@1.24',
  version: '1.24.7',
  missing: operations(
    ...GITEA_1_26.missing,
    'listMyJobs',
    'listRepoRuns',
    'listOrgRuns',
    'listOrgJobs',
    'listJobsOfRun',
    'rerunFailedJobs',
    'getRun',
    'rerunRun',
    'rerunJob',
  ),
  singleSegment: WITHOUT_SLASH,
  notFound: { message: "The target couldn't be found.", errors: 'null in front' },
  access: { ...GITEA_1_26.access, publicOnly: 403, publicOnlySettings: 'allowed' },
  lists: OLD_LISTS,
  tracker: { ...GITEA_1_26.tracker, staleEdit: 'taken', milestonesListed: 'all' },
  repositories: {
    ...GITEA_1_26.repositories,
    missingBranchDeleted: 500,
    protectionNames: 'direct',
    noStatus: 'blank',
    unknownStatus: 'ignored',
    commitFiles: GITEA_1_27.repositories.commitFiles,
  },
  workflows: {
    ...GITEA_1_26.workflows,
    skippedConclusion: false,
    dispatch: { details: false, unknown: 404, withoutTrigger: 'ignored' },
  },
  variables: { ...GITEA_1_26.variables, created: 204 },
  quirks: GITEA_1_24_QUIRKS,
  telling: GITEA_1_24_TELLING,
  shapes: GITEA_1_24_SHAPES,
};

const FORGEJO_15: Profile = {
  ...GITEA_1_24,
  name: 'forgejo',
  family: 'forgejo',
  version: '15.0.3+gitea-1.22.0',
  missing: operations(
    'getFiles',
    'getFilesByQuery',
    'listMyJobs',
    'listJobsOfAttempt',
    'listJobsOfRun',
    'getRunAttempt',
    'listOrgRuns',
    'listOrgJobs',
    'rerunFailedJobs',
    'rerunRun',
    'rerunJob',
    'addIssueAssignees',
    'removeIssueAssignees',
    'checkAssignee',
    'getOwnToken',
    'lockIssue',
    'unlockIssue',
  ),
  notFound: { message: "The target couldn't be found.", errors: 'list behind' },
  access: { ...GITEA_1_24.access, tokensNeedBasic: false, packagesOpen: true, teamPermission: 'told', unitOff: 404 },
  web: {
    ...GITEA_1_24.web,
    sessionCookie: 'session',
    rememberCookie: 'persistent',
    signIn: 'Sign in',
    flashes: false,
    returnsBy: 'cookie',
    logsOutBy: 'POST',
    sessionsEverywhere: true,
    oneRefreshToken: true,
    tellsNoGroups: false,
    realm: '',
    otherRedirect: ['unauthorized_client', 'redirect_uri does not match the authorization request'],
    foreignRefreshToken: 'refresh token was not issued to this client',
    badToken:
      'Credentials are incorrect or have expired. Retry your command or see https://codeberg.org/forgejo/forgejo/issues/2809 for more information',
  },
  tracker: {
    staleEdit: 'taken',
    unknownState: 'open',
    missingIssueCommented: 404,
    unchangedCommentHidesUser: false,
    reactionTakenBack: 200,
    labelRefusal: 'empty',
    unreadIssue: 'not there',
    milestonesListed: 'all',
    undatedMilestones: 'last',
    milestoneDue: 'kept, as sent',
    milestoneCountsLag: true,
    openingCounts: true,
    pullsByBase: false,
    reviewersAtOpening: false,
    mergeFields: 'camel case',
  },
  repositories: {
    ...GITEA_1_24.repositories,
    dots: 422,
    emptyContents: 'empty list',
    tagMessage: 'trimmed',
    tellsLanguage: true,
    protectionNames: 'readers',
    missingCommitStatus: 404,
    mirrorCredentials: false,
    patchWantsSha: true,
  },
  workflows: {
    ...GITEA_1_24.workflows,
    runForm: 'action run',
    dispatch: { details: false, unknown: 500, withoutTrigger: 'ignored' },
  },
  variables: { created: 204, maxCharacters: null },
  hookKeepsAuthorization: true,
  quirks: FORGEJO_QUIRKS,
  telling: FORGEJO_TELLING,
  shapes: FORGEJO_SHAPES,
};

const PROFILES: Record<ProfileName, Profile> = {
  gitea: GITEA_1_27,
  'gitea@1.26': GITEA_1_26,
  'gitea@1.24': GITEA_1_24,
  forgejo: FORGEJO_15,
  /** Exactly the 20 operations of the API document, as the newest server answers them. */
  core: { ...GITEA_1_27, name: 'core', coreOnly: true },
};

export function profileOf(name: ProfileName): Profile {
  return PROFILES[name];
}

/** Whether a server of this profile has the operation. */
export function offers(profile: Profile, name: OperationName, n: number | undefined): boolean {
  return profile.coreOnly ? n !== undefined : !profile.missing.has(name);
}
