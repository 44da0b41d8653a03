import { hash } from 'node:crypto';
import type { Row, Sum } from './whole-tables.js';

/** Count and digest of rows, the same as `sumOf` has the server make of a table with these rows. */
export class RowSum {
  private rows = 0;
  private digest = 0n;

  add(row: Row): void {
    const text = row.map((value) => (value === null ? '-' : `${Buffer.byteLength(value)}:${value}`)).join('');
    this.rows += 1;
    this.digest += BigInt(`0x${hash('md5', text, 'hex').slice(0, 15)}`);
  }

  get sum(): Sum {
    return { rows: String(this.rows), digest: String(this.digest) };
  }
}
