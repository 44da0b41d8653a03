import { BOOL, ID, INT, TEXT, TIME, listOf, oneOf, ownObject, type DataType } from './data-types.js';
import * as accounts from './objects/accounts.js';
import * as forms from './objects/event-forms.js';
import * as git from './objects/git.js';
import * as publishing from './objects/publishing.js';
import * as tracker from './objects/tracker.js';
import { ruleType } from './objects/rule-types.js';

export const changes = ruleType(forms.changes);
const commit = ruleType(git.payloadCommit);
const issue = ruleType(tracker.issue);
const pullRequest = ruleType(tracker.pull);
const user = ruleType(accounts.user);
/** Fields of events, each with its type and what it is. */
export type Fields = Readonly<Record<string, readonly [type: DataType, summary: string, optional?: 'optional']>>;

const actor = ownObject('Actor', {
  id: [ID, 'id of the account; "-1" a deleted one, "-2" the workflow token'],
  login: [TEXT, 'login'],
});

/** What every event has beside the fields of its kind. */
export const COMMON: Fields = {
  id: [ID, 'the bot’s number of the event'],
  kind: [TEXT, 'the kind'],
  source: [oneOf('webhook', 'feed', 'tasks', 'lists'), 'source that reported it first'],
  org: [TEXT, 'organization, as configured'],
  actor: [actor, 'who did it; null when unknown', 'optional'],
  repo: [ruleType(forms.eventRepository), 'the repository, also as `repo`', 'optional'],
  fact_at: [TIME, 'when it happened, as the forge says', 'optional'],
  stored_at: [TIME, 'when it was stored here'],
};

export const ACTION: Fields = { action: [TEXT, 'the forge’s own word'] };
export const REF: Fields = {
  ref: [TEXT, 'full ref, like `refs/heads/main`'],
  ref_type: [oneOf('branch', 'tag'), 'what the ref is'],
  mirror_sync: [BOOL, 'true when a pull mirror’s sync did it', 'optional'],
};
export const BRANCH: Fields = { ...REF, branch: [TEXT, 'name of the branch'] };
export const TAG: Fields = { ...REF, tag: [TEXT, 'name of the tag'] };
/** The commit, where each source tells it or a read does. */
export const SHA = (summary: string): Fields => ({ sha: [TEXT, summary] });
export const SHA_IF_TOLD = (summary: string): Fields => ({ sha: [TEXT, summary, 'optional'] });

export const PUSH: Fields = {
  ref: [TEXT, 'full ref, like `refs/heads/main`'],
  branch: [TEXT, 'name of the branch, when it is one', 'optional'],
  tag: [TEXT, 'name of the tag, when it is one', 'optional'],
  before: [TEXT, 'old commit; zeros for a new ref', 'optional'],
  after: [TEXT, 'new commit; zeros for a deleted ref', 'optional'],
  sha: [TEXT, 'new commit, unless the ref was deleted', 'optional'],
  created: [BOOL, 'the ref is new', 'optional'],
  deleted: [BOOL, 'the ref is gone', 'optional'],
  compare_url: [TEXT, 'page that shows the difference', 'optional'],
  commits: [listOf(commit), 'newest first; at most five (Forgejo 15)'],
  total_commits: [INT, 'true number of commits'],
  head_commit: [commit, 'newest commit', 'optional'],
  pusher: [user, 'who pushed', 'optional'],
  files: [
    ownObject('ChangedFiles', {
      added: [listOf(TEXT), 'paths of new files'],
      modified: [listOf(TEXT), 'paths of changed files'],
      removed: [listOf(TEXT), 'paths of removed files'],
    }),
    'paths that the commits changed; a path that one of them adds and another removes stands in both lists',
  ],
  files_complete: [BOOL, 'true where `files` covers all commits; else both are not known'],
  mirror_sync: [BOOL, 'true when a pull mirror’s sync did it', 'optional'],
};

export const NUMBER: Fields = { number: [INT, 'number in the repository'] };
export const CHANGES: Fields = { changes: [changes, 'old texts, on edits', 'optional'] };
/** Short for fields of its issue or pull request, which is read where a source leaves them out. */
export const OF_SUBJECT: Fields = {
  labels: [listOf(TEXT), 'names of its labels, as they are after the event'],
  author: [TEXT, 'login of who opened the issue or pull request'],
};
export const ISSUE: Fields = {
  ...ACTION,
  ...NUMBER,
  ...CHANGES,
  ...OF_SUBJECT,
  issue: [issue, 'the issue after the change'],
  commit_id: [TEXT, 'commit that closed it, else empty', 'optional'],
};
export const PULL_BASE: Fields = {
  ...NUMBER,
  ...OF_SUBJECT,
  pull_request: [pullRequest, 'the pull request after the change'],
  branch: [TEXT, 'base branch', 'optional'],
  ...SHA('head commit'),
};
export const PULL: Fields = {
  ...ACTION,
  ...PULL_BASE,
  ...CHANGES,
  before: [TEXT, 'old head, when it was synchronized (Gitea 1.27)', 'optional'],
  after: [TEXT, 'new head, when it was synchronized (Gitea 1.27)', 'optional'],
  requested_reviewer: [user, 'who was asked for a review', 'optional'],
  commit_id: [TEXT, 'commit whose message closed it, else empty', 'optional'],
};
export const COMMENT: Fields = {
  ...ACTION,
  ...NUMBER,
  ...CHANGES,
  ...OF_SUBJECT,
  issue: [issue, 'the issue or pull request as issue'],
  comment: [ruleType(tracker.comment), 'the comment'],
  is_pull: [BOOL, 'whether it is on a pull request'],
  pull_request: [pullRequest, 'the pull request, when it is one', 'optional'],
};
export const COMMAND: Fields = {
  command: [
    ownObject('Command', {
      name: [TEXT, 'its word, in lower case'],
      args: [listOf(TEXT), 'the words behind it; `"two words"` are one'],
      text: [TEXT, 'all that stands behind the word'],
    }),
    'the command that its first line is (`/label kind/bug`)',
    'optional',
  ],
};
export const REVIEW: Fields = { ...ACTION, ...PULL_BASE, review: [ruleType(forms.eventReview), 'the review'] };
export const RELEASE: Fields = {
  ...ACTION,
  tag: [TEXT, 'name of its tag'],
  release: [ruleType(publishing.release), 'the release'],
};
export const PACKAGE: Fields = {
  ...ACTION,
  package: [ruleType(publishing.packageVersion), 'the version of the package'],
};
export const WIKI: Fields = {
  ...ACTION,
  page: [TEXT, 'name of the page'],
  message: [TEXT, 'message of the change', 'optional'],
};
export const STATUS: Fields = {
  ...SHA('commit'),
  status: [ruleType(forms.eventStatus), 'the status'],
  commit: [commit, 'the commit', 'optional'],
};
export const WORKFLOW: Fields = {
  ...ACTION,
  run: [ruleType(forms.eventRun), 'the run'],
  workflow: [ruleType(forms.eventWorkflow), 'the workflow (Gitea)', 'optional'],
  ...SHA('commit'),
  branch: [TEXT, 'branch, unless it ran for a pull request or tag', 'optional'],
  pull_request: [pullRequest, 'the pull request it ran for', 'optional'],
  prior_status: [TEXT, 'status of the run before (Forgejo)', 'optional'],
  last_run: [
    ownObject('LastRun', { id: [ID, 'id', 'optional'], status: [TEXT, 'status', 'optional'] }),
    'the run before (Forgejo)',
    'optional',
  ],
};
export const TASK: Fields = {
  ...ACTION,
  task: [ruleType(forms.eventTask), 'the job'],
  ...SHA('commit'),
  branch: [TEXT, 'branch, if reported', 'optional'],
  pull_request: [pullRequest, 'the pull request it ran for', 'optional'],
};

/** What the forge does not say, worked out of the state held before; each name is absent, and in `not_known`, where none is held. */
function derived(fields: Fields): Fields {
  const all: Fields = {
    ...fields,
    not_known: [listOf(TEXT), 'names of the derived fields that are unknown, because no earlier state is stored'],
  };
  return { derived: [ownObject('Derived', all), 'worked out here from earlier events, not said by the forge'] };
}

export const LABELS_DERIVED = derived({
  labels_added: [listOf(TEXT), 'names of labels that were put on', 'optional'],
  labels_removed: [listOf(TEXT), 'names of labels that were taken off', 'optional'],
});
export const ASSIGNEES_DERIVED = derived({
  assignees_added: [listOf(TEXT), 'logins of those newly assigned', 'optional'],
  assignees_removed: [listOf(TEXT), 'logins of those no longer assigned', 'optional'],
});
export const MILESTONE_DERIVED = derived({
  milestone_before: [TEXT, 'title of the milestone before, null for none', 'optional'],
  milestone_after: [TEXT, 'title of the milestone now, null for none', 'optional'],
});
export const DRAFT_DERIVED = derived({ left_draft: [BOOL, 'it was a draft, and is none any more', 'optional'] });
export const RELEASE_DERIVED = derived({
  became_public: [
    BOOL,
    'it was not public before this event; also where a draft on an existing tag was published',
    'optional',
  ],
});
export const TASK_DERIVED = derived({
  previous_conclusion: [
    oneOf('success', 'failure'),
    'how the same job ended last on its branch or pull request',
    'optional',
  ],
  failed_after_pass: [BOOL, 'it failed, and had passed the last time', 'optional'],
});
