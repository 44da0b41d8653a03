import { describe, expect, it } from '@jest/globals';
import { readText } from '../core/json-bytes.js';
import type { Json, JsonObject } from '../core/json.js';
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
import { eventTypeFor, misfitOf, readDelivery } from './normalize-delivery.js';
import { aDelivery } from '../../test/builders/arrivals.js';
import { normalizeDelivery } from '../../test/builders/normalize-delivery.js';
import { DELIVERY_READERS } from './normalize/index.js';

function read(eventType: string, body: JsonObject | string): EventFact {
  const fact = normalizeDelivery({
    org: 'acme',
    eventType,
    text: typeof body === 'string' ? body : stringifyJson(body),
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

  describe('lists', () => {
    /** Each list that a body of the kind has, with what reads it from the fact. */
    const LISTS: ReadonlyArray<[eventType: string, path: string[]]> = [
      ['issues', ['issue', 'labels']],
      ['issues', ['issue', 'assignees']],
      ['issue_label', ['issue', 'labels']],
      ['issue_comment', ['issue', 'labels']],
      ['pull_request', ['pull_request', 'labels']],
      ['pull_request', ['pull_request', 'assignees']],
      ['pull_request', ['pull_request', 'requested_reviewers']],
      ['pull_request', ['pull_request', 'requested_reviewers_teams']],
      ['pull_request_review_approved', ['pull_request', 'labels']],
      ['release', ['release', 'assets']],
      ['push', ['commits']],
      ['push', ['head_commit', 'added']],
      ['push', ['repository', 'topics']],
      ['workflow_job', ['workflow_job', 'labels']],
      ['workflow_job', ['workflow_job', 'steps']],
    ];
    const bodyWith = (eventType: string, [key = '', ...rest]: readonly string[], value: Json): JsonObject => {
      const put = (holder: JsonObject, name: string, below: readonly string[]): JsonObject => ({
        ...holder,
        [name]: below.length === 0 ? value : put((holder[name] ?? {}) as JsonObject, below[0] ?? '', below.slice(1)),
      });
      return put(sampleBody(eventType), key, rest);
    };
    const valueIn = (fact: EventFact, [key = '', ...rest]: readonly string[]): unknown => {
      const start = key === 'repository' ? fact.repo : fact.data[key === 'workflow_job' ? 'task' : key];
      return rest.reduce<unknown>((at, name) => (at as JsonObject | undefined)?.[name], start);
    };

    it.each(LISTS)('of %s at %p: null is the empty list, a null entry is skipped and counted', (eventType, path) => {
      const of = (value: Json): EventFact => read(eventType, bodyWith(eventType, path, value));

      expect(valueIn(of(null), path)).toEqual([]);
      expect(of(null).skippedEntries).toBeUndefined();
      expect(valueIn(of([null]), path)).toEqual([]);
      expect(of([null, null]).skippedEntries).toBe(2);
    });

    it('leaves out what the body leaves out: a missing list is unknown', () => {
      const { labels: _, ...issue } = sampleBody('issues').issue as JsonObject;

      expect(read('issues', { ...sampleBody('issues'), issue }).data['issue']).not.toHaveProperty('labels');
    });
  });

  it.each([
    ['issue_label', 'issue'],
    ['pull_request_label', 'pull_request'],
  ])('knows that no label is left when all were taken off, whatever %s shows', (eventType, subject) => {
    const body = sampleBody(eventType);
    const shown = { ...(body[subject] as JsonObject), labels: [{ id: 1, name: 'gone' }] };

    const { data } = read(eventType, { ...body, action: 'label_cleared', [subject]: shown });

    expect((data[subject] as JsonObject).labels).toEqual([]);
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
  ])('does not know what %s tells', (_title, eventType, body) => {
    expect(normalizeDelivery({ org: 'acme', eventType, text: stringifyJson(body) })).toMatchObject({
      code: 'unknown_kind',
    });
  });

  it.each([
    ['text that is no JSON', '{'],
    ['a list', '[]'],
    ['a body without its object', '{"action":"opened"}'],
  ])('answers %s with a reason', (_title, text) => {
    expect(normalizeDelivery({ org: 'acme', eventType: 'issues', text })).toBeInstanceOf(Misfit);
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

describe('events/read-delivery', () => {
  const PUSH = JSON.stringify(sampleBody('push'));
  const bytesOf = (body: string | Buffer): Buffer => (typeof body === 'string' ? Buffer.from(body) : body);

  it('reads a body and a form', () => {
    const form = Buffer.from(`payload=${encodeURIComponent(PUSH)}`);

    expect(readDelivery(aDelivery({ text: PUSH }))).toMatchObject({ eventType: 'push', fact: { kind: 'push' } });
    expect(readDelivery(aDelivery({ contentType: 'form', text: PUSH, body: form }))).toMatchObject({
      fact: { kind: 'push' },
    });
  });

  it.each<[string, string | Buffer, string]>([
    ['malformed JSON', '{"a":', 'not_json'],
    ['nothing', '', 'not_json'],
    ['a text', '"acme"', 'not_json'],
    ['a list', '[]', 'not_json'],
    ['null', 'null', 'not_json'],
    ['text after the JSON', `${PUSH}{}`, 'not_json'],
    ['a byte order mark', `\uFEFF${PUSH}`, 'not_json'],
    ['a NUL', PUSH.replace('main', '\u0000'), 'not_json'],
    ['a string without end', '{"a":"', 'unended_text'],
    ['an endless number', `{"a":${'9'.repeat(300)}}`, 'endless_number'],
    ['broken UTF-8', Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xc0]), Buffer.from('"}')]), 'not_utf8'],
    ['a body nested too deep', `${'['.repeat(100)}${']'.repeat(100)}`, 'too_deep'],
    ['too many values', `[${'0,'.repeat(100_001)}0]`, 'too_many_values'],
    ['a __proto__ key', PUSH.replace('{', '{"__proto__":{"polluted":1},'), 'key_proto'],
    [
      'a __proto__ key beside a long number',
      PUSH.replace('{', '{"__proto__":1,"n":12345678901234567890,'),
      'key_proto',
    ],
    ['a key twice', PUSH.replace('{', '{"ref":"refs/heads/x",'), 'key_twice'],
    ['a key twice, once escaped', PUSH.replace('{', '{"re\\u0066":"refs/heads/x",'), 'key_twice'],
    ['no organization', '{"ref":"refs/heads/main"}', 'misfit'],
    ['a body that is no push', JSON.stringify({ repository: REPOSITORY }), 'misfit'],
    ['a body of another event', JSON.stringify(sampleBody('issues')), 'misfit'],
  ])('%s => set aside, with its code', (_title, body, code) => {
    const { text } = readText('json', bytesOf(body));

    expect(readDelivery(aDelivery({ body: bytesOf(body), text }))).toMatchObject({ code });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it.each([
    ['a form without a payload', 'a=1', 'no_payload'],
    ['a form with two', 'payload=%7B%7D&payload=%7B%7D', 'no_payload'],
    ['a form whose payload is not UTF-8', 'payload=%ff', 'not_utf8'],
  ])('%s => set aside, with its code', (_title, body, code) => {
    expect(readDelivery(aDelivery({ contentType: 'form', body: Buffer.from(body), text: '' }))).toMatchObject({ code });
  });

  it('asks for the name of the event, in a header of whatever family', () => {
    expect(readDelivery(aDelivery({ eventType: '', event: '', text: PUSH }))).toMatchObject({ code: 'no_event_type' });
    expect(readDelivery(aDelivery({ eventType: '', event: 'push', text: PUSH }))).toMatchObject({ eventType: 'push' });
  });

  it('routes on the precise name, whatever the family name says', () => {
    const headers = { eventType: 'pull_request_comment', event: 'issue_comment' };

    expect(eventTypeFor(headers, { action: 'reviewed' })).toBe('pull_request_comment');
  });

  it.each([
    ['push', {}, 'push'],
    ['issues', { action: 'opened' }, 'issues'],
    ['issues', { action: 'assigned' }, 'issue_assign'],
    ['issues', { action: 'label_cleared' }, 'issue_label'],
    ['issues', { action: 'demilestoned' }, 'issue_milestone'],
    ['pull_request', { action: 'closed' }, 'pull_request'],
    ['pull_request', { action: 'synchronized' }, 'pull_request_sync'],
    ['pull_request', { action: 'review_requested' }, 'pull_request_review_request'],
    ['issue_comment', { is_pull: false }, 'issue_comment'],
    ['issue_comment', { is_pull: true }, 'pull_request_comment'],
    ['pull_request_approved', {}, 'pull_request_review_approved'],
    ['pull_request_rejected', {}, 'pull_request_review_rejected'],
    ['pull_request_comment', {}, 'pull_request_review_comment'],
  ])('without a precise name, the family %s with %j => %s', (event, body, expected) => {
    expect(eventTypeFor({ eventType: '', event }, body)).toBe(expected);
  });
});
