import { describe, expect, it } from '@jest/globals';
import type { EventKind } from '../core/event-kinds.js';
import type { EventSource } from '../core/event.js';
import type { JsonObject } from '../core/json.js';
import type { DuplicateCandidate, DuplicateFact } from './deduplicate.js';
import { deduplicateInto } from './deduplicate.js';

const at = (second: number): Date => new Date(Date.UTC(2026, 10, 20, 19, 0, 0) + second * 1000);
const KEY = '37|issue.closed|1';
const event = (
  eventId: string,
  sources: EventSource[],
  over: Partial<DuplicateCandidate> = {},
): DuplicateCandidate => ({
  eventId,
  sources,
  kind: 'issue.closed',
  factKey: KEY,
  factAt: null,
  data: {},
  ...over,
});
const fact = (over: Partial<DuplicateFact> = {}): DuplicateFact => ({
  kind: 'issue.closed',
  factKey: KEY,
  factAt: null,
  data: {},
  ...over,
});

describe('events/deduplicate', () => {
  it.each<[string, Date | null, Date | null, string | null]>([
    ['is no telling of an act that happened after that', at(0), at(1), null],
    ['tells an act that happened before', at(2), at(1), 'a'],
    ['tells an act without a time', at(0), null, 'a'],
    ['tells what it tells where nobody denied it', null, at(1), 'a'],
  ])('a delivery that the forge denied %s', (_what, deniedAt, factAt, expected) => {
    const known = [event('a', ['webhook'], { factAt: at(1), deniedAt })];

    expect(deduplicateInto('feed', fact({ factAt }), known)).toBe(expected);
  });

  it.each<[string, EventSource, DuplicateCandidate[], string | null]>([
    ['an entry after its delivery', 'feed', [event('a', ['webhook'])], 'a'],
    ['a delivery after its entry', 'webhook', [event('a', ['feed'])], 'a'],
    ['a task row after its delivery', 'tasks', [event('a', ['webhook'])], 'a'],
    ['an entry after an entry', 'feed', [event('a', ['feed'])], null],
    ['a task row after a feed row', 'tasks', [event('a', ['feed'])], null],
    ['a second delivery', 'webhook', [event('a', ['webhook'])], null],
    ['a second entry after a pair', 'feed', [event('a', ['webhook', 'feed'])], null],
    ['a second delivery after a pair', 'webhook', [event('a', ['feed', 'webhook'])], null],
    ['an entry after two deliveries', 'feed', [event('a', ['webhook']), event('b', ['webhook'])], 'a'],
    ['the second entry after two deliveries', 'feed', [event('a', ['webhook', 'feed']), event('b', ['webhook'])], 'b'],
    ['an event nobody told', 'feed', [event('a', [])], null],
    ['an event of another key', 'feed', [event('a', ['webhook'], { factKey: '37|issue.closed|2' })], null],
    ['no event', 'webhook', [], null],
  ])('%s => the event it tells', (_title, source, candidates, expected) => {
    expect(deduplicateInto(source, fact(), candidates)).toBe(expected);
  });

  it("prefers the event nearest in the fact's own time", () => {
    const candidates = [event('a', ['webhook'], { factAt: at(20) }), event('b', ['webhook'], { factAt: at(29) })];

    expect(deduplicateInto('feed', fact({ factAt: at(30) }), candidates)).toBe('b');
  });

  it.each<[EventKind, number, boolean]>([
    ['issue.closed', 10, true],
    ['issue.closed', -10, true],
    ['issue.closed', 11, false],
    ['repository.created', 11, false],
    ['comment.created', 11, false],
    ['push', 86_400, true],
    ['branch.created', 86_400, true],
    ['tag.deleted', 86_400, true],
    ['release.published', 86_400, true],
    ['task.finished', 86_400, true],
  ])('%s and its twin %i seconds apart in their own times: one fact is %s', (kind, seconds, isOne) => {
    const candidates = [event('a', ['webhook'], { kind, factAt: at(0) })];

    expect(deduplicateInto('feed', fact({ kind, factAt: at(seconds) }), candidates)).toBe(isOne ? 'a' : null);
  });

  describe('a review', () => {
    const discussionKey = 'talk';
    const review = (body: string): JsonObject => ({ review: { body } });
    const comment = (body: string): JsonObject => ({ comment: { body } });
    const told = event('review', ['webhook'], {
      kind: 'review.commented',
      factKey: 'r',
      factAt: at(0),
      data: review('LGTM'),
    });
    const toldAndRead = { ...told, sources: ['webhook', 'feed'] as EventSource[] };

    it.each<[string, EventSource, Partial<DuplicateFact>, DuplicateCandidate[], string | null]>([
      [
        'the row of a line, in its second',
        'feed',
        { kind: 'comment.created', factAt: at(1), data: comment('why?') },
        [told],
        'review',
      ],
      [
        'the row of its summary, by the text',
        'feed',
        { kind: 'comment.created', factAt: at(7), data: comment('LGTM') },
        [toldAndRead],
        'review',
      ],
      [
        'the row of a comment seconds later',
        'feed',
        { kind: 'comment.created', factAt: at(2), data: comment('and?') },
        [told],
        null,
      ],
      [
        'the row of the same text after the window',
        'feed',
        { kind: 'comment.created', factAt: at(11), data: comment('LGTM') },
        [told],
        null,
      ],
      [
        'its delivery after the row of a line',
        'webhook',
        { kind: 'review.commented', factKey: 'r', factAt: at(0), data: review('') },
        [event('row', ['feed'], { kind: 'comment.created', factKey: 'c', factAt: at(0), data: comment('why?') })],
        'row',
      ],
      [
        'its delivery after rows that told the review',
        'webhook',
        { kind: 'review.commented', factKey: 'r', factAt: at(0), data: review('x') },
        [event('rows', ['feed', 'feed'], { kind: 'review.commented', factKey: 'r', factAt: at(0), data: review('x') })],
        'rows',
      ],
      [
        'a second row of one call',
        'feed',
        { kind: 'review.commented', factKey: 'r', factAt: at(0), data: review('x') },
        [event('rows', ['feed'], { kind: 'review.commented', factKey: 'r', factAt: at(0), data: review('x') })],
        'rows',
      ],
      [
        'a row of the next call',
        'feed',
        { kind: 'review.commented', factKey: 'r', factAt: at(3), data: review('x') },
        [event('rows', ['feed'], { kind: 'review.commented', factKey: 'r', factAt: at(0), data: review('x') })],
        null,
      ],
      [
        'its delivery after rows of one second that told another verdict',
        'webhook',
        { kind: 'review.commented', factKey: 'r', factAt: at(0), data: review('x') },
        [event('rows', ['feed'], { kind: 'review.rejected', factKey: 'n', factAt: at(0), data: review('x') })],
        null,
      ],
      [
        'a comment beside it, by delivery',
        'webhook',
        { kind: 'comment.created', factKey: 'c', factAt: at(0), data: comment('x') },
        [toldAndRead],
        null,
      ],
    ])('%s => the event it tells', (_title, source, over, candidates, expected) => {
      expect(deduplicateInto(source, fact({ factKey: 'c', discussionKey, ...over }), candidates)).toBe(expected);
    });

    it('takes a row with the id of a known comment for that comment, whatever the rows beside it look like', () => {
      const key = (id: string): string => `37|comment.created|${id}`;
      const delivered = ['91', '92'].map((id) =>
        event(id, ['webhook'], { kind: 'comment.created', factKey: key(id), factAt: at(0), data: comment(id) }),
      );
      const row: DuplicateFact = {
        ...fact({ kind: 'review.commented', factKey: 'r', factAt: at(0), data: review('92') }),
        discussionKey,
        commentKey: key('92'),
      };

      expect(deduplicateInto('feed', row, [told, ...delivered])).toBe('92');
      expect(deduplicateInto('feed', { ...row, commentKey: key('93') }, delivered)).toBeNull();
    });

    it('gives two approvals of one text, seconds apart, two events', () => {
      const approved = event('a', ['webhook', 'feed'], {
        kind: 'review.approved',
        factKey: 'r',
        factAt: at(0),
        data: review('LGTM'),
      });

      expect(
        deduplicateInto(
          'feed',
          fact({ kind: 'review.approved', factKey: 'r', discussionKey, factAt: at(4), data: review('LGTM') }),
          [approved],
        ),
      ).toBeNull();
    });
  });
});
