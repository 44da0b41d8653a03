import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../core/json.js';
import { stringifyJson } from '../core/json.js';
import {
  REPOSITORY,
  SAMPLE_BODIES,
  SENDER,
  SHA_A,
  SHA_B,
  ZERO_SHA,
  sampleBody,
} from '../../test/builders/sample-bodies.js';
import { type EventFact, Misfit } from './event-fact.js';
import { misfitOf, normalizeDelivery, replayNameOf } from './normalize-delivery.js';
import { DELIVERY_READERS } from './normalize/index.js';

function read(eventType: string, body: JsonObject | string): EventFact {
  const fact = normalizeDelivery({
    org: 'acme',
    eventType,
    text: typeof body === 'string' ? body : stringifyJson(body),
    textHash: 'hash',
  });
  if (fact instanceof Misfit) throw new Error(fact.reason);
  return fact;
}

describe('events/normalize-delivery', () => {
  it('reads the body of every event type it knows', () => {
    expect(Object.keys(SAMPLE_BODIES).sort()).toEqual([...DELIVERY_READERS.keys()].sort());
    for (const [eventType, body] of Object.entries(SAMPLE_BODIES))
      expect([eventType, read(eventType, body).kind]).not.toContain('unrecognized');
  });

  it('fits no body to an event type but its own', () => {
    const types = Object.keys(SAMPLE_BODIES);
    const accepted = types.flatMap((eventType) =>
      types
        .filter((other) => misfitOf(eventType, SAMPLE_BODIES[other]) === null)
        .map((other) => `${eventType} <- ${other}`),
    );

    expect(accepted).toEqual(types.map((eventType) => `${eventType} <- ${eventType}`));
  });

  it('fits no body of a known type to a made-up one, and any other body', () => {
    const types = Object.keys(SAMPLE_BODIES);
    const names = ['lantern', 'PUSH', 'issues.'];
    const { repository, sender } = sampleBody('issues');

    expect(
      types.flatMap((type) =>
        names.filter((name) => misfitOf(name, SAMPLE_BODIES[type]) === null).map((name) => `${name} <- ${type}`),
      ),
    ).toEqual([]);
    expect(misfitOf('lantern', SAMPLE_BODIES.issues)).toBe('not the body of lantern: it is the body of issues');
    expect(misfitOf('lantern', { lantern: { id: 1 }, repository, sender })).toBeNull();
    expect(misfitOf('lantern', { ...sampleBody('issues'), action: 'pinned' })).toBeNull();
  });

  it('gives all bodies that no reader knows one replay name', () => {
    const pinned = { ...sampleBody('issues'), action: 'pinned' };

    expect([replayNameOf('issues', SAMPLE_BODIES.issues), replayNameOf('push', SAMPLE_BODIES.push)]).toEqual([
      'issues',
      'push',
    ]);
    expect(
      new Set([replayNameOf('issues', pinned), replayNameOf('lantern', pinned), replayNameOf('lamp', pinned)]),
    ).toEqual(new Set(['unrecognized']));
  });

  it.each([
    ['the words of an issue', 'issues', { action: 'closed' }, 'issue.closed'],
    ['reopening', 'issues', { action: 'reopened' }, 'issue.reopened'],
    ['labels', 'issue_label', { action: 'label_updated' }, 'issue.labeled'],
    ['labels cleared', 'issue_label', { action: 'label_cleared' }, 'issue.labels_cleared'],
    ['a milestone taken away', 'issue_milestone', { action: 'demilestoned' }, 'issue.demilestoned'],
    ['closing a pull request', 'pull_request', { action: 'closed' }, 'pull_request.closed'],
    [
      'merging a pull request',
      'pull_request',
      {
        action: 'closed',
        pull_request: { ...(sampleBody('pull_request').pull_request as JsonObject), merged: true, state: 'closed' },
      },
      'pull_request.merged',
    ],
    ['a comment edited', 'issue_comment', { action: 'edited' }, 'comment.edited'],
    ['a comment on a pull request', 'pull_request_comment', {}, 'comment.created'],
    ['an approval', 'pull_request_review_approved', {}, 'review.approved'],
    ['a rejection', 'pull_request_review_rejected', {}, 'review.rejected'],
    ['a review with comments', 'pull_request_review_comment', {}, 'review.commented'],
    ['a run asked for', 'workflow_run', { action: 'requested' }, 'workflow.requested'],
    ['a run started', 'workflow_run', { action: 'in_progress' }, 'workflow.started'],
    ['a job queued', 'workflow_job', { action: 'queued' }, 'task.queued'],
    ['a job waiting', 'workflow_job', { action: 'waiting' }, 'task.waiting'],
    ['a job started', 'workflow_job', { action: 'in_progress' }, 'task.started'],
    ['a run ended on Forgejo', 'action_run_failure', {}, 'workflow.finished'],
    ['a run recovered on Forgejo', 'action_run_recover', {}, 'workflow.recovered'],
    ['a branch deleted', 'delete', {}, 'branch.deleted'],
    ['a tag created', 'create', { ref_type: 'tag', ref: 'v1' }, 'tag.created'],
    [
      'a repository renamed',
      'repository',
      { action: 'renamed', changes: { name: { from: 'old' } } },
      'repository.renamed',
    ],
  ])('%s (%s) => its kind', (_title, eventType, change, kind) => {
    expect(read(eventType, { ...sampleBody(eventType), ...change }).kind).toBe(kind);
  });

  it('reads the short ref of Gitea and the full ref of Forgejo alike', () => {
    const gitea = read('create', { ...sampleBody('create'), ref: 'feature/login' });
    const forgejo = read('create', { ...sampleBody('create'), ref: 'refs/heads/feature/login' });

    expect(forgejo).toEqual(gitea);
    expect(gitea.data).toEqual({
      ref: 'refs/heads/feature/login',
      ref_type: 'branch',
      branch: 'feature/login',
      sha: SHA_A,
    });
  });

  it('decides by ref_type, not by the look of the name', () => {
    const fact = read('create', { ...sampleBody('create'), ref: 'refs/heads/odd', ref_type: 'tag' });

    expect(fact.kind).toBe('tag.created');
    expect(fact.data.tag).toBe('refs/heads/odd');
  });

  it.each([
    ['the same commit on both sides', SHA_A],
    ['zeros on both sides', ZERO_SHA],
  ])('takes a push with %s as a test call of the hook', (_title, sha) => {
    expect(read('push', { ...sampleBody('push'), before: sha, after: sha }).kind).toBe('hook.tested');
  });

  it('unites the file lists of the commits, and says when they are not all', () => {
    const commits = [
      { id: SHA_B, added: ['c', 'a'], modified: [], removed: null },
      { id: SHA_A, added: ['a'], modified: ['b'], removed: [] },
    ];

    expect(read('push', { ...sampleBody('push'), commits, total_commits: 2 }).data).toMatchObject({
      files: { added: ['a', 'c'], modified: ['b'], removed: [] },
      files_complete: true,
    });
    expect(read('push', { ...sampleBody('push'), commits, total_commits: 3 }).data).toMatchObject({
      files_complete: false,
    });
  });

  it('does not trust file lists that the server never made', () => {
    const commits = [{ id: SHA_B, added: null, modified: null, removed: null }];

    expect(read('push', { ...sampleBody('push'), commits, total_commits: 1 }).data.files_complete).toBe(false);
  });

  it('reads a push without commits', () => {
    expect(
      read('push', { ...sampleBody('push'), ref: 'refs/tags/v1', before: ZERO_SHA, commits: null, total_commits: 0 })
        .data,
    ).toMatchObject({
      tag: 'v1',
      created: true,
      deleted: false,
      commits: [],
      files: { added: [], modified: [], removed: [] },
      files_complete: true,
    });
  });

  it('keeps every id as a decimal string with all its digits', () => {
    const text = stringifyJson(sampleBody('release')).replace('"id":12', '"id":9007199254740993');

    const fact = read('release', text);

    expect(fact.data.release).toMatchObject({ id: '9007199254740993' });
    expect(fact.repo?.id).toBe('37');
    expect(fact.actor).toEqual({ id: '29', login: 'ben' });
  });

  it('replaces what the database cannot hold', () => {
    const text = stringifyJson(sampleBody('issues')).replace('"Crash"', '"a\\u0000b\\ud800c"');

    expect(read('issues', text).data.issue).toMatchObject({ title: 'a\uFFFDb\uFFFDc' });
  });

  it('leaves out whose permissions nobody knows', () => {
    const fact = read('issues', {
      ...sampleBody('issues'),
      repository: { ...REPOSITORY, permissions: { admin: true } },
    });

    expect(fact.repo).not.toHaveProperty('permissions');
    expect(fact.repo).toMatchObject({ id: '37', owner: 'acme', name: 'app', full_name: 'acme/app', private: false });
  });

  it('gives a fork to the original, which stands under forkee', () => {
    const fact = read('fork', sampleBody('fork'));

    expect(fact.repo?.full_name).toBe('acme/app');
    expect(fact.data.fork).toMatchObject({ full_name: 'dora/app', id: '40' });
  });

  it('takes repository and actor of a Forgejo run from the run', () => {
    const fact = read('action_run_failure', sampleBody('action_run_failure'));

    expect(fact.repo?.full_name).toBe('acme/app');
    expect(fact.actor?.login).toBe('ben');
    expect(fact.data.run).toMatchObject({
      id: '3',
      run_number: 1,
      head_sha: SHA_A,
      head_branch: 'main',
      status: 'completed',
      conclusion: 'failure',
    });
  });

  it('reads a package without a repository', () => {
    expect(read('package', sampleBody('package'))).toMatchObject({
      kind: 'package.created',
      repo: null,
      data: { package: { name: 'tool' } },
    });
  });

  it.each([
    ['an event type nobody knows', 'sponsorship', { action: 'created', repository: REPOSITORY, sender: SENDER }],
    ['an action nobody knows', 'issues', { ...sampleBody('issues'), action: 'pinned' }],
    ['an action nobody knows of a repository', 'repository', { ...sampleBody('repository'), action: 'transferred' }],
  ])('keeps %s as unrecognized', (_title, eventType, body) => {
    expect(read(eventType, body)).toMatchObject({
      kind: 'unrecognized',
      repo: { id: '37' },
      data: { event_type: eventType },
    });
  });

  it.each([
    ['text that is no JSON', '{'],
    ['a list', '[]'],
    ['a body without its object', '{"action":"opened"}'],
  ])('answers %s with a reason', (_title, text) => {
    expect(normalizeDelivery({ org: 'acme', eventType: 'issues', text, textHash: '' })).toBeInstanceOf(Misfit);
  });

  it('tolerates fields that are new, and optional ones that are missing', () => {
    const { number: _, commit_id: __, ...less } = sampleBody('issues');

    expect(read('issues', { ...less, new_in_2030: { deep: [1] } }).kind).toBe('issue.opened');
  });

  it('puts no clock into a fact key', () => {
    for (const [eventType, body] of Object.entries(SAMPLE_BODIES)) {
      const later = stringifyJson(body).replaceAll('2026-11-20', '2027-01-01');
      expect(read(eventType, later).factKey).toBe(read(eventType, body).factKey);
    }
  });

  it('keeps names apart that differ in the separator', () => {
    const a = read('create', { ...sampleBody('create'), ref_type: 'tag', ref: 'v1|x' });
    const b = read('create', { ...sampleBody('create'), ref_type: 'tag', ref: 'v1', sha: SHA_A });

    expect(a.factKey).not.toContain('v1|x');
    expect(a.factKey).not.toBe(b.factKey);
  });
});
