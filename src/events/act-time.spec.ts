import { describe, expect, it } from '@jest/globals';
import { sampleBody } from '../../test/builders/sample-bodies.js';
import { jsonTextOf, readActFolders } from '../../test/recordings-tool/act-file.js';
import { EVENT_KINDS, type EventKind } from '../core/event-kinds.js';
import { ACT_TIMES, actTimeOf } from './act-time.js';
import { normalizeDelivery } from '../../test/builders/normalize-delivery.js';

interface Told {
  readonly server: string;
  readonly act: string;
  readonly kind: EventKind;
  readonly at: Date | null;
  /** When the feed's rows of the same act were made. */
  readonly rowsAt: readonly Date[];
}

/** What every recorded delivery tells, in the order of the acts. */
function recorded(): Told[] {
  return readActFolders('test/recordings').flatMap(({ folder, acts }) =>
    acts.flatMap(({ n, org, title, deliveries, feed }) =>
      deliveries.flatMap((delivery): Told[] => {
        const fact = normalizeDelivery({
          org,
          eventType: delivery.event_type,
          text: jsonTextOf(delivery),
        });
        const rowsAt = (feed ?? []).map(({ created }) => new Date(String(created)));
        return 'kind' in fact
          ? [{ server: folder, act: `${n} ${title}`, kind: fact.kind, at: actTimeOf(fact), rowsAt }]
          : [];
      }),
    ),
  );
}

describe('events/act-time', () => {
  const told = recorded();

  it('decides about every kind of event', () => {
    expect(Object.keys(ACT_TIMES).sort()).toEqual([...EVENT_KINDS].sort());
  });

  it('takes no time of creation or publication, which may be older than the act, and none of a commit', () => {
    const taken = Object.values(ACT_TIMES).flatMap((place) => (place ? [place[1]] : []));

    expect([...new Set(taken)].sort()).toEqual(['closed_at', 'completed_at', 'merged_at', 'started_at', 'updated_at']);
  });

  it('finds the time in every recorded delivery of a kind that has one', () => {
    expect(told.filter(({ kind, at }) => ACT_TIMES[kind] !== null && at === null)).toEqual([]);
    expect(new Set(told.flatMap(({ kind, at }) => (at ? [kind] : []))).size).toBeGreaterThan(20);
  });

  it('is the time of the recorded act: that of its row in the feed, and later than that of every act before', () => {
    const latest = new Map<string, { act: string; at: Date }>();
    const stale: Told[] = [];
    let rows = 0;
    for (const one of told) {
      const { at, server, act, rowsAt } = one;
      if (!at) continue;
      const before = latest.get(server);
      if (before && before.act !== act && before.at >= at) stale.push(one);
      if (!before || at > before.at) latest.set(server, { act, at });
      rows += rowsAt.length;
      if (rowsAt.length > 0 && !rowsAt.some((row) => Math.abs(row.getTime() - at.getTime()) <= 2_000)) stale.push(one);
    }

    expect(stale).toEqual([]);
    expect(rows).toBeGreaterThan(20);
  });

  it.each([
    ['unset', '1970-01-01T00:00:00Z'],
    ['no time', 'yesterday'],
    ['a number', 1_700_000_000],
    ['missing', undefined],
  ])('is unknown where the field is %s', (_what, closed_at) => {
    const { issue } = sampleBody('issues') as { issue: object };

    expect(actTimeOf({ kind: 'issue.closed', data: { issue: { ...issue, closed_at } as never } })).toBeNull();
  });

  it('is unknown where the object is none', () => {
    expect(
      ['text', null, [], undefined].map((issue) => actTimeOf({ kind: 'issue.closed', data: { issue } as never })),
    ).toEqual([null, null, null, null]);
  });
});
