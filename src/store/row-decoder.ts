import { jsonText } from './json-text.js';

type Decode = (stored: string | null) => unknown;

/** For columns of JSON text. */
export const asJson: Decode = jsonText.from;

/** The columns of a table for statements that are written by hand, and their rows: to have TypeORM read them costs a query of its own. */
export class RowDecoder<Row extends object> {
  /** As the entity names them. */
  readonly names: readonly string[];
  private readonly decoders: ReadonlyArray<[name: string, decode: Decode]>;

  /**
   * @param names of all columns, as the entity names them, with white space between
   * @param decoders of those that are not taken as `pg` reads them
   */
  constructor(names: string, decoders: { readonly [Name in keyof Row]?: Decode } = {}) {
    this.names = names.trim().split(/\s+/);
    this.decoders = Object.entries<Decode>(decoders as Record<string, Decode>);
  }

  /**
   * For SELECT and RETURNING.
   * @param instead of a column of this name in the table, what to read
   */
  list(alias: string, instead: Readonly<Record<string, string>> = {}): string {
    return this.names
      .map((name) => ({ name, column: snakeCase(name) }))
      .map(({ name, column }) => `${instead[column] ?? `${alias}."${column}"`} AS "${name}"`)
      .join(', ');
  }

  /** The row is changed in place. */
  decode(row: Record<string, unknown>): Row {
    for (const [name, decode] of this.decoders) row[name] = decode(row[name] as string | null);
    return row as Row;
  }
}

/** The column of a property. */
export function snakeCase(property: string): string {
  return property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
