import { expect, it } from '@jest/globals';
import { arrivalText } from './tell-act.js';

it('tells deliveries first, then the feed, whatever was read first', () => {
  const lists = { source: 'lists', eventKinds: ['push'], eventType: 'push', repeats: 0 } as const;
  const polled = [lists, { ...lists, source: 'feed' }, lists] as const;
  const textOf = (arrivals: Parameters<typeof arrivalText>[0]['arrivals']): string =>
    arrivalText({ arrivals, deliveries: [] });

  expect(textOf(polled)).toBe('found in the feed, 2 found in the lists');
  expect(textOf([...polled, { ...lists, source: 'webhook' }])).toBe('push, found in the feed +1');
});
