import { defineFunction } from './define-function.js';
import { fieldsOf, markdownOf, sizeOf, takeWhatFits } from './markdown-text.js';

/** Nobody reads a wider one. */
const MAX_COLUMNS = 12;

/** Fields of the maps of a list as a table of Markdown; what others wrote in them shows as it is and does nothing. */
export const mdTable = defineFunction({
  name: 'md_table',
  summary:
    'A table of Markdown: a row for each map of the list, with these fields of it, which are the headings too. A field is what an item of `md_list` may be; null is an empty cell. Escaped and cut as `md_list` does it. At most 12 columns; empty for an empty list.',
  params: [
    { name: 'rows', type: 'list' },
    { name: 'columns', type: 'list' },
  ],
  result: 'string',
  markdown: true,
  example: ['md_table([{"tag": "v1.4", "bugs": 2}], ["tag", "bugs"]).split("\\n")[2]', '| v1.4 | 2 |'],
  charge: ([rows, columns]) => sizeOf(columns) + rowsSize(rows, columns),
  run: ([rows, columns]) => {
    if (columns.length === 0 || columns.length > MAX_COLUMNS)
      throw new Error(`md_table takes 1 to ${MAX_COLUMNS} columns, this has ${columns.length}`);
    if (rows.length === 0) return '';
    const names = columns.map((name) => {
      if (typeof name !== 'string') throw new Error('md_table takes the names of its columns as texts');
      return name;
    });
    const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
    const { lines, rest } = takeWhatFits(rows, (row, index) => line(names.map((name) => cellOf(row, name, index + 1))));
    const head = [line(names.map((name) => markdownOf(name, 'md_table'))), line(names.map(() => '---'))];
    return [...head, ...lines, ...(rest === 0 ? [] : ['', `And ${rest} more.`])].join('\n');
  },
});

/** Of what is told before it runs: what is no list, and no name, is refused then. */
function rowsSize(rows: unknown, columns: unknown): number {
  if (!Array.isArray(rows) || !Array.isArray(columns)) return sizeOf(rows);
  const names = columns.slice(0, MAX_COLUMNS).map(String);
  return rows.reduce<number>(
    (total, row) => total + (typeof row === 'object' && row !== null ? sizeOf(fieldsOf(row, names)) : sizeOf(row)),
    0,
  );
}

function cellOf(row: unknown, column: string, number: number): string {
  if (typeof row !== 'object' || row === null || Array.isArray(row))
    throw new Error(`md_table takes a list of maps, row ${number} is none`);
  if (!Object.hasOwn(row, column)) throw new Error(`row ${number} of the table has no "${column}"`);
  return markdownOf((row as Record<string, unknown>)[column], 'md_table');
}
