import type { JsonObject } from '../../src/core/json.js';

/** Small bodies of every event type, for tests that need one of each. Real ones are in test/recordings. */

export const SENDER = { id: 29, login: 'ben' };
export const REPOSITORY = {
  id: 37,
  name: 'app',
  full_name: 'acme/app',
  owner: { id: 32, login: 'acme' },
  private: false,
  default_branch: 'main',
};
export const SHA_A = 'a'.repeat(40);
export const SHA_B = 'b'.repeat(40);
export const ZERO_SHA = '0'.repeat(40);

const issue = {
  id: 11,
  number: 1,
  title: 'Crash',
  state: 'open',
  created_at: '2026-11-20T19:34:37+01:00',
  updated_at: '2026-11-20T19:36:05+01:00',
};
const pull_request = {
  id: 4,
  number: 4,
  title: 'feat: login',
  state: 'open',
  merged: false,
  created_at: '2026-11-20T19:36:31+01:00',
  updated_at: '2026-11-20T19:36:31+01:00',
  base: { ref: 'main', sha: SHA_A },
  head: { ref: 'feature/login', sha: SHA_B },
};
const common = { repository: REPOSITORY, sender: SENDER };
const issueBody = (action: string): JsonObject => ({ action, number: 1, issue, ...common, commit_id: '' });
const pullBody = (action: string): JsonObject => ({
  action,
  number: 4,
  pull_request,
  requested_reviewer: null,
  review: null,
  ...common,
  commit_id: '',
});
const reviewBody = (type: string): JsonObject => ({ ...pullBody('reviewed'), review: { type, content: 'LGTM' } });
const actionRunBody = (action: string): JsonObject => ({
  action,
  run: {
    id: 3,
    index_in_repo: 1,
    title: 'ci',
    workflow_id: 'ci.yaml',
    commit_sha: SHA_A,
    prettyref: 'main',
    status: 'failure',
    repository: REPOSITORY,
    trigger_user: SENDER,
  },
  prior_status: 'running',
});

/** One body per event type that servers send. */
export const SAMPLE_BODIES: Readonly<Record<string, JsonObject>> = {
  create: { ref: 'feature/login', ref_type: 'branch', sha: SHA_A, ...common },
  delete: { ref: 'feature/login', ref_type: 'branch', pusher_type: 'user', ...common },
  fork: {
    forkee: REPOSITORY,
    repository: { ...REPOSITORY, id: 40, full_name: 'dora/app', owner: { id: 31, login: 'dora' } },
    sender: SENDER,
  },
  push: {
    ref: 'refs/heads/main',
    before: SHA_A,
    after: SHA_B,
    commits: [{ id: SHA_B, added: ['a'], modified: [], removed: [] }],
    total_commits: 1,
    pusher: SENDER,
    ...common,
  },
  issues: issueBody('opened'),
  issue_assign: issueBody('assigned'),
  issue_label: issueBody('label_updated'),
  issue_milestone: issueBody('milestoned'),
  issue_comment: { action: 'created', issue, comment: { id: 61, body: 'hello' }, is_pull: false, ...common },
  pull_request: pullBody('opened'),
  pull_request_assign: pullBody('assigned'),
  pull_request_label: pullBody('label_updated'),
  pull_request_milestone: pullBody('milestoned'),
  pull_request_sync: { ...pullBody('synchronized'), before: SHA_A, after: SHA_B },
  pull_request_review_request: pullBody('review_requested'),
  pull_request_comment: {
    action: 'created',
    issue,
    pull_request,
    comment: { id: 62, body: 'hello' },
    is_pull: true,
    ...common,
  },
  pull_request_review_approved: reviewBody('pull_request_review_approved'),
  pull_request_review_rejected: reviewBody('pull_request_review_rejected'),
  pull_request_review_comment: reviewBody('pull_request_review_comment'),
  wiki: { action: 'created', page: 'Home', comment: 'start', ...common },
  repository: { action: 'created', repository: REPOSITORY, organization: { id: 32, login: 'acme' }, sender: SENDER },
  release: { action: 'published', release: { id: 12, tag_name: 'v1.0.0', name: 'One', draft: false }, ...common },
  package: {
    action: 'created',
    repository: null,
    package: { id: 4, name: 'tool', type: 'generic', version: '1.0.0', owner: { id: 32, login: 'acme' } },
    organization: { id: 32, username: 'acme', name: 'acme' },
    sender: SENDER,
  },
  status: { id: 28, sha: SHA_A, context: 'ci/build', state: 'failure', description: 'broken', ...common },
  workflow_run: {
    action: 'completed',
    workflow: { id: 'ci.yaml' },
    workflow_run: { id: 6, run_attempt: 1, head_sha: SHA_A, status: 'completed', conclusion: 'success' },
    ...common,
  },
  workflow_job: {
    action: 'completed',
    workflow_job: {
      id: 13,
      run_id: 6,
      run_attempt: 1,
      name: 'build',
      head_sha: SHA_A,
      status: 'completed',
      conclusion: 'success',
      html_url: 'http://forge/acme/app/actions/runs/6/jobs/13',
    },
    ...common,
  },
  action_run_success: actionRunBody('success'),
  action_run_failure: actionRunBody('failure'),
  action_run_recover: actionRunBody('recover'),
};

export function sampleBody(eventType: string): JsonObject {
  const body = SAMPLE_BODIES[eventType];
  if (!body) throw new Error(`no sample body of ${eventType}`);
  return body;
}
