import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../core/json.js';
import { ManualClock } from '../../../test/fakes/manual-clock.js';
import type { Forges } from '../execute/forge-access.js';
import { ObjectEvents } from './object-events.js';

const ann = { id: '3', login: 'ann' };

/** @param comments of #12, whose last change is of 2026-07-30, oldest first */
function aRig(comments: ReadonlyArray<{ id: string; created_at: string; updated_at: string }>) {
  const since: string[] = [];
  const access = {
    offers: () => true,
    client: {
      getRepo: async () => ({ id: '7', name: 'app' }),
      getIssue: async () => ({ id: '20', number: 12, title: 'Slow', user: ann, updated_at: '2026-07-30T12:00:00Z' }),
      listComments: async (asked: { since: string }) => {
        since.push(asked.since);
        return comments.filter((one) => one.updated_at >= asked.since).map((one) => ({ ...one, body: '', user: ann }));
      },
    },
  };
  const events = new ObjectEvents(
    { get: () => access } as unknown as Forges,
    { of: async () => ({ is: 'ours', repository: {} }) as never },
    new ManualClock(),
  );
  const at = { forge: 'main', org: 'acme', repo: 'app', number: 12 };
  return { since, make: () => events.make(at, 'comment.created') };
}

describe('pipeline/decide/object-events', () => {
  it('reads the comments of the last day before the last change first, and of a year at most', async () => {
    const near = { id: '1', created_at: '2026-07-30T11:00:00Z', updated_at: '2026-07-30T11:00:00Z' };
    const newest = { ...near, id: '2', created_at: '2026-07-30T11:30:00Z', updated_at: '2026-07-30T11:30:00Z' };
    const rig = aRig([near, newest]);

    expect(((await rig.make()).event.data['comment'] as JsonObject)['id']).toBe('2');
    expect(rig.since).toEqual(['2026-07-29T12:00:00.000Z']);

    const old = aRig([{ id: '1', created_at: '2020-01-01T00:00:00Z', updated_at: '2020-01-01T00:00:00Z' }]);
    await expect(old.make()).rejects.toThrow('it has no comment within a year of its last change');
    expect(old.since).toHaveLength(3);
  });

  it('takes no older one for the newest because it was edited', async () => {
    const edited = { id: '1', created_at: '2026-01-01T00:00:00Z', updated_at: '2026-07-30T11:00:00Z' };
    const newest = { id: '2', created_at: '2026-07-10T00:00:00Z', updated_at: '2026-07-10T00:00:00Z' };

    expect(((await aRig([edited, newest]).make()).event.data['comment'] as JsonObject)['id']).toBe('2');
  });
});
