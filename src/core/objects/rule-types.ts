import { z } from 'zod';
import { BOOL, type DataType, DYN, ID, INT, listOf, type ObjectType, TEXT, TIME } from '../data-types.js';
import { accessToken, organization, team, user } from './accounts.js';
import * as base from './base.js';
import * as forms from './event-forms.js';
import { activity } from './feed.js';
import * as git from './git.js';
import { downloadCount, packageVersion, release } from './publishing.js';
import * as repositories from './repositories.js';
import * as tracker from './tracker.js';
import * as workflows from './workflows.js';

/** What the objects are called in rules and their documentation. */
export const NAMED_OBJECTS: ReadonlyArray<readonly [schema: z.ZodObject, name: string, summary: string]> = [
  [accessToken, 'AccessToken', 'An access token, without anything of its value.'],
  [workflows.actionTask, 'ActionTask', 'One job that a runner picked up; `status` is the server’s own word.'],
  [workflows.actionTasks, 'TasksList', 'Tasks.'],
  [activity, 'Activity', 'One row of the activity feed.'],
  [tracker.attachment, 'Attachment', 'A file that hangs on something.'],
  [git.branch, 'Branch', 'A branch with its newest commit.'],
  [git.branchProtection, 'BranchProtection', 'The rule that protects branches.'],
  [forms.change, 'Change', 'What stood there before.'],
  [
    tracker.changedFile,
    'ChangedFile',
    'A file that a pull request changes. `status` is added, changed, deleted, renamed or copied.',
  ],
  [forms.changes, 'Changes', 'Old texts of what was edited.'],
  [
    git.combinedStatus,
    'CombinedStatus',
    'All contexts of a commit together: `state` is success, pending, failure, error or warning; empty where no context ever spoke.',
  ],
  [tracker.comment, 'Comment', 'A comment.'],
  [
    git.commit,
    'CommitRow',
    'A commit as the API lists it: `author` and `committer` are accounts, null where no account has that address; `commit` is what git says.',
  ],
  [git.payloadCommit, 'Commit', 'A commit. File lists may be null; the feed has none.'],
  [git.payloadUser, 'CommitPerson', 'A name in a commit.'],
  [forms.eventStatus, 'CommitStatus', 'A commit status.'],
  [downloadCount, 'DownloadCount', 'Downloads of the archives.'],
  [
    forms.eventRepository,
    'EventRepository',
    'The repository an event or a tick is about; `owner` is a login. An event has the fields that its source reported.',
  ],
  [repositories.externalTracker, 'ExternalTracker', 'An issue tracker elsewhere.'],
  [repositories.externalWiki, 'ExternalWiki', 'A wiki elsewhere.'],
  [git.contents, 'File', 'A file; `content` is its text, null where it is too large, binary or no file.'],
  [repositories.hook, 'Hook', 'A webhook, without its credentials.'],
  [repositories.internalTracker, 'InternalTracker', 'Settings of the issue tracker.'],
  [tracker.issue, 'Issue', 'An issue, after the change. Feed rows have `number`, `state` and sometimes `title`.'],
  [tracker.issuePull, 'IssuePull', 'There when the issue is a pull request.'],
  [tracker.issueRepository, 'IssueRepository', 'Where the issue is.'],
  [tracker.label, 'Label', 'A label; its colour has no `#` here.'],
  [git.links, 'Links', 'Addresses.'],
  [tracker.milestone, 'Milestone', 'A milestone.'],
  [organization, 'Organization', 'An organization.'],
  [packageVersion, 'Package', 'One version of a package.'],
  [repositories.permission, 'Permission', 'What the asking account may do.'],
  [tracker.pullEnd, 'PullEnd', 'One side of a pull request; `repo` is null when a fork is gone.'],
  [
    tracker.pull,
    'PullRequest',
    'A pull request, after the change. Feed rows have `number`, `state`, `merged` and sometimes `title`.',
  ],
  [
    tracker.review,
    'PullReview',
    'A review, or a request for one, as the API lists it. `state` is APPROVED, REQUEST_CHANGES, COMMENT, PENDING or REQUEST_REVIEW.',
  ],
  [repositories.pushMirror, 'PushMirror', 'A push mirror; its address has no user and password.'],
  [tracker.reaction, 'Reaction', 'A reaction; `content` is its name, such as `+1`.'],
  [release, 'Release', 'A release. The feed has only `tag_name`, `name` and `draft`.'],
  [repositories.repoTransfer, 'RepoTransfer', 'A transfer that waits for its recipient.'],
  [repositories.repository, 'Repository', 'A repository as the API answers it.'],
  [
    forms.eventReview,
    'Review',
    'What a reviewer said. `content` and `body` are the same text; deliveries have no review id.',
  ],
  [
    forms.eventRun,
    'Run',
    'A workflow run. Forgejo has fields of its own too (`title`, `prettyref`, `trigger_user`, …).',
  ],
  [forms.runPull, 'RunPull', 'A pull request of a run.'],
  [git.commitStatus, 'StatusRow', 'The newest status of one context; its word is in `status`.'],
  [
    forms.eventTask,
    'Task',
    'A job of a workflow run: from a delivery (`job_id`, `run_id`, `run_attempt`) or a task row (`task_id`, `run_number`). `status` and `conclusion` are the words of deliveries.',
  ],
  [team, 'Team', 'A team of an organization.'],
  [user, 'User', 'An account.'],
  [repositories.variable, 'Variable', 'A variable; rules never see its value.'],
  [git.verification, 'Verification', 'What the signature says.'],
  [forms.eventWorkflow, 'Workflow', 'The workflow of a run; `id` is its file.'],
  [workflows.workflowJob, 'WorkflowJob', 'A job of a workflow run.'],
  [workflows.workflowJobs, 'WorkflowJobsList', 'Jobs.'],
  [workflows.run, 'WorkflowRun', 'A workflow run as the API lists it.'],
  [workflows.workflowStep, 'WorkflowStep', 'One step of a job.'],
];

const LEAVES = new Map<unknown, DataType>([
  [base.id, ID],
  [base.int, INT],
  [base.text, TEXT],
  [base.flag, BOOL],
  [base.time, TIME],
  [base.texts, listOf(TEXT)],
  [base.textMap, { kind: 'map', of: TEXT }],
  [base.anything, DYN],
]);

const names = new Map<z.ZodType, { name: string; summary: string }>(
  NAMED_OBJECTS.map(([schema, name, summary]) => [schema, { name, summary }]),
);
const types = new Map<z.ZodType, ObjectType>();
const underWay = new Set<z.ZodType>();

/**
 * What rules can know of an object of the API: every field that its schema has, but for secrets. Any of them may be missing or null.
 * @throws TypeError for a schema that is not made of the parts in `base.ts`
 */
export function ruleType(schema: z.ZodObject): ObjectType {
  const cachedType = types.get(schema);
  if (cachedType) return cachedType;
  underWay.add(schema);
  const fields = Object.entries(schema.shape as Record<string, z.ZodType>)
    .filter(([, field]) => field !== base.secret)
    .map(([name, field]) => [name, { type: typeOf(field), optional: true }] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const type: ObjectType = { kind: 'object', name: '', ...names.get(schema), fields: Object.fromEntries(fields) };
  underWay.delete(schema);
  types.set(schema, type);
  return type;
}

function typeOf(schema: z.ZodType): DataType {
  const leaf = LEAVES.get(schema);
  if (leaf) return leaf;
  const values = base.wordsOf(schema);
  if (values) return { kind: 'string', values };
  const item = base.itemOf(schema);
  if (item) return listOf(typeOf(item));
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return typeOf(schema.unwrap() as z.ZodType);
  // An object within itself (`parent` of a repository) is not looked into.
  if (schema instanceof z.ZodObject) return underWay.has(schema) ? DYN : ruleType(schema);
  throw new TypeError(`no type for rules: ${schema.type}`);
}
