import pg from 'pg';

/**
 * Bytes of one parameter that lie apart in memory; the last of its statement. `pg` would need them in one Buffer, and copies that twice on its
 * way to the socket: several megabytes for each commit of a busy receiver, a fifth of its processor time (`docs/bench.md`, table of steps).
 */
export class BytesInPieces {
  readonly length: number;

  constructor(readonly pieces: Buffer[]) {
    this.length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  }

  /** Once they were sent, and need not be sent again: what served the statement may stay in memory for seconds, and would keep the bytes. */
  giveUp(): void {
    this.pieces.length = 0;
  }
}

interface Connection {
  _send(bytes: Buffer): unknown;
  bind(config: unknown): void;
}

interface Answer {
  rows: unknown[];
  rowCount: number | null;
}

/** As `pg`'s client takes a query that somebody else made. */
export interface TakesQueries {
  query(query: pg.Query): unknown;
}

const NOTHING = Buffer.alloc(0);
/** The message ends with the formats of the answer: how many are said, and one. */
const FORMATS_BYTES = 4;
const KIND_BYTES = 1;

/** Ask a query whose last value is in pieces: each is written as it is. */
export function queryInPieces(
  client: TakesQueries,
  { name, text, values }: { name?: string; text: string; values: readonly unknown[] },
  last: BytesInPieces,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const config = { text, values: [...values.slice(0, -1), NOTHING], ...(name === undefined ? {} : { name }) };
    const query = new pg.Query(config, (error, answer) =>
      error ? reject(error) : resolve(answer as unknown as Answer),
    );
    const submit = query.submit.bind(query) as unknown as (connection: Connection) => unknown;
    query.submit = (connection) => submitInPieces(connection as unknown as Connection, last, submit);
    client.query(query);
  });
}

/** The bind message is made with no bytes for the last value, and they are put in. */
function submitInPieces<Result>(
  connection: Connection,
  { pieces, length }: BytesInPieces,
  submit: (connection: Connection) => Result,
): Result {
  const { bind } = connection;
  const write = (message: Buffer): void => {
    const head = message.subarray(0, -FORMATS_BYTES);
    head.writeInt32BE(length, head.length - 4);
    head.writeInt32BE(message.length - KIND_BYTES + length, KIND_BYTES);
    for (const part of [head, ...pieces, message.subarray(-FORMATS_BYTES)]) connection._send(part);
  };
  connection.bind = (config) => bind.call({ _send: write }, config);
  try {
    return submit(connection);
  } finally {
    connection.bind = bind;
  }
}
