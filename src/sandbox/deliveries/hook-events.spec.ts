import { describe, expect, it } from '@jest/globals';
import { FORGEJO_TELLING, GITEA_1_24_TELLING, GITEA_TELLING } from '../telling-style.js';
import { HOOK_EVENTS, hookEventOf, storedEventNames as stored } from './hook-events.js';

const storedEventNames = (names: string[], server = GITEA_TELLING): string[] => stored(names, server);

describe('sandbox/deliveries/hook-events', () => {
  it('opens the groups and keeps each name once', () => {
    expect(storedEventNames(['push', 'issues', 'issue_label'])).toEqual([
      'push',
      'issues',
      'issue_assign',
      'issue_label',
      'issue_milestone',
      'issue_comment',
    ]);
  });

  it('subscribes to the eight pull request names by the group', () => {
    expect(storedEventNames(['pull_request']).sort()).toEqual([
      'pull_request',
      'pull_request_assign',
      'pull_request_comment',
      'pull_request_label',
      'pull_request_milestone',
      'pull_request_review',
      'pull_request_review_request',
      'pull_request_sync',
    ]);
  });

  it('stores issues_only as issues', () => {
    expect(storedEventNames(['issues_only', 'PULL_REQUEST_ONLY'])).toEqual(['issues', 'pull_request']);
  });

  it('drops unknown names, and those of other servers', () => {
    expect(storedEventNames(['pushes', 'status', 'action_run_failure', 'pull_request_review_approved'])).toEqual([
      'status',
    ]);
    expect(storedEventNames(['status', 'action_run_failure'], FORGEJO_TELLING)).toEqual(['action_run_failure']);
    expect(storedEventNames(['workflow_run', 'workflow_job'], GITEA_1_24_TELLING)).toEqual(['workflow_job']);
  });

  it('stores the verdicts of reviews one by one where the server does', () => {
    const verdicts = ['pull_request_review_approved', 'pull_request_review_rejected', 'pull_request_review_comment'];

    expect(storedEventNames(['pull_request_review'], FORGEJO_TELLING)).toEqual(verdicts);
    expect(storedEventNames(['pull_request_review_approved'], FORGEJO_TELLING)).toEqual([
      'pull_request_review_approved',
    ]);
    expect(storedEventNames(['pull_request'], FORGEJO_TELLING)).toEqual(expect.arrayContaining(verdicts));
  });

  it('finds each type of the table', () => {
    for (const event of HOOK_EVENTS) expect(hookEventOf(event.type)).toBe(event);
  });
});
