import { describe, expect, it } from '@jest/globals';
import { aRevision } from '../../../test/builders/rule-environment.js';
import { EVENT_KINDS } from '../../core/event-kinds.js';
import { textOf } from '../../core/reason.js';
import { eventsToKeep, hookEventsOf, missingEvents, neededEvents, shownEvents, unsentEvents } from './hook-events.js';

const revision = aRevision(
  'version: 1\norg: acme\nrules:\n  - {id: a, on: [push, issue.labeled], do: {milestone.ensure: {title: a}}}\n  - {id: b, on: review.approved, do: {milestone.ensure: {title: b}}}\n',
);

describe('rules/language/hook-events', () => {
  it('names the rule, its place and what the hook would have to send', () => {
    expect(unsentEvents(revision, [{ active: true, events: ['create'] }]).map(textOf)).toEqual([
      'rules/1.yaml:4:5: a waits for push, and no active hook of the organization sends push; it is found by polling alone',
      'rules/1.yaml:4:5: a waits for issue.labeled, and no active hook of the organization sends issue_label; it never starts',
      'rules/1.yaml:5:5: b waits for review.approved, and no active hook of the organization sends pull_request_review; it is found by polling alone',
    ]);
  });

  it('takes all active hooks together, and both names of reviews', () => {
    const hooks = [
      { active: true, events: ['push', 'pull_request_review_approved'] },
      { active: true, events: ['issue_label'] },
    ];

    expect(unsentEvents(revision, hooks)).toEqual([]);
    expect(
      unsentEvents(revision, [{ active: false, events: ['push', 'issue_label', 'pull_request_review'] }]),
    ).toHaveLength(3);
  });

  it('says that a rule never starts only where nothing else tells its events', () => {
    const comments = aRevision(
      'version: 1\norg: acme\nrules:\n  - {id: c, on: comment.created, do: {milestone.ensure: {title: a}}}\n',
    );

    expect(unsentEvents(comments, [{ active: true, events: ['issue_comment'] }]).map(textOf)).toEqual([
      expect.stringMatching(
        /c waits for comment\.created, and no active hook of the organization sends pull_request_comment; it is found by polling alone$/,
      ),
    ]);
  });

  it('asks with names that servers take, and with those of the server alone', () => {
    const names = EVENT_KINDS.flatMap((kind) => [...hookEventsOf(kind, 'gitea'), ...hookEventsOf(kind, 'forgejo')]);

    expect(
      names.filter((name) => name === '' || /^pull_request_review_(approved|rejected|comment)$/.test(name)),
    ).toEqual([]);
    expect(hookEventsOf('pull_request.review_requested')).toEqual(['pull_request_review_request']);
    expect([hookEventsOf('task.finished', 'gitea'), hookEventsOf('task.finished', 'forgejo')]).toEqual([
      ['workflow_job'],
      [],
    ]);
    expect([hookEventsOf('workflow.finished'), hookEventsOf('workflow.finished', 'forgejo')]).toEqual([
      ['workflow_run'],
      ['action_run_success', 'action_run_failure'],
    ]);
  });

  it('needs each name once, for all rules together', () => {
    expect(neededEvents(revision)).toEqual(['issue_label', 'pull_request_review', 'push']);
  });

  it.each([
    ['gitea', ['pull_request_review', 'push']],
    [
      'forgejo',
      ['pull_request_review_approved', 'pull_request_review_rejected', 'pull_request_review_comment', 'push'],
    ],
  ] as const)('knows how %s shows what was asked for', (product, shown) => {
    expect(shownEvents(['pull_request_review', 'push'], product)).toEqual(shown);
    expect(missingEvents(['pull_request_review', 'push', 'release'], shown)).toEqual(['release']);
  });

  it('writes back what a hook shows in the names that mean just that', () => {
    expect(
      eventsToKeep([
        'issues',
        'issue_label',
        'pull_request',
        'pull_request_review_approved',
        'pull_request_review_comment',
        'wiki',
      ]),
    ).toEqual(['issue_label', 'issues_only', 'pull_request_only', 'pull_request_review', 'wiki']);
  });
});
