import { describe, expect, it } from '@jest/globals';
import { EffectRig } from '../../../test/builders/effect-rig.js';
import { anEvent } from '../../../test/builders/arrivals.js';
import { ForgeError } from '../../core/errors.js';
import type { EventKind } from '../../core/event-kinds.js';
import type { JsonObject } from '../../core/json.js';
import type { Issue } from '../../core/objects/tracker.js';
import type { Doubt } from '../recovery-store.port.js';
import { claimOf } from './objections.js';
import type { LiveDifference } from '../../core/run-reasons.js';

const issue = (over: JsonObject = {}): JsonObject => ({
  number: '3',
  issue: { labels: [{ name: 'bug' }], assignees: [{ login: 'ann' }], milestone: null, ...over },
});

describe('pipeline/execute/live-state', () => {
  it.each<[EventKind, JsonObject, Partial<Issue>, LiveDifference | null]>([
    ['issue.closed', issue(), { state: 'closed' }, null],
    ['issue.closed', issue(), { state: 'open' }, { what: 'state', value: 'open' }],
    ['issue.reopened', issue(), { state: 'closed' }, { what: 'state', value: 'closed' }],
    ['pull_request.opened', { number: '3', pull_request: {} }, { state: 'open' }, null],
    [
      'pull_request.merged',
      { number: '3', pull_request: {} },
      { pull_request: { merged: false } },
      { what: 'merged', value: false },
    ],
    ['issue.labeled', issue(), { labels: [{ name: 'bug' }] }, null],
    ['issue.labeled', issue(), { labels: [] }, { what: 'labels', value: [] }],
    ['issue.labels_cleared', issue({ labels: [] }), { labels: [{ name: 'bug' }] }, { what: 'labels', value: ['bug'] }],
    ['issue.assigned', issue(), { assignees: [{ login: 'ben' }] }, { what: 'assignees', value: ['ben'] }],
    ['issue.milestoned', issue({ milestone: { title: '1.5' } }), { milestone: { title: '1.5' } }, null],
    ['issue.demilestoned', issue(), { milestone: { title: '1.5' } }, { what: 'milestone', value: ['1.5'] }],
  ])('compares what %s told with the object of now', (kind, data, live, expected) => {
    expect(claimOf({ kind, data })?.differs(live as Issue)).toEqual(expected);
  });

  it.each<EventKind>(['push', 'comment.created', 'issue.edited', 'release.published', 'task.finished'])(
    'finds nothing to compare in %s',
    (kind) => {
      expect(claimOf({ kind, data: issue() })).toBeNull();
    },
  );

  it.each<[Doubt['because'], string, string]>([
    ['out-of-order', 'open', 'cancelled'],
    ['told-again', 'open', 'cancelled'],
    ['told-again', 'closed', 'done'],
  ])('makes a step whose event was %s read the object first: it is %s => %s', async (because, state, end) => {
    const rig = new EffectRig();
    const reads: unknown[] = [];
    rig.forge.answer('getIssue', async (args) => (reads.push(args), { state }));
    const id = await rig.plan('label.ensure', { name: 'done', color: '#00ff00' });
    const event = anEvent({ kind: 'issue.closed', data: issue() });
    rig.journal.doubts.set((await rig.journal.intent(id))?.runId ?? '', { event, because });

    await rig.work(id);

    expect(reads).toEqual([{ owner: 'acme', repo: 'app', index: '3' }]);
    expect(await rig.journal.intent(id)).toMatchObject({
      state: end,
      ...(end === 'cancelled'
        ? { reason: { code: 'intent.contradicted', params: { kind: 'issue.closed', number: '3', doubt: because } } }
        : {}),
    });
    expect(rig.written).toHaveLength(end === 'done' ? 1 : 0);
  });

  it('goes on where the object cannot be seen', async () => {
    const rig = new EffectRig();
    rig.forge.answer('getIssue', async () =>
      Promise.reject(new ForgeError('refused', 'no', { operation: 'getIssue', status: 404 })),
    );
    const id = await rig.plan('label.ensure', { name: 'done', color: '#00ff00' });
    rig.journal.doubts.set((await rig.journal.intent(id))?.runId ?? '', {
      event: anEvent({ kind: 'issue.closed', data: issue() }),
      because: 'told-again',
    });

    await rig.work(id);

    expect(await rig.journal.intent(id)).toMatchObject({ state: 'done' });
  });

  it('reads nothing more for a step whose event nobody doubts', async () => {
    const rig = new EffectRig();
    rig.forge.answer('getIssue', async () => Promise.reject(new Error('nobody asked for it')));

    expect((await rig.want('label.ensure', { name: 'done', color: '#00ff00' })).state).toBe('done');
  });
});
