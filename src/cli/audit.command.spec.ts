import { describe, expect, it } from '@jest/globals';
import type { AuditPage } from '../housekeeping/audit/audit-check.js';
import { auditOf, headOf } from './audit.command.js';
import type { Reach } from './reach-bot.js';

const hash = (n: number): string => String(n).padStart(64, '0');

/** Answers as the bot does, of a chain with so many links; notes what it was asked. */
function aBot(length: number, brokenAt?: number): { bot: Pick<Reach, 'call'>; asked: Array<[number, number]> } {
  const asked: Array<[number, number]> = [];
  const page = (after: number, limit: number): AuditPage => {
    asked.push([after, limit]);
    const last = Math.min(after + limit, length);
    const broken =
      brokenAt !== undefined && brokenAt > after && brokenAt <= last
        ? { n: brokenAt, runId: `run-${brokenAt}`, why: 'changed' }
        : null;
    return {
      org: 'acme',
      checked: last - after,
      head: last === 0 ? null : { n: last, link: hash(last) },
      broken,
      again: last > 700 ? ['run-1'] : [],
      isEnd: last - after < limit,
    };
  };
  return {
    bot: {
      call: async (_name: string, query: object = {}) => {
        const { after, limit } = query as { after: number; limit: number };
        return page(after, limit) as never;
      },
    },
    asked,
  };
}

describe('cli/audit', () => {
  it('asks page by page to the end', async () => {
    const { bot, asked } = aBot(1_200);

    expect(await auditOf(bot, 'acme', undefined)).toEqual({
      org: 'acme',
      checked: 1_200,
      head: { n: 1_200, link: hash(1_200) },
      broken: null,
      again: ['run-1'],
      known: null,
    });
    expect(asked).toEqual([
      [0, 500],
      [500, 500],
      [1_000, 500],
    ]);
  });

  it('has nothing to check where nothing is sealed', async () => {
    expect(await auditOf(aBot(0).bot, 'acme', undefined)).toMatchObject({ checked: 0, head: null, broken: null });
  });

  it('stops at the first link that does not hold', async () => {
    const { bot, asked } = aBot(1_200, 600);

    expect(await auditOf(bot, 'acme', undefined)).toMatchObject({ broken: { n: 600, runId: 'run-600' } });
    expect(asked).toHaveLength(2);
  });

  it.each([
    ['is there', 1_000, hash(1_000), true],
    ['is in the middle of a page', 750, hash(750), true],
    ['is the first', 1, hash(1), true],
    ['is the last', 1_200, hash(1_200), true],
    ['has another hash', 750, hash(7), false],
    ['is beyond the end', 1_201, hash(1_201), false],
  ])('says whether the head that the caller knows is still in the chain: it %s', async (_, n, link, known) => {
    expect(await auditOf(aBot(1_200).bot, 'acme', { n, link })).toMatchObject({ checked: 1_200, known });
  });

  it('gives the head to keep off the host, and none of a chain that does not hold', async () => {
    const whole = headOf(await auditOf(aBot(1_200).bot, 'acme', undefined));
    const broken = headOf(await auditOf(aBot(1_200, 600).bot, 'acme', undefined));
    const cut = headOf(await auditOf(aBot(1_000).bot, 'acme', { n: 1_200, link: hash(1_200) }));
    const empty = headOf(await auditOf(aBot(0).bot, 'acme', undefined));

    expect(whole).toEqual({ org: 'acme', head: `1200:${hash(1_200)}`, links: 1_200, holds: true });
    expect([broken, cut, empty].map(({ head, holds }) => [head, holds])).toEqual([
      [null, false],
      [null, false],
      [null, true],
    ]);
  });
});
