import { Option } from 'commander';
import { momentOf, type List, type ListColumn, type ListFilter } from '../api/list.js';
import { plain, state, table, when } from './print.js';
import { colour } from './terminal.js';

/** A list that the Console shows too, as a table. */
export function listTable<Row>({ columns, empty }: List<Row>, rows: readonly Row[]): string {
  const textColumns = columns.filter(({ on }) => on !== 'page');
  const head = textColumns.map(({ head: text, form }) => `${text.toLowerCase()}${form === 'time' ? ' (UTC)' : ''}`);
  return table(
    head,
    rows.map((row) => textColumns.map(({ form, value }) => cellOf(form, value(row)))),
    empty,
  );
}

function cellOf(form: ListColumn<never>['form'], value: ReturnType<ListColumn<never>['value']>): string {
  if (value === null) return '-';
  if (form === 'state') return state(String(value));
  if (form === 'count' && value !== 0) return colour.bold(String(value));
  const at = form === 'time' ? momentOf(value) : null;
  return at ? when(at) : plain(String(value));
}

/** An option for each filter of a list. */
export function filterOptions(filters: readonly ListFilter[]): Option[] {
  return filters.map(({ name, help, placeholder, choices }) => {
    const option = new Option(`--${name} <${placeholder ?? name}>`, help);
    return choices ? option.choices(choices) : option;
  });
}
