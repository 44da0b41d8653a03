/** A list as people see it, described once for the command line and the Console. */
export interface List<Row> {
  readonly columns: ReadonlyArray<ListColumn<Row>>;
  /** In place of a list without rows. */
  readonly empty: string;
  /** What tells a row from the others. */
  readonly keyOf?: (row: Row) => string;
}

export interface ListColumn<Row> {
  readonly head: string;
  readonly value: (row: Row) => ListValue;
  /** How the value is shown; `wide` is a text that may wrap, `count` stands out unless it is 0. Default: a text. */
  readonly form?: 'wide' | 'time' | 'number' | 'count' | 'state' | 'code' | 'id';
  /** Parts of the address of the page about it; null = there is none. */
  readonly page?: (row: Row) => readonly string[] | null;
  /** Where alone it is shown. Default: on both. */
  readonly on?: 'terminal' | 'page';
}

/** Null = there is none. On the wire a time is an ISO text. */
type ListValue = string | number | Date | null;

/** The moment that a value names; null = it is a text, or nothing. */
export function momentOf(value: ListValue): Date | null {
  if (value instanceof Date) return value;
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? new Date(value) : null;
}

/** A filter of a list: an option of its command, a field of its page. */
export interface ListFilter {
  readonly name: string;
  readonly label: string;
  /** What an option's help says. */
  readonly help: string;
  /** Stands for the value where none is given. */
  readonly placeholder?: string;
  /** Words to choose from. Default: any text. */
  readonly choices?: readonly string[];
}
