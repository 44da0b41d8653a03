import { beforeEach, describe, expect, it } from '@jest/globals';
import { anEvent } from '../../../test/builders/arrivals.js';
import type { EventKind } from '../../core/event-kinds.js';
import { EVENT_TYPES } from '../../core/event-types.js';
import type { ForgeEvent } from '../../core/event.js';
import type { JsonObject } from '../../core/json.js';
import { ForgeError } from '../../core/errors.js';
import type { ForgeClient } from '../../forge/forge-client.js';
import type { ForgeAccess } from '../execute/forge-access.js';
import { ActContext, type ReadRow } from './act-context.js';
import { findAct, type ActFound } from './act-reads.js';

const ANN = { id: '3', login: 'ann' };
const EVE = { id: '66', login: 'eve' };
const AT = '2026-11-20T12:00:00Z';
const HOUR_BEFORE = '2026-11-20T11:00:00.000Z';
const TOO_LONG_BEFORE = '2026-11-20T10:59:59Z';
const REPO = { owner: 'acme', repo: 'app' };

type Answers = Partial<Record<keyof ForgeClient, (ask: JsonObject) => Promise<unknown>>>;

describe('pipeline/decide/act-reads', () => {
  let asked: Array<[string, JsonObject]>;
  let readRow: ReadRow;

  beforeEach(() => {
    asked = [];
    readRow = () => [];
  });

  /** What the first read says that this forge can make. */
  async function read(kind: EventKind, data: JsonObject, answers: Answers): Promise<ActFound> {
    const event: ForgeEvent = anEvent({
      kind,
      factKey: 'fact',
      factAt: new Date(AT),
      storedAt: new Date(AT),
      actor: ANN,
      data,
    });
    const client = new Proxy({} as ForgeClient, {
      get: (_, name) => {
        const answer = answers[name as keyof ForgeClient];
        return answer && ((ask: JsonObject) => (asked.push([String(name), ask]), answer(ask)));
      },
    });
    const access = { client, offers: (name: string) => name in answers } as unknown as ForgeAccess;
    const repo = { id: '7', owner: 'acme', name: 'app', full_name: 'acme/app' };
    const none = { toldActs: async () => new Map(), earlier: async () => [] };
    return findAct(new ActContext({ access, event, actor: ANN, repo, readRow, ...none }));
  }

  /** A list of one page. */
  const list =
    (items: readonly object[]) =>
    async ({ page }: JsonObject): Promise<object[]> =>
      page === 1 ? items.map((item, n) => ({ id: String(n), ...item })) : [];

  const told = (proof: ActFound): string =>
    proof.proven ? proof.by : proof.code === 'act.unreadable' ? 'nobody' : `${proof.code}: ${proof.reason}`;

  const missing = async (): Promise<never> => {
    throw new ForgeError('refused', 'not found', { operation: 'getIssue', status: 404 });
  };

  describe('of the history of an issue', () => {
    it.each<[EventKind, readonly string[], object?]>([
      ['issue.closed', ['close']],
      ['issue.reopened', ['reopen']],
      ['issue.edited', ['change_title']],
      ['issue.assigned', ['assignees']],
      ['issue.unassigned', ['assignees'], { removed_assignee: true }],
      ['issue.labeled', ['label']],
      ['issue.labels_cleared', ['label']],
      ['issue.milestoned', ['milestone'], { milestone: { title: '1.0' } }],
      ['issue.demilestoned', ['milestone']],
      ['pull_request.closed', ['close']],
      ['pull_request.reopened', ['reopen']],
      ['pull_request.edited', ['change_title', 'change_target_branch']],
      ['pull_request.ready_for_review', ['change_title']],
      ['pull_request.synchronized', ['pull_push']],
      ['pull_request.assigned', ['assignees']],
      ['pull_request.unassigned', ['assignees'], { removed_assignee: true }],
      ['pull_request.labeled', ['label']],
      ['pull_request.labels_cleared', ['label']],
      ['pull_request.milestoned', ['milestone'], { milestone: { title: '1.0' } }],
      ['pull_request.demilestoned', ['milestone']],
      ['pull_request.review_requested', ['review_request']],
      ['pull_request.review_request_removed', ['review_request'], { removed_assignee: true }],
    ])('%s stands there as %j', async (kind, types, over = {}) => {
      for (const type of types) {
        const entries = [
          { type: 'comment', user: EVE, created_at: AT },
          { type, user: ANN, created_at: AT, ...over },
        ];
        const data = { number: '4', changes: { title: { from: 'a' }, ref: { from: 'b' } } };
        expect(told(await read(kind, data, { listTimeline: list(entries) }))).toBe('timeline');
      }
      const others = [
        { type: 'something else', user: ANN, created_at: AT },
        { user: ANN, created_at: AT },
      ];
      const none = { number: '4', changes: { title: { from: 'a' } } };
      expect(told(await read(kind, none, { listTimeline: list(others) }))).toBe(
        'act.not_found: the history of #4 has no such act',
      );
    });

    it.each<[EventKind, JsonObject | null, object, string]>([
      ['issue.edited', { body: { from: 'a' } }, { type: 'change_title' }, 'nobody'],
      ['issue.edited', null, { type: 'change_title' }, 'nobody'],
      ['issue.edited', { title: { from: 'a' }, body: { from: 'a' } }, { type: 'change_title' }, 'timeline'],
      [
        ...(['pull_request.edited', { ref: { from: 'a' } }, { type: 'change_title' }] as const),
        'act.not_found: the history of #4 has no such act',
      ],
      [
        ...(['pull_request.edited', { title: { from: 'a' } }, { type: 'change_target_branch' }] as const),
        'act.not_found: the history of #4 has no such act',
      ],
    ])('%s of %j is shown by an entry about what was edited alone: %j', async (kind, changes, entry, expected) => {
      const entries = [{ ...entry, user: ANN, created_at: AT }];
      const data = { number: '4', ...(changes ? { changes } : {}) };

      expect(told(await read(kind, data, { listTimeline: list(entries) }))).toBe(expected);
    });

    it('a push to a pull request is not shown by its opening', async () => {
      const pushed = { type: 'pull_push', user: ANN, created_at: AT };
      const opened = async (created_at: string): Promise<string> =>
        told(
          await read(
            'pull_request.synchronized',
            { number: '4' },
            {
              listTimeline: list([pushed]),
              getIssue: async () => ({ created_at, pull_request: {} }),
            },
          ),
        );

      expect(await opened(AT)).toBe('act.not_found: the history of #4 has no such act');
      expect(await opened(HOUR_BEFORE)).toBe('timeline');
    });

    it.each<[EventKind, object]>([
      ['issue.assigned', { type: 'assignees', removed_assignee: true }],
      ['issue.unassigned', { type: 'assignees' }],
      ['issue.milestoned', { type: 'milestone', milestone: null }],
      ['issue.demilestoned', { type: 'milestone', milestone: { title: '1.0' } }],
      ['issue.labels_cleared', { type: 'label', body: '1' }],
      ['pull_request.review_requested', { type: 'review_request', removed_assignee: true }],
      ['pull_request.review_request_removed', { type: 'review_request' }],
    ])('%s is not shown by its opposite', async (kind, entry) => {
      const entries = [{ ...entry, user: ANN, created_at: AT }];

      expect(told(await read(kind, { number: '4' }, { listTimeline: list(entries) }))).toBe(
        'act.not_found: the history of #4 has no such act',
      );
    });

    it('asks for the hour before, and believes nobody else, nothing older, and no other number', async () => {
      const closed = (user: object, created_at: string | null) => ({ type: 'close', user, created_at });
      const judge = async (...entries: object[]): Promise<string> =>
        told(await read('issue.closed', { number: '4' }, { listTimeline: list(entries) }));

      expect(await judge(closed(ANN, HOUR_BEFORE))).toBe('timeline');
      expect(asked[0]).toEqual(['listTimeline', expect.objectContaining({ ...REPO, index: '4', since: HOUR_BEFORE })]);
      expect(await judge(closed(ANN, TOO_LONG_BEFORE))).toBe('act.not_found: the history of #4 has no such act');
      expect(await judge(closed(ANN, null))).toBe('act.not_found: the history of #4 has no such act');
      expect(await judge(closed({ id: '9', login: 'bob' }, AT), closed(EVE, AT))).toBe(
        'act.other_author: the delivery names ann, and the forge names eve for the history of #4',
      );
      expect(await judge(closed({ ...ANN, id: '4' }, AT))).toContain('act.other_author');
      expect(await judge(closed({ ...ANN, login: 'anna' }, AT))).toContain('act.other_author');
      expect(told(await read('issue.closed', { number: '4' }, { listTimeline: missing }))).toContain('act.not_found');
    });
  });

  describe('of a comment', () => {
    const said: JsonObject = { number: '4', comment: { id: '11', body: '/close' } };
    const comment = (over: object = {}): Answers => ({
      getComment: async () => ({
        id: '11',
        body: '/close',
        user: ANN,
        created_at: AT,
        updated_at: AT,
        issue_url: 'https://forge.test/acme/app/issues/4',
        ...over,
      }),
    });

    it.each<[string, Answers, string]>([
      ['as it is', comment(), 'comment'],
      [
        'of a pull request',
        comment({ issue_url: '', pull_request_url: 'https://forge.test/acme/app/pulls/4' }),
        'comment',
      ],
      ['that is gone', { getComment: missing }, 'act.not_found: the forge holds no comment 11 on #4'],
      ['of another issue', comment({ issue_url: '/issues/14' }), 'act.not_found: the forge holds no comment 11 on #4'],
      [
        'of somebody else',
        comment({ user: EVE }),
        'act.other_author: the delivery names ann, and the forge names eve for comment 11',
      ],
      [
        'of nobody',
        comment({ user: null }),
        'act.other_author: the delivery names ann, and the forge names somebody else for comment 11',
      ],
      ['with other words', comment({ body: '/merge' }), 'act.other_text: comment 11 has other words than the delivery'],
      ['that was edited', comment({ updated_at: '2026-11-20T12:00:01Z' }), 'act.other_text: comment 11 was edited'],
      ['without times', comment({ created_at: null, updated_at: null }), 'act.other_text: comment 11 was edited'],
      [
        'of another time',
        comment({ created_at: HOUR_BEFORE, updated_at: HOUR_BEFORE }),
        'act.not_found: the forge shows another time than the delivery',
      ],
    ])('%s', async (_what, answers, expected) => {
      expect(told(await read('comment.created', said, answers))).toBe(expected);
      expect(asked[0]).toEqual(['getComment', { ...REPO, id: '11' }]);
    });
  });

  it.each<EventKind>(['issue.opened', 'pull_request.opened'])('of who opened: %s', async (kind) => {
    const isPull = kind.startsWith('pull_request.');
    const opened = (user: object | null, pull_request = isPull ? {} : null): Answers => ({
      getIssue: async () => ({ user, created_at: AT, pull_request }),
    });

    expect(told(await read(kind, { number: 4n as never }, opened(ANN)))).toBe('issue');
    expect(asked[0]).toEqual(['getIssue', { ...REPO, index: '4' }]);
    expect(told(await read(kind, { number: '4' }, opened(EVE)))).toBe(
      'act.other_author: the delivery names ann, and the forge names eve for #4',
    );
    expect(told(await read(kind, { number: '4' }, { getIssue: missing }))).toBe('act.not_found: there is no #4');
    expect(told(await read(kind, { number: '4' }, opened(ANN, isPull ? null : {})))).toBe(
      `act.not_found: #4 is ${isPull ? 'an issue' : 'a pull request'}`,
    );
    expect(told(await read(kind, { number: '4' }, {}))).toBe('nobody');
  });

  it('of who merged', async () => {
    const pull = (over: object): Answers => ({
      getPull: async () => ({ merged: true, merged_by: ANN, merged_at: AT, ...over }),
    });
    const judge = async (answers: Answers): Promise<string> =>
      told(await read('pull_request.merged', { number: '4' }, answers));

    expect(await judge(pull({}))).toBe('pull_request');
    expect(asked[0]).toEqual(['getPull', { ...REPO, index: '4' }]);
    expect(await judge(pull({ merged: false }))).toBe('act.not_found: #4 is not merged');
    expect(await judge({ getPull: missing })).toBe('act.not_found: #4 is not merged');
    expect(await judge(pull({ merged_by: EVE }))).toBe(
      'act.other_author: the delivery names ann, and the forge names eve for the merge of #4',
    );
    expect(await judge({})).toBe('nobody');
  });

  it.each<[EventKind, string]>([
    ['review.approved', 'APPROVED'],
    ['review.rejected', 'REQUEST_CHANGES'],
    ['review.commented', 'COMMENT'],
  ])('of a review: %s is %s', async (kind, state) => {
    const mine = { state, user: ANN, body: 'fine', submitted_at: AT };
    const judge = async (...all: object[]): Promise<string> =>
      told(await read(kind, { number: '4', review: { body: 'fine' } }, { listReviews: list(all) }));

    expect(await judge({ ...mine, user: EVE }, mine)).toBe('review');
    expect(asked[0]).toEqual(['listReviews', expect.objectContaining({ ...REPO, index: '4' })]);
    expect(await judge({ ...mine, body: 'no' })).toBe(
      'act.other_text: the review of #4 has other words than the delivery',
    );
    expect(await judge({ ...mine, user: EVE })).toBe(
      'act.other_author: the delivery names ann, and the forge names eve for the review of #4',
    );
    const none = 'act.not_found: the forge holds no such review of #4';
    expect(await judge({ ...mine, state: 'PENDING' })).toBe(none);
    expect(await judge({ ...mine, dismissed: true })).toBe(none);
    expect(await judge({ ...mine, submitted_at: TOO_LONG_BEFORE })).toBe(none);
    expect(told(await read(kind, { number: '4' }, { listReviews: list([{ ...mine, body: null }]) }))).toBe('review');
    expect(told(await read(kind, { number: '4' }, { listReviews: missing }))).toBe(none);
    expect(told(await read(kind, { number: '4' }, {}))).not.toContain('review');
  });

  it('of a review that its author replaced by another one: a rejection counts, an approval while the other is one in force', async () => {
    const review = (id: string, state: string, dismissed: boolean, user = ANN): object => ({
      ...{ id, state, dismissed, user, body: 'fine', submitted_at: AT },
    });
    const judge = async (kind: EventKind, ...all: object[]): Promise<string> =>
      told(await read(kind, { number: '4', review: { body: 'fine' } }, { listReviews: list(all) }));
    const none = 'act.not_found: the forge holds no such review of #4';

    const rejected = review('9', 'REQUEST_CHANGES', true);
    expect(await judge('review.rejected', rejected, review('10', 'APPROVED', false))).toBe('review');
    expect(await judge('review.rejected', rejected, review('10', 'APPROVED', true))).toBe('review');
    expect(await judge('review.rejected', rejected, review('10', 'COMMENT', false))).toBe(none);
    expect(await judge('review.rejected', rejected, review('8', 'APPROVED', true))).toBe(none);
    expect(await judge('review.rejected', rejected, review('10', 'APPROVED', false, EVE))).toBe(none);

    const approved = review('9', 'APPROVED', true);
    expect(await judge('review.approved', approved, review('10', 'APPROVED', false))).toBe('review');
    expect(await judge('review.approved', approved, review('10', 'REQUEST_CHANGES', false))).toBe(none);
    expect(await judge('review.approved', approved, review('10', 'APPROVED', true))).toBe(none);
  });

  it('of a status', async () => {
    const mine = { context: 'ci', status: 'success', creator: ANN, created_at: AT };
    const data: JsonObject = { sha: 'abc', status: { context: 'ci', state: 'success' } };
    const judge = async (...all: object[]): Promise<string> =>
      told(await read('status.set', data, { listStatuses: list(all) }));

    expect(await judge({ ...mine, creator: EVE }, mine)).toBe('status');
    expect(asked[0]).toEqual(['listStatuses', expect.objectContaining({ ...REPO, ref: 'abc' })]);
    expect(await read('status.set', data, { listStatuses: list([{ ...mine, creator: null }]) })).toEqual({
      proven: true,
      by: 'status',
      actor: null,
      at: AT,
      acts: ['status 0'],
    });
    expect(await judge({ ...mine, creator: EVE })).toBe(
      'act.other_author: the delivery names ann, and the forge names eve for the status',
    );
    const none = 'act.not_found: the forge holds no such status';
    expect(await judge({ ...mine, context: 'lint' })).toBe(none);
    expect(await judge({ ...mine, status: 'failure' })).toBe(none);
    expect(await judge({ ...mine, created_at: TOO_LONG_BEFORE })).toBe(none);
    expect(told(await read('status.set', data, { listStatuses: missing }))).toBe(none);
    expect(told(await read('status.set', data, {}))).toBe('nobody');
  });

  describe.each<EventKind>([
    'workflow.requested',
    'workflow.started',
    'workflow.finished',
    'workflow.recovered',
    'task.queued',
    'task.waiting',
    'task.started',
    'task.finished',
  ])('of a run or a job: %s', (kind) => {
    const byRun = (over: object): Answers => ({ getRun: async () => ({ status: 'completed', ...over }) });
    const judge = async (answers: Answers, data: JsonObject = { run: { id: '8' } }): Promise<string> =>
      told(await read(kind, data, answers));

    it('the run tells who', async () => {
      expect(await judge(byRun({ trigger_actor: ANN, actor: EVE }))).toBe('run');
      expect(await judge(byRun({ actor: ANN }), { task: { run_id: '8' } })).toBe('run');
      expect(asked).toEqual([
        ['getRun', { ...REPO, run: '8' }],
        ['getRun', { ...REPO, run: '8' }],
      ]);
      expect(await judge(byRun({ trigger_actor: EVE, actor: null }))).toBe(
        'act.other_author: the delivery names ann, and the forge names eve for run 8',
      );
      expect(await read(kind, { run: { id: '8' } }, byRun({}))).toEqual({
        proven: true,
        by: 'run',
        actor: null,
        at: null,
        acts: [expect.stringContaining(`${kind} 8`)],
      });
      expect(await judge({ getRun: missing })).toBe('act.not_found: there is no run 8');
    });

    it('the list of jobs tells that there was one', async () => {
      const jobs = (head_sha: string): Answers => ({
        listActionTasks: async () => ({
          workflow_runs: [
            { id: '11', head_sha: 'other' },
            { id: '12', head_sha },
          ],
        }),
      });
      expect(await read(kind, { sha: 'abc' }, { ...byRun({ actor: ANN }), ...jobs('abc') })).toEqual({
        proven: true,
        by: 'task',
        actor: null,
        at: null,
        acts: [`${kind} 12`],
      });
      expect(asked).toEqual([['listActionTasks', { ...REPO, limit: 50 }]]);
      expect(await judge(jobs('abd'), { sha: 'abc' })).toBe('act.not_found: the forge lists no job of this commit');
      expect(await judge({ listActionTasks: missing }, { sha: 'abc' })).toContain('act.not_found');
      expect(await judge({}, { sha: 'abc' })).toBe('nobody');
    });
  });

  describe('of the feed', () => {
    const row = (over: object = {}): object => ({ created: AT, kind: 'push', who: ANN, ...over });
    const ofFeed = (...pages: ReadonlyArray<readonly object[]>): Answers => ({
      listOrgFeed: async ({ page }) => pages[Number(page) - 1] ?? [],
    });
    const full = (over: object = {}): object[] =>
      Array.from({ length: 50 }, () => row({ kind: 'tag.created', ...over }));

    beforeEach(() => {
      readRow = (one) => {
        const {
          kind,
          who,
          key = 'fact',
          body,
        } = one as {
          kind: EventKind;
          who: typeof ANN;
          key?: string;
          body?: string;
        };
        return [
          { kind, factKey: key, factAt: null, actor: who, data: body === undefined ? {} : { comment: { body } } },
        ];
      };
    });

    it('finds the same act of the same person, near its time', async () => {
      const judge = async (...rows: object[]): Promise<string> => told(await read('push', {}, ofFeed(rows)));

      expect(await judge(row({ who: EVE }), row())).toBe('feed');
      expect(asked).toEqual([['listOrgFeed', { org: 'acme', page: 1, limit: 50 }]]);
      const none = 'act.not_found: the feed has no such act';
      expect(await judge(row({ kind: 'tag.created' }))).toBe(none);
      expect(await judge(row({ key: 'another' }))).toBe(none);
      expect(await judge(row({ created: TOO_LONG_BEFORE }))).toBe(none);
      expect(await judge(row({ who: EVE }), row({ who: { id: '9', login: 'bob' } }))).toBe(
        'act.other_author: the delivery names ann, and the forge names eve for the feed',
      );
      expect(told(await read('push', {}, { listOrgFeed: missing }))).toBe(none);
      expect(told(await read('push', {}, {}))).toBe('nobody');
    });

    it('reads on while pages are full and near, four at most', async () => {
      expect(told(await read('push', {}, ofFeed(full(), full(), full(), [row()])))).toBe('feed');
      expect(asked.map(([, { page }]) => page)).toEqual([1, 2, 3, 4]);

      asked = [];
      expect(told(await read('push', {}, ofFeed(full(), full(), full(), full(), [row()])))).toContain('act.not_found');
      expect(asked).toHaveLength(4);

      asked = [];
      await read('push', {}, ofFeed(full({ created: TOO_LONG_BEFORE }), [row()]));
      expect(asked).toHaveLength(1);
    });

    it('compares the words of a comment', async () => {
      const judge = async (body: string): Promise<string> =>
        told(
          await read(
            'comment.created',
            { comment: { body: '/close' } },
            ofFeed([row({ kind: 'comment.created', body })]),
          ),
        );

      expect(await judge('/close')).toBe('feed');
      expect(await judge('/merge')).toBe('act.other_text: the feed has another text than the delivery');
    });
  });

  it('has no read for what no forge tells', async () => {
    for (const kind of ['comment.edited', 'wiki.edited', 'release.updated', 'package.created'] as const)
      expect(told(await read(kind, {}, { listOrgFeed: list([]), listTimeline: list([]) }))).toBe('nobody');
    const inFeed = [...EVENT_TYPES].filter(([, { feed }]) => feed.length > 0).map(([kind]) => kind);
    for (const kind of inFeed)
      expect([kind, told(await read(kind, {}, { listOrgFeed: async () => [] }))]).not.toContain('nobody');
  });

  it.each<[EventKind, string]>([
    ['workflow.finished', 'act.not_found: run 8 is not over'],
    ['workflow.recovered', 'act.not_found: run 8 is not over'],
    ['workflow.started', 'run'],
  ])('%s of a run that runs still: %s', async (kind, expected) => {
    const running = { getRun: async () => ({ status: 'in_progress', actor: ANN }) };

    expect(told(await read(kind, { run: { id: '8' } }, running))).toBe(expected);
  });
});
