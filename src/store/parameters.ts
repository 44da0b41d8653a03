import { firstIdAt } from '../core/ids.js';
import { BytesInPieces } from './bytes-in-pieces.js';

/**
 * Many values of bytes as one parameter. `pg` sends a single Buffer as it is, but the members of an array as hex text, at twice the
 * size; the statement takes them apart again with `substring`.
 */
export class Packed {
  private readonly parts: Buffer[] = [];
  private size = 0;
  readonly starts: number[] = [];
  readonly lengths: Array<number | null> = [];

  /** @param bytes null gives NULL (`substring` of a null length) */
  add(bytes: Buffer | null): void {
    this.starts.push(this.size + 1);
    this.lengths.push(bytes ? bytes.length : null);
    if (!bytes) return;
    this.parts.push(bytes);
    this.size += bytes.length;
  }

  get bytes(): Buffer {
    return Buffer.concat(this.parts, this.size);
  }

  /** The same without a copy, for the last parameter of a statement. */
  get inPieces(): BytesInPieces {
    return new BytesInPieces(this.parts);
  }
}

/** Clocks of two machines differ by less. */
const CLOCKS_MS = 3_600_000;

/** Comes before every id that was made since then, on whatever machine: what is read of a time begins there in the primary key. */
export function firstIdSince(at: Date): string {
  return firstIdAt(new Date(Math.max(0, at.getTime() - CLOCKS_MS)));
}

/** A list of whole numbers as the server reads it; `pg` would quote each as if it were text. */
export function integers(values: ReadonlyArray<number | null>): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`;
}

/** `unnest($1::text[], …)` over a list of records, so that the statement's text does not depend on how many there are. */
export function columnsOf<Row, const Names extends readonly (keyof Row)[]>(
  rows: readonly Row[],
  names: Names,
): unknown[][] {
  return names.map((name) => rows.map((row) => row[name]));
}
