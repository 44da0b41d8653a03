import type { ComponentChildren } from 'preact';
import { momentOf, type List, type ListColumn, type ListFilter } from '../../api/list.js';
import { SEARCH } from '../../api/lists.js';
import { counted } from '../../api/words.js';
import { Pager, Table, Time, type Column, type Filter } from './components.js';
import { State } from './words.js';

interface ListTableProps<Row> {
  list: List<Row>;
  /** Read out to those who do not see the heading above. */
  caption: string;
  rows: readonly Row[];
  /** Heads of columns that are drawn otherwise here, with what is drawn. */
  cells?: Cells<Row>;
  /** Heads of columns that are left out. */
  without?: readonly string[];
  /** Columns that only the page has. */
  more?: ReadonlyArray<Column<Row>>;
  /** Default: that of the list. */
  empty?: ComponentChildren;
}
type Cells<Row> = Readonly<Record<string, (row: Row) => ComponentChildren>>;

/** A list that the command line prints too. */
export function ListTable<Row>({
  list,
  caption,
  rows,
  cells = {},
  without = [],
  more = [],
  empty,
}: ListTableProps<Row>) {
  const columns = list.columns
    .filter(({ head, on }) => on !== 'terminal' && !without.includes(head))
    .map((column): Column<Row> => ({
      head: column.head,
      kind: KINDS.get(column.form),
      cell: cells[column.head] ?? ((row) => <Cell column={column} row={row} />),
    }));
  const { keyOf } = list;
  const own = { caption, rows, columns: [...columns, ...more], empty: empty ?? list.empty };
  return <Table {...own} {...(keyOf ? { keyOf } : {})} />;
}

const KINDS = new Map<ListColumn<never>['form'], Column<never>['kind']>([
  ['time', 'tight'],
  ['number', 'number'],
  ['count', 'number'],
  ['wide', 'wide'],
]);

function Cell<Row>({ column: { form, value, page }, row }: { column: ListColumn<Row>; row: Row }): ComponentChildren {
  const content = shownAs(form, value(row));
  const parts = page?.(row);
  return parts ? <a href={`/${parts.map(encodeURIComponent).join('/')}`}>{content}</a> : content;
}

function shownAs(form: ListColumn<never>['form'], value: ReturnType<ListColumn<never>['value']>): ComponentChildren {
  const at = momentOf(value);
  if (form === 'time' && (at !== null || value === null)) return <Time at={at} />;
  if (value === null) return null;
  if (form === 'state') return <State of={String(value)} />;
  if (form === 'code') return <code>{value}</code>;
  if (form === 'count')
    return value === 0 ? <span class="muted">0</span> : <strong>{value.toLocaleString('en')}</strong>;
  return String(value);
}

interface PageProps {
  readonly page: {
    readonly rows: readonly unknown[];
    readonly next: string | null;
    readonly total: number;
    readonly attention: number;
  };
  readonly one: string;
  readonly many?: string;
  /** The name in the address of where a page begins. Default: `after` */
  readonly by?: string;
}

/** Below a list in pages: how many rows there are, and the way to the others. Nothing where all are shown. */
export function More({ page: { rows, next, total, attention }, one, many, by = 'after' }: PageProps) {
  if (rows.length === total) return null;
  return (
    <>
      <p class="muted small">
        {rows.length} of {counted(total, one, many)}
        {attention > 0 &&
          `; ${counted(attention, 'needs', 'need')} attention and ${attention === 1 ? 'comes' : 'come'} first`}
        .
      </p>
      <Pager next={next} by={by} />
    </>
  );
}

/** The field that searches a list in pages. */
export function searchField(): Filter[] {
  return fieldsOf([SEARCH]);
}

/** Fields for the filters of a list. */
export function fieldsOf(filters: readonly ListFilter[]): Filter[] {
  return filters.map(({ name, label, placeholder, choices }) => ({
    ...{ name, label, placeholder },
    ...(choices ? { options: choices.map((word) => [word, word] as const) } : {}),
  }));
}
