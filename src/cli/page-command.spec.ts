import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { everyRow, pagesByTime, printPages } from './page-command.js';

const ROWS = Array.from({ length: 2_500 }, (_, n) => ({ id: `row-${n}` }));
const OPTIONS = { config: 'c', json: true, all: false, limit: 20 };
let written = '';

/** Pages as the control API gives them. */
const page = async ({ after, limit }: { after: string | undefined; limit: number }) => {
  const from = after === undefined ? 0 : Number(after);
  const rows = ROWS.slice(from, from + limit);
  return { rows, next: from + limit < ROWS.length ? String(from + limit) : null, open: 7 };
};
const show = ({ rows }: { rows: readonly unknown[] }): string => `${rows.length} rows`;
const lines = (): unknown[] =>
  written
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);

describe('cli/page-command', () => {
  beforeEach(() => {
    written = '';
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => ((written += String(text)), true));
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('prints a page with where the next one begins, for programs and for people', async () => {
    const first = await printPages(OPTIONS, { page, show });
    expect(JSON.parse(written)).toEqual({ rows: ROWS.slice(0, 20), next: '20', open: 7 });
    expect(first.open).toBe(7);

    written = '';
    await printPages({ ...OPTIONS, json: false, after: '20' }, { page, show });
    expect(written).toBe('20 rows\n');
  });

  it('prints a line of JSON for each row of all pages, as they come', async () => {
    await printPages({ ...OPTIONS, all: true }, { page, show });

    expect(lines()).toEqual(ROWS);
  });

  it('shows people all pages as one', async () => {
    const asked: number[] = [];
    await printPages(
      { ...OPTIONS, json: false, all: true },
      { page: (place) => (asked.push(place.limit), page(place)), show },
    );

    expect([written, asked]).toEqual(['2500 rows\n', [1_000, 1_000, 1_000]]);
  });

  it('shows people what every page tells beside its rows', async () => {
    const hooks = async (place: Parameters<typeof page>[0]) => ({
      ...(await page(place)),
      hooks: [place.after ?? '0'],
    });
    await printPages(
      { ...OPTIONS, json: false, all: true },
      {
        page: hooks,
        show: (answer) => answer.hooks.join(),
        join: (all, further) => ({ ...all, hooks: [...all.hooks, ...further.hooks] }),
      },
    );

    expect(written).toBe('0,1000,2000\n');
  });

  it('goes on where a list by time is told to, which calls that place `before`', async () => {
    await printPages(pagesByTime({ ...OPTIONS, before: '20' }), { page, show });
    expect(JSON.parse(written)).toMatchObject({ rows: ROWS.slice(20, 40), next: '40' });
  });

  it('reads every row', async () => {
    expect(await everyRow(page)).toEqual(ROWS);
  });
});
