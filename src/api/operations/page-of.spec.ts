import { describe, expect, it } from '@jest/globals';
import { makePage, makePageByTime } from './page-of.js';

const ITEMS = Array.from({ length: 120 }, (_, n) => ({
  name: `item-${String(n).padStart(3, '0')}`,
  bad: n % 50 === 49,
}));
const list = (items: readonly { name: string; bad: boolean }[], rowsOf = (one: readonly object[]) => one) => ({
  items,
  namesOf: ({ name }: { name: string }) => [name],
  needsAttention: ({ bad }: { bad: boolean }) => bad,
  rowsOf,
});

describe('api/operations/page-of', () => {
  it('shows what needs attention first, and each row on one page', async () => {
    const seen: object[] = [];
    const sizes: number[] = [];
    let after: string | null = '';
    while (after !== null) {
      const page: Awaited<ReturnType<typeof makePage>> = await makePage(list(ITEMS), { after, limit: 50 });
      expect([page.total, page.attention]).toEqual([120, 2]);
      seen.push(...(page.rows as object[]));
      sizes.push(page.rows.length);
      after = page.next;
    }

    const bad = ITEMS.filter((item) => item.bad);
    expect(seen).toEqual([...bad, ...ITEMS.filter((item) => !item.bad)]);
    expect(sizes).toEqual([50, 50, 20]);
  });

  it('searches in any case, and counts what it found', async () => {
    const page = await makePage(list(ITEMS), { search: 'ITEM-04', limit: 5 });

    expect(page).toMatchObject({ total: 10, attention: 1 });
    expect(page.rows.map((row) => (row as { name: string }).name)).toEqual([
      'item-049',
      'item-040',
      'item-041',
      'item-042',
      'item-043',
    ]);
  });

  it('goes on behind a row that is gone meanwhile', async () => {
    const { next } = await makePage(list(ITEMS), { limit: 3 });
    const rest = ITEMS.filter(({ name }) => name !== 'item-000');

    expect((await makePage(list(rest), { after: next ?? '', limit: 1 })).rows).toMatchObject([{ name: 'item-001' }]);
  });

  it('has fewer rows where they are long, one at least, and then the others', async () => {
    const long = list(ITEMS, (items) => items.map((item) => ({ ...item, text: 'x'.repeat(25_000) })));
    const first = await makePage(long, { limit: 50 });
    const second = await makePage(long, { limit: 50, after: first.next ?? '' });
    const huge = list(ITEMS, (items) => items.map((item) => ({ ...item, text: 'x'.repeat(1_000_000) })));

    expect([first.rows.length, second.rows.length]).toEqual([2, 2]);
    expect(second.rows[0]).toMatchObject({ name: 'item-000' });
    expect((await makePage(huge, { limit: 50 })).rows).toHaveLength(1);
  });

  it('reads the rows of one page', async () => {
    const asked: number[] = [];
    await makePage(
      list(ITEMS, (items) => (asked.push(items.length), items)),
      { limit: 50 },
    );

    expect(asked).toEqual([50]);
  });

  it('of a list by time names its last row where another page follows, and makes no row of that', async () => {
    const made: number[] = [];
    const pageFrom = (from: number) =>
      makePageByTime(
        {
          read: async (count) => ITEMS.slice(from, from + count).map(({ name }) => ({ id: name })),
          rowsOf: (items) => (made.push(items.length), [...items]),
        },
        40,
      );

    const [first, last] = [await pageFrom(0), await pageFrom(80)];

    expect([first.rows.length, first.next, last.rows.length, last.next]).toEqual([40, 'item-039', 40, null]);
    expect(made).toEqual([40, 40]);
  });
});
