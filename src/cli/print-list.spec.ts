import { describe, expect, it } from '@jest/globals';
import type { List } from '../api/list.js';
import { filterOptions, listTable } from './print-list.js';

interface Row {
  readonly at: Date | string | null;
  readonly name: string;
  readonly count: number;
}

const LIST: List<Row> = {
  columns: [
    { head: 'Last seen', form: 'time', value: ({ at }) => at },
    { head: 'Name', value: ({ name }) => name, page: ({ name }) => ['rules', name] },
    { head: 'Id', on: 'terminal', value: () => 'x1' },
    { head: 'Here', on: 'page', value: () => 'page' },
    { head: 'Errors', form: 'count', value: ({ count }) => count },
  ],
  keyOf: ({ name }) => name,
  empty: 'Nothing yet.',
};
const ROWS: readonly Row[] = [
  { at: '2026-11-20T08:00:00.000Z', name: 'a/b', count: 0 },
  { at: null, name: 'c\u001b[2J', count: 2 },
];

describe('cli/print-list', () => {
  it('prints the columns of the terminal, a time in UTC and nothing that a terminal obeys', () => {
    expect(listTable(LIST, ROWS).split('\n')).toEqual([
      'last seen (UTC)      name        id  errors',
      '2026-11-20 08:00:00  a/b         x1  0',
      '-                    c\\u001b[2J  x1  2',
    ]);
    expect(listTable(LIST, [])).toBe('Nothing yet.');
  });

  it('makes an option of each filter', () => {
    const [text, choice] = filterOptions([
      { name: 'repo', label: 'Repository', help: 'only this one', placeholder: 'owner/name' },
      { name: 'state', label: 'State', help: 'only in this state', choices: ['done', 'dead'] },
    ]);

    expect(text?.flags).toBe('--repo <owner/name>');
    expect(choice?.argChoices).toEqual(['done', 'dead']);
  });
});
