import { createHash, hash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { Readable, pipeline } from 'node:stream';
import { createGunzip, createGzip } from 'node:zlib';
import { z } from 'zod';
import { UserError, messageOf } from '../core/errors.js';
import { FlushFailed, codeOf } from '../platform/flush.js';
import { VERSION } from '../platform/version.js';
import { nameNewFile, unfinishedNameOf } from '../platform/whole-file.js';
import type { Row, Sum, Table } from './whole-tables.js';

/**
 * A backup is one file:
 *
 * 1. a line of JSON, in clear: the header;
 * 2. gzip: for each table of the header a line `{"table":NAME}`, a line `["value",null,…]` for each row, and a line `{"rows":…,"digest":…}`;
 * 3. 64 hex digits and a line feed, in clear: the SHA-256 of everything before them.
 *
 * The digests of the tables are those of the store, so the rows are compared on the way out, in the file and on the way in. The SHA-256 finds
 * any other changed byte.
 */
const FORMAT = 1;
const DIGEST_BYTES = 65;
const MAX_HEADER_BYTES = 4 * 1024 * 1024;
/** Characters of rows that are handed on together. */
const BATCH = 1024 * 1024;
const BATCH_ROWS = 500;

const header = z.object({
  format: z.literal('forgehand-backup'),
  version: z.number().int().min(1),
  /** Version of the program that wrote the file. */
  program: z.string(),
  madeAt: z.string(),
  store: z.enum(['embedded', 'postgres']),
  /** Names of the migrations that the tables had. */
  migrations: z.array(z.string()).readonly(),
  tables: z
    .array(
      z.object({ name: z.string(), columns: z.array(z.object({ name: z.string(), type: z.string() })).readonly() }),
    )
    .readonly(),
  /** Tells whether a data key is the one that sealed values of this store; null where the key was not known. */
  dataKey: z.string().nullable(),
});
const tableLine = z.strictObject({ table: z.string() });
const rowLine = z.array(z.string().nullable());
const sumLine = z.strictObject({ rows: z.string(), digest: z.string() });

export type BackupHeader = z.infer<typeof header>;
export type HeaderFacts = Omit<BackupHeader, 'format' | 'version' | 'program'>;

/** Some rows of a table, or its end: every row was given before, and their count and digest are those of the file. */
export type BackupPart =
  | { readonly table: Table; readonly rows: readonly Row[] }
  | { readonly table: Table; readonly sum: Sum };

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

/**
 * The bytes of a backup.
 * @param parts for each table in the header's order: its rows, then its sum in the store
 * @throws UserError BACKUP_DIFFERS when the rows are not those of the sum, which must not happen
 */
export async function* backupBytes(facts: HeaderFacts, parts: AsyncIterable<BackupPart>): AsyncGenerator<Buffer> {
  const digest = createHash('sha256');
  const first = Buffer.from(
    `${JSON.stringify({ format: 'forgehand-backup', version: FORMAT, program: VERSION, ...facts } satisfies BackupHeader)}\n`,
  );
  digest.update(first);
  yield first;
  // Rows are hex and JSON: the fastest level takes most of what there is to gain.
  const packed = pipeline(
    Readable.from(linesOf(parts), { highWaterMark: 1 }),
    createGzip({ level: 1 }),
    () => undefined,
  );
  for await (const bytes of packed as AsyncIterable<Buffer>) {
    digest.update(bytes);
    yield bytes;
  }
  yield Buffer.from(`${digest.digest('hex')}\n`);
}

async function* linesOf(parts: AsyncIterable<BackupPart>): AsyncGenerator<string> {
  let table: Table | null = null;
  let written = new RowSum();
  for await (const part of parts) {
    if (part.table !== table) {
      table = part.table;
      written = new RowSum();
      yield `${JSON.stringify({ table: table.name })}\n`;
    }
    if ('sum' in part) {
      if (!isSame(part.sum, written.sum))
        throw new UserError(
          'BACKUP_DIFFERS',
          `the rows read from table ${table.name} do not match the store's count: no backup was made`,
        );
      yield `${JSON.stringify(part.sum)}\n`;
      continue;
    }
    let lines = '';
    for (const row of part.rows) {
      written.add(row);
      lines += `${JSON.stringify(row)}\n`;
      if (lines.length < BATCH) continue;
      yield lines;
      lines = '';
    }
    if (lines !== '') yield lines;
  }
}

/** A backup to read. */
export interface OpenedBackup {
  readonly header: BackupHeader;
  /** Length of the file. */
  readonly bytes: number;
  /** Everything in it, table by table. @throws UserError BACKUP_DAMAGED */
  parts(): AsyncGenerator<BackupPart>;
}

/**
 * Read the header of a backup.
 * @throws UserError NO_BACKUP (not there, or another file), BACKUP_DAMAGED, BACKUP_IS_NEWER (of the format)
 */
export async function openBackup(path: string): Promise<OpenedBackup> {
  const { line, size } = await firstLine(path);
  const headerLine = parsed(line) as { format?: unknown; version?: unknown; program?: unknown } | null;
  if (headerLine?.format !== 'forgehand-backup')
    throw new UserError('NO_BACKUP', `${path} is not a backup: its first line is not a backup header`);
  if (typeof headerLine.version === 'number' && headerLine.version > FORMAT && (await isUnchanged(path, size)))
    throw newer(path, String(headerLine.program));
  const read = header.safeParse(headerLine);
  if (!read.success || read.data.version !== FORMAT) throw damaged(path, 'in its header, at byte 0');
  const start = Buffer.byteLength(line) + 1;
  return { header: read.data, bytes: size, parts: () => partsOf(path, read.data.tables, start, size) };
}

export function newer(path: string, program: string): UserError {
  return new UserError(
    'BACKUP_IS_NEWER',
    `${path} was made by a newer version, and this one is ${VERSION}: install forgehand ${program} or later`,
  );
}

/**
 * Read a whole backup and check every count and digest; needs no store.
 * @param progress before each table
 * @throws UserError as openBackup and its parts
 */
export async function verifyBackup(
  path: string,
  progress: (table: string) => void = () => undefined,
): Promise<{ header: BackupHeader; bytes: number; tables: Array<{ name: string; rows: number }> }> {
  const backup = await openBackup(path);
  const tables: Array<{ name: string; rows: number }> = [];
  let current = '';
  for await (const part of backup.parts()) {
    if (part.table.name !== current) progress((current = part.table.name));
    if ('sum' in part) tables.push({ name: current, rows: Number(part.sum.rows) });
  }
  if (!(await isUnchanged(path, backup.bytes)))
    throw damaged(
      path,
      'outside of the rows: all rows are there, but a byte of the header or of the packing was changed',
    );
  return { header: backup.header, bytes: backup.bytes, tables };
}

async function* partsOf(
  path: string,
  tables: readonly Table[],
  start: number,
  size: number,
): AsyncGenerator<BackupPart> {
  const end = size - DIGEST_BYTES;
  if (end <= start) throw damaged(path, `at byte ${size}, where it ends: it was cut`);
  const source = createReadStream(path, { start, end: end - 1 });
  const text = pipeline(source, createGunzip(), () => undefined);
  let at = 'before the first table';
  const lines = linesIn(text as AsyncIterable<Buffer>);
  const next = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done) throw new Error('it was cut');
    return value;
  };
  try {
    for (const table of tables) {
      at = `in table ${table.name}`;
      if (tableLine.parse(JSON.parse(await next())).table !== table.name) throw new Error('another table stands here');
      const rowOfTable = rowLine.length(table.columns.length);
      const read = new RowSum();
      let rows: Row[] = [];
      let length = 0;
      for (;;) {
        const line = await next();
        const isEnd = line.startsWith('{');
        if (rows.length > 0 && (isEnd || rows.length >= BATCH_ROWS || length >= BATCH)) {
          yield { table, rows };
          rows = [];
          length = 0;
        }
        if (isEnd) {
          const sum = sumLine.parse(JSON.parse(line));
          if (!isSame(sum, read.sum))
            throw new Error(`${read.sum.rows} rows were read and ${sum.rows} were written, or their contents differ`);
          yield { table, sum };
          break;
        }
        const row = rowOfTable.parse(JSON.parse(line));
        read.add(row);
        rows.push(row);
        length += line.length;
        at = `in table ${table.name}, after row ${read.sum.rows}`;
      }
    }
    at = 'after the last table';
    if (!(await lines.next()).done) throw new Error('something stands there');
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw damaged(path, `${at}, before byte ${start + source.bytesRead} of ${size} (${reasonOf(error)})`);
  } finally {
    source.destroy();
  }
}

/** Whether the file is byte for byte as it was written. */
async function isUnchanged(path: string, size: number): Promise<boolean> {
  if (size <= DIGEST_BYTES) return false;
  const digest = createHash('sha256');
  for await (const bytes of createReadStream(path, { end: size - DIGEST_BYTES - 1 })) digest.update(bytes as Buffer);
  let written = '';
  for await (const bytes of createReadStream(path, { start: size - DIGEST_BYTES }))
    written += (bytes as Buffer).toString('latin1');
  return written === `${digest.digest('hex')}\n`;
}

async function firstLine(path: string): Promise<{ line: string; size: number }> {
  const file = await open(path).catch((error: unknown) => {
    throw new UserError(
      'NO_BACKUP',
      `${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? messageOf(error)})`,
    );
  });
  try {
    const { size } = await file.stat();
    const start = Buffer.alloc(Math.min(size, MAX_HEADER_BYTES));
    const { bytesRead } = await file.read(start, 0, start.length, 0);
    const end = start.subarray(0, bytesRead).indexOf('\n');
    if (end === -1 && start.toString('latin1', 0, 30).startsWith('{"format":"forgehand-backup"'))
      throw damaged(path, `in its header, at byte ${size}: it was cut`);
    return { line: start.toString('utf8', 0, Math.max(0, end)), size };
  } finally {
    await file.close();
  }
}

async function* linesIn(text: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  for await (const bytes of text) {
    let from = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
      parts.push(bytes.subarray(from, end));
      yield Buffer.concat(parts).toString('utf8');
      parts = [];
      from = end + 1;
    }
    if (from < bytes.length) parts.push(bytes.subarray(from));
  }
  if (parts.length > 0) throw new Error('it was cut in the middle of a row');
}

function isSame(one: Sum, other: Sum): boolean {
  return one.rows === other.rows && one.digest === other.digest;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof z.ZodError || error instanceof SyntaxError ? 'a line cannot be read' : messageOf(error);
}

function damaged(path: string, where: string): UserError {
  return new UserError('BACKUP_DAMAGED', `${path} is damaged ${where}. Use another backup`);
}

/**
 * Write a file for its owner alone. Its name is there once all of it is on the disk; what fails leaves nothing.
 * @throws UserError BACKUP_EXISTS; FlushFailed; what `bytes` throws
 */
export async function writeNewFile(path: string, bytes: AsyncIterable<Buffer>, signal?: AbortSignal): Promise<void> {
  if (existsSync(path)) throw isThere(path);
  const unfinished = unfinishedNameOf(path);
  const file = await open(unfinished, 'wx', 0o600);
  try {
    try {
      for await (const part of bytes) {
        signal?.throwIfAborted();
        await file.writeFile(part);
      }
      await file.sync().catch((error: unknown) => {
        throw new FlushFailed(unfinished, codeOf(error));
      });
    } finally {
      await file.close();
    }
    if (!nameNewFile(unfinished, path)) throw isThere(path);
  } finally {
    await rm(unfinished, { force: true });
  }
}

function isThere(path: string): UserError {
  return new UserError('BACKUP_EXISTS', `${path} already exists: choose another name, or remove it`);
}
