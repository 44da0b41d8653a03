import { describe, expect, it } from '@jest/globals';
import type { EventSource } from '../core/event.js';
import { foldInto } from './fold.js';

const at = (second: number): Date => new Date(Date.UTC(2026, 10, 20, 19, 0, second));
const event = (eventId: string, sources: EventSource[], factAt: Date | null = null) => ({ eventId, sources, factAt });

describe('events/fold', () => {
  it.each<[string, EventSource, ReturnType<typeof event>[], string | null]>([
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
    ['no event', 'webhook', [], null],
  ])('%s => the event it tells', (_title, source, candidates, expected) => {
    expect(foldInto(source, null, candidates)).toBe(expected);
  });

  it("prefers the event nearest in the fact's own time", () => {
    expect(foldInto('feed', at(30), [event('a', ['webhook'], at(0)), event('b', ['webhook'], at(29))])).toBe('b');
  });
});
