import { Duplex } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { BytesInPieces, queryInPieces } from './bytes-in-pieces.js';

/** What a client tells the server, and in how many writes. */
class Told {
  readonly writes: Buffer[] = [];
  readonly connection: pg.Connection;

  constructor() {
    const stream = new Duplex({
      read: () => undefined,
      write: (bytes: Buffer, _encoding, done) => (this.writes.push(bytes), done()),
    });
    this.connection = new pg.Connection({ stream } as object);
  }

  query(query: pg.Query): void {
    query.submit(this.connection);
  }

  get bytes(): Buffer {
    return Buffer.concat(this.writes);
  }
}

const PIECES = [Buffer.from('one'), Buffer.alloc(0), Buffer.alloc(70_000, 7), Buffer.from([0, 255])];

describe('store/bytes-in-pieces', () => {
  it.each([
    ['a statement without a name', {}],
    ['one with a name', { name: 'insert' }],
  ])('tells the server of %s what pg would', (_title, named) => {
    const text = 'INSERT INTO t VALUES ($1, $2, $3)';
    const [told, wanted] = [new Told(), new Told()];

    const query = { ...named, text, values: ['a', null, undefined] };
    void queryInPieces(told, query, new BytesInPieces(PIECES));
    wanted.query(new pg.Query({ ...query, values: ['a', null, Buffer.concat(PIECES)] } as pg.QueryConfig));

    expect(told.bytes.equals(wanted.bytes)).toBe(true);
  });

  it('copies no piece', () => {
    const told = new Told();

    void queryInPieces(told, { text: 'SELECT $1', values: [undefined] }, new BytesInPieces(PIECES));

    expect(told.writes).toContain(PIECES[2]);
  });
});
