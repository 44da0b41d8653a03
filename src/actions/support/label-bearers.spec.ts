import { expect, it } from '@jest/globals';
import { bearersOf } from './label-bearers.js';

it('bearersOf counts each label by itself, over all pages and also where a name holds a comma', async () => {
  const [needs, docs, both] = ['needs', 'docs', 'needs, docs'].map((name, n) => ({ id: `${n + 1}`, name }));
  const pages = [
    [{ labels: [both] }, { labels: [needs, both, both] }, { labels: null }],
    [{ labels: [docs] }, {}, { labels: [] }],
  ];
  const asked: object[] = [];
  const listIssues = async (args: { page?: number | undefined }) =>
    (asked.push(args), pages[(args.page ?? 1) - 1] ?? []) as never;

  expect(await bearersOf({ listIssues }, { owner: 'acme', repo: 'app' })).toEqual(
    new Map([
      ['3', 2],
      ['1', 1],
      ['2', 1],
    ]),
  );
  // No filter by label, and closed ones too.
  for (const args of asked) expect(args).toEqual({ ...args, owner: 'acme', repo: 'app', state: 'all' });
  expect(asked.some((args) => 'labels' in args)).toBe(false);
});
