import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { WAITING, groupWaiting, sayWaiting, showWaiting, type OneWaiting, type WaitingCode } from './waiting.js';

const CODES = Object.keys(WAITING) as WaitingCode[];
const at = (minute: number): Date => new Date(Date.UTC(2026, 10, 20, 12, minute));
const one = (over: Partial<OneWaiting>): OneWaiting => ({
  code: 'effect.order',
  id: 'a',
  org: 'acme',
  since: at(0),
  behind: 'first',
  reason: null,
  ...over,
});

describe('core/waiting', () => {
  it('has a row in the runbooks for each code, in the same words', () => {
    const runbooks = readFileSync('docs/runbooks.md', 'utf8');

    for (const code of CODES) expect(runbooks).toContain(`| \`${code}\` | ${WAITING[code].what}`);
  });

  it('joins what waits for the same thing, since the oldest of it, with the first five ids', () => {
    const many = Array.from({ length: 7 }, (_, n) => one({ id: `i${n}`, since: at(7 - n) }));

    expect(groupWaiting([...many, one({ id: 'other', behind: 'second' })])).toEqual([
      { code: 'effect.order', org: 'acme', behind: 'second', reason: null, since: at(0), ids: ['other'], count: 1 },
      {
        code: 'effect.order',
        org: 'acme',
        behind: 'first',
        reason: null,
        since: at(1),
        ids: ['i6', 'i5', 'i4', 'i3', 'i2'],
        count: 7,
      },
    ]);
  });

  it('leaves apart what needs an order of its own', () => {
    const asked = ['a', 'b'].map((id) => one({ id, code: 'effect.person', behind: null }));

    expect(groupWaiting(asked).map((waiting) => showWaiting(waiting).todo)).toEqual([
      'look at the forge, then: forgehand resolve a --exists, or forgehand resolve a --absent',
      'look at the forge, then: forgehand resolve b --exists, or forgehand resolve b --absent',
    ]);
  });

  it('says in one sentence what waits, and for what', () => {
    const shown = groupWaiting([one({}), one({ id: 'b' })]).map(showWaiting);

    expect(shown.map(sayWaiting)).toEqual(['2: an earlier effect of its repository has not ended (first)']);
  });
});
