import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../core/json.js';
import { stringifyJson } from '../core/json.js';
import { REPOSITORY, SENDER, SHA_A, SHA_B, ZERO_SHA, sampleBody } from '../../test/builders/sample-bodies.js';
import { type EventFact, Misfit } from './event-fact.js';
import { normalizeDelivery } from '../../test/builders/normalize-delivery.js';
import { normalizeEntry } from './normalize-entry.js';

function feedRow(fields: JsonObject): JsonObject {
  return {
    id: 900,
    user_id: 32,
    act_user_id: 29,
    act_user: SENDER,
    repo_id: 37,
    repo: REPOSITORY,
    comment_id: 0,
    comment: null,
    ref_name: '',
    is_private: false,
    content: '',
    created: '2026-11-20T19:34:37+01:00',
    ...fields,
  };
}

function taskRow(fields: JsonObject): JsonObject {
  return {
    id: 12,
    name: 'build',
    head_branch: 'main',
    head_sha: SHA_A,
    run_number: 1,
    event: 'push',
    display_title: 'ci: add',
    status: 'success',
    workflow_id: 'ci.yaml',
    url: 'http://elsewhere:9/acme/app/actions/runs/6',
    created_at: '2026-11-20T18:39:50Z',
    updated_at: '2026-11-20T18:39:55Z',
    run_started_at: '2026-11-20T18:39:50Z',
    repository: REPOSITORY,
    ...fields,
  };
}

function read(row: JsonObject, source: 'feed' | 'tasks' = 'feed'): EventFact[] {
  const facts = normalizeEntry({ org: 'acme', source, text: stringifyJson(row), textHash: 'hash' });
  if (facts instanceof Misfit) throw new Error(facts.reason);
  return facts;
}

function keyOfDelivery(eventType: string, change: JsonObject = {}): string {
  const fact = normalizeDelivery({
    org: 'acme',
    eventType,
    text: stringifyJson({ ...sampleBody(eventType), ...change }),
  });
  if (fact instanceof Misfit) throw new Error(fact.reason);
  return fact.factKey;
}

function pushContent(compare: string, commits: string[] | null = []): string {
  const commit = (sha: string): JsonObject => ({
    Sha1: sha,
    Message: 'a change',
    AuthorEmail: 'b@x',
    AuthorName: 'ben',
    CommitterEmail: 'b@x',
    CommitterName: 'ben',
    Timestamp: '2026-11-20T18:33:20Z',
  });
  return stringifyJson({
    Commits: commits?.map(commit) ?? null,
    HeadCommit: commits?.[0] ? commit(commits[0]) : null,
    CompareURL: compare,
    Len: commits?.length ?? 0,
  });
}

describe('events/normalize-entry', () => {
  it.each([
    ['issue opened', 'create_issue', '1|Crash on start | pipe', 'issues', { action: 'opened' }],
    ['issue closed', 'close_issue', '1|', 'issues', { action: 'closed' }],
    ['issue reopened', 'reopen_issue', '1|', 'issues', { action: 'reopened' }],
    ['pull request opened', 'create_pull_request', '4|feat: login', 'pull_request', {}],
    ['pull request closed', 'close_pull_request', '4|', 'pull_request', { action: 'closed' }],
    ['approval', 'approve_pull_request', '4|LGTM', 'pull_request_review_approved', {}],
    ['rejection', 'reject_pull_request', '4|no', 'pull_request_review_rejected', {}],
    ['repository created', 'create_repo', '', 'repository', {}],
  ])('%s => the key of its delivery', (_title, op_type, content, eventType, change) => {
    expect(read(feedRow({ op_type, content })).map(({ factKey }) => factKey)).toEqual([
      keyOfDelivery(eventType, change),
    ]);
  });

  it.each(['merge_pull_request', 'auto_merge_pull_request'])(
    '%s => the key of the closing delivery that says merged',
    (op_type) => {
      const merged = {
        action: 'closed',
        pull_request: { ...(sampleBody('pull_request').pull_request as JsonObject), merged: true },
      };

      const [fact] = read(feedRow({ op_type, content: '4|feat: login' }));

      expect(fact).toMatchObject({
        kind: 'pull_request.merged',
        factKey: keyOfDelivery('pull_request', merged),
        data: { action: 'closed', number: 4, pull_request: { merged: true } },
      });
    },
  );

  it('splits at the first bar only, and reads the JSON array of Forgejo', () => {
    const title = 'Crash on start | pipe';

    const [gitea] = read(feedRow({ op_type: 'create_issue', content: `1|${title}` }));
    const [forgejo] = read(feedRow({ op_type: 'create_issue', content: stringifyJson(['1', title]) }));

    expect(gitea?.data).toEqual({ action: 'opened', number: 1, issue: { number: 1, state: 'open', title } });
    expect(forgejo).toEqual(gitea);
  });

  it('names a comment by its id and takes its own text, not the cut one', () => {
    const [fact] = read(
      feedRow({
        op_type: 'comment_issue',
        content: '1|hel…',
        comment_id: 61,
        comment: { id: 61, user: null, body: 'hello' },
      }),
    );

    expect(fact).toMatchObject({
      factKey: keyOfDelivery('issue_comment'),
      data: { number: 1, comment: { id: '61', body: 'hello', user: { login: 'ben' } }, is_pull: false },
    });
  });

  it('finds the row of a comment on a pull request and the review it may belong to in one discussion', () => {
    const [fact] = read(
      feedRow({
        op_type: 'comment_pull',
        content: '4|LGTM',
        comment_id: 80,
        comment: { id: 80, user: null, body: 'LGTM' },
      }),
    );

    const review = normalizeDelivery({
      org: 'acme',
      eventType: 'pull_request_review_comment',
      text: stringifyJson(sampleBody('pull_request_review_comment')),
    });

    expect(fact?.discussionKey).toBe(review instanceof Misfit ? null : review.discussionKey);
    expect(fact?.discussionKey).toBeDefined();
  });

  it('reads a push, with the new side of the compare address as its end', () => {
    const [fact, ...more] = read(
      feedRow({
        op_type: 'commit_repo',
        ref_name: 'refs/heads/main',
        content: pushContent(`acme/app/compare/${SHA_A}...${SHA_B}`, [SHA_B]),
      }),
    );

    expect(more).toEqual([]);
    expect(fact).toMatchObject({
      kind: 'push',
      factKey: keyOfDelivery('push'),
      data: { branch: 'main', after: SHA_B, total_commits: 1 },
    });
    expect(fact?.data).not.toHaveProperty('before');
  });

  it('reads a row of a push without content as the creation of the branch', () => {
    const [fact] = read(feedRow({ op_type: 'commit_repo', ref_name: 'refs/heads/feature/login' }));

    expect(fact).toMatchObject({
      kind: 'branch.created',
      factKey: keyOfDelivery('create'),
      data: { branch: 'feature/login' },
    });
  });

  it('reads a pushed tag as its push and its creation, named by the tag object where it is annotated', () => {
    const facts = read(
      feedRow({
        op_type: 'push_tag',
        ref_name: 'refs/tags/v1',
        content: pushContent(`acme/app/compare/${ZERO_SHA}...${SHA_B}`, [SHA_A]),
      }),
    );

    expect(facts.map(({ kind }) => kind)).toEqual(['push', 'tag.created']);
    expect(facts.map(({ factKey }) => factKey)).toEqual([
      keyOfDelivery('push', { ref: 'refs/tags/v1', before: ZERO_SHA, after: SHA_B }),
      keyOfDelivery('create', { ref: 'v1', ref_type: 'tag', sha: SHA_B }),
    ]);
  });

  it('reads a deleted tag as its push and its deletion', () => {
    const facts = read(feedRow({ op_type: 'delete_tag', ref_name: 'refs/tags/v1', content: pushContent('', null) }));

    expect(facts.map(({ factKey }) => factKey)).toEqual([
      keyOfDelivery('push', { ref: 'refs/tags/v1', before: SHA_B, after: ZERO_SHA }),
      keyOfDelivery('delete', { ref: 'v1', ref_type: 'tag' }),
    ]);
  });

  it.each(['refs/tags/v1.0.0', 'v1.0.0'])('finds the tag of a release in %s', (ref_name) => {
    expect(read(feedRow({ op_type: 'publish_release', ref_name, content: '[beta] One' }))[0]).toMatchObject({
      factKey: keyOfDelivery('release'),
      data: { tag: 'v1.0.0', release: { tag_name: 'v1.0.0', name: '[beta] One', draft: false } },
    });
  });

  it.each([
    ['mirror_sync_push', pushContent(`acme/app/compare/${SHA_A}...${SHA_B}`, [SHA_B]), 'push'],
    ['mirror_sync_create', '', 'branch.created'],
    ['mirror_sync_delete', '', 'branch.deleted'],
  ])('%s => the kind that the deliveries of a mirror have', (op_type, content, kind) => {
    expect(read(feedRow({ op_type, ref_name: 'refs/heads/main', content }))[0]).toMatchObject({
      kind,
      data: { mirror_sync: true },
    });
  });

  it.each([
    ['a new branch, pushed', 'mirror_sync_push', 'refs/heads/main', pushContent(''), 'push', { before: ZERO_SHA }],
    [
      'a new tag, pushed',
      'mirror_sync_push',
      'refs/tags/v1',
      pushContent(''),
      'push',
      { before: ZERO_SHA, ref: 'refs/tags/v1' },
    ],
    ['a new tag', 'mirror_sync_create', 'refs/tags/v1', '', 'create', { ref: 'v1', ref_type: 'tag' }],
    [
      'new commits',
      'mirror_sync_push',
      'refs/heads/main',
      pushContent(`acme/app/compare/${SHA_A}...${SHA_B}`, [SHA_B]),
      'push',
      {},
    ],
  ])(
    '%s by the sync of a mirror => the key of its delivery',
    (_title, op_type, ref_name, content, eventType, change) => {
      const repository = { ...REPOSITORY, mirror: true };

      expect(read(feedRow({ op_type, ref_name, content, repo: repository })).map(({ factKey }) => factKey)).toEqual([
        keyOfDelivery(eventType, { repository, ...change }),
      ]);
    },
  );

  it('tells renames, transfers and dismissed reviews, which no delivery tells', () => {
    expect(read(feedRow({ op_type: 'rename_repo', content: 'bare' }))[0]).toMatchObject({
      kind: 'repository.renamed',
      data: { from: 'bare' },
    });
    expect(read(feedRow({ op_type: 'transfer_repo', content: 'old/app' }))[0]).toMatchObject({
      kind: 'repository.transferred',
      data: { from: 'old/app' },
    });
    expect(
      read(feedRow({ op_type: 'pull_review_dismissed', comment_id: 82, content: '["4","cleo","done"]' }))[0],
    ).toMatchObject({
      kind: 'review.dismissed',
      data: { number: 4, review: { reason: 'done', user: { login: 'cleo' } } },
    });
  });

  it('knows the actor by id where the user is not told', () => {
    expect(read(feedRow({ op_type: 'create_repo', act_user: null }))[0]?.actor).toEqual({ id: '29', login: '' });
  });

  it('tells nothing about a row whose repository is gone', () => {
    expect(
      normalizeEntry({
        org: 'acme',
        source: 'feed',
        text: stringifyJson(feedRow({ op_type: 'create_repo', repo: null })),
        textHash: '',
      }),
    ).toBeInstanceOf(Misfit);
  });

  it.each([
    ['a word nobody knows', { op_type: 'levitate_repo' }],
    ['an issue without a number', { op_type: 'create_issue', content: 'no number' }],
    ['a tag whose push object is cut off', { op_type: 'push_tag', ref_name: 'refs/tags/v1', content: 'nonsense' }],
  ])('keeps %s visible', (_title, fields) => {
    expect(read(feedRow(fields))[0]?.kind).toBe('unrecognized');
  });

  it.each([
    ['running', 'in_progress', 'task.started'],
    ['cancelling', 'in_progress', 'task.started'],
    ['success', 'completed', 'task.finished'],
    ['failure', 'completed', 'task.finished'],
    ['blocked', 'waiting', 'task.waiting'],
    ['waiting', 'queued', 'task.queued'],
  ])('a %s task => the key of a job %s', (status, action, kind) => {
    const [fact] = read(taskRow({ status }), 'tasks');

    expect(fact?.kind).toBe(kind);
    expect(fact?.factKey).toBe(keyOfDelivery('workflow_job', { action }));
  });

  it('tells how a task ended in the words of deliveries', () => {
    expect(read(taskRow({ status: 'failure' }), 'tasks')[0]?.data).toMatchObject({
      sha: SHA_A,
      branch: 'main',
      task: { task_id: '12', name: 'build', status: 'completed', conclusion: 'failure' },
    });
  });

  it('does not take the display name of a pull request for a branch', () => {
    expect(read(taskRow({ head_branch: '#12' }), 'tasks')[0]?.data).not.toHaveProperty('branch');
  });

  it('keeps a task of unknown status visible', () => {
    expect(read(taskRow({ status: 'unknown' }), 'tasks')[0]?.kind).toBe('unrecognized');
  });
});
