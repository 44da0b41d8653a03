import { describe, expect, it } from '@jest/globals';
import { chosenFirst, chosenOf } from './same-name.js';

describe('actions/support/same-name', () => {
  it('takes one in use before one that was put away, one that is as wanted before others, the oldest first', () => {
    const bearers = [
      { id: '3', state: 'closed' },
      { id: '20', is_archived: true },
      { id: '10', state: 'open' },
      { id: '9', state: 'open' },
    ];

    expect(chosenFirst(bearers).map(({ id }) => id)).toEqual(['9', '10', '3', '20']);
    expect(chosenOf(bearers, ({ id }) => id === '10')?.id).toBe('10');
    expect(chosenOf(bearers, ({ id }) => id === '20')?.id).toBe('9');
    expect(chosenOf([])).toBeUndefined();
  });
});
