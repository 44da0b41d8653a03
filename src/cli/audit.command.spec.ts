import { describe, expect, it } from '@jest/globals';
import type { AuditPage } from '../housekeeping/audit/audit-check.js';
import { auditOf, describe as describeReport, headOf } from './audit.command.js';
import type { Reach } from './reach-bot.js';

const hash = (n: number): string => String(n).padStart(64, '0');

type Deleted = AuditPage['deleted'][number] & { readonly n: number };

/** Answers as the bot does, of a chain with so many links; notes what it was asked. */
function aBot(
  length: number,
  brokenAt?: number,
  deleted: readonly Deleted[] = [],
): { bot: Pick<Reach, 'call'>; asked: Array<[number, number]> } {
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
      deleted: deleted.filter(({ n }) => n > after && n <= last),
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
      deleted: [],
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

  it('says what retention deleted, together what went together', async () => {
    const night = (hour: number) => new Date(`2026-11-20T0${hour}:00:00Z`);
    const cut = (n: number, from: number, to: number, at = night(5)): Deleted => ({
      n,
      from,
      to,
      links: 90,
      days: 400,
      at,
    });
    const { bot } = aBot(1_200, undefined, [
      cut(400, 1, 100),
      cut(700, 101, 200, night(6)),
      cut(701, 600, 700),
      cut(1_100, 210, 300, new Date('2026-11-21T05:00:00Z')),
    ]);

    const report = await auditOf(bot, 'acme', undefined);

    expect(report.deleted.map(({ from, to, links }) => [from, to, links])).toEqual([
      [1, 200, 180],
      [210, 300, 90],
      [600, 700, 90],
    ]);
    expect(describeReport(report).split('\n').slice(1, 3)).toEqual([
      '  1 to 200 were deleted by retention on 2026-11-20 (180 links, older than 400 days)',
      '  210 to 300 were deleted by retention on 2026-11-21 (90 links, older than 400 days)',
    ]);
  });
});
