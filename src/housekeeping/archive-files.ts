import { hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, realpath, type FileHandle } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { createGunzip, gzip } from 'node:zlib';
import { z } from 'zod';
import { UserError } from '../core/errors.js';
import { FlushFailed, codeOf, flushFolder, flushWayTo, makeFolder } from '../platform/flush.js';
import type { Arrival } from '../core/arrival.js';
import { soundLength } from './gzip-members.js';

const compress = promisify(gzip);

const row = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('delivery'),
    id: z.string(),
    forge: z.string(),
    org: z.string(),
    hook: z.string(),
    eventType: z.string(),
    event: z.string(),
    deliveryId: z.string(),
    targetType: z.string().nullable(),
    contentType: z.enum(['json', 'form']),
    verdict: z.enum(['signed', 'unsigned']),
    body: z.base64().transform((text) => Buffer.from(text, 'base64')),
    /** Null where it is the body. */
    text: z.string().nullable(),
    textHash: z.string(),
    receivedAt: z.coerce.date(),
    repeats: z.number(),
  }),
  z.object({
    kind: z.literal('entry'),
    id: z.string(),
    forge: z.string(),
    org: z.string(),
    source: z.enum(['feed', 'tasks', 'lists']),
    entryKey: z.string(),
    text: z.string(),
    textHash: z.string(),
    readAt: z.coerce.date(),
    repeats: z.number(),
  }),
]);

/**
 * Old arrivals as files, one for each day on which they came (`2026-11-20.ndjson.gz`): a line of JSON each, compressed batch by batch, so that a file
 * grows by being appended to. Deliveries keep their bytes; that is what makes an archive one can replay from. Files are for their owner alone.
 */
export class ArchiveFiles {
  /** Files whose end this process knows to be whole. */
  private readonly whole = new Set<string>();
  /** Whether the folder and those above it are on the disk, whoever made them. */
  private isNamed = false;

  /** @param onFlushFailed the disk did not confirm what was appended: the process must end */
  constructor(
    readonly folder: string,
    private readonly onFlushFailed: (error: FlushFailed) => void = () => undefined,
  ) {}

  /**
   * Bodies and file names are on the disk when this returns. An arrival that is written twice, after a crash, does no harm.
   * @throws FlushFailed
   */
  async append(arrivals: readonly Arrival[]): Promise<void> {
    const days = new Map<string, string[]>();
    for (const arrival of arrivals) {
      const day = (arrival.kind === 'delivery' ? arrival.receivedAt : arrival.readAt).toISOString().slice(0, 10);
      days.set(day, [...(days.get(day) ?? []), lineOf(arrival)]);
    }
    try {
      makeFolder(this.folder);
      if (!this.isNamed) flushWayTo(this.folder);
      this.isNamed = true;
      for (const [day, lines] of days)
        await this.appendTo(join(this.folder, `${day}.ndjson.gz`), await compress(`${lines.join('\n')}\n`));
      flushFolder(this.folder);
    } catch (error) {
      if (error instanceof FlushFailed) this.onFlushFailed(error);
      throw error;
    }
  }

  /**
   * The real path of a file in this archive.
   * @param name a path; a relative one starts in the archive's folder
   * @throws UserError when it is not there, or lies elsewhere, also by a symbolic link
   */
  async find(name: string): Promise<string> {
    const fullPath = resolve(this.folder, name);
    const [folder, path] = await Promise.all([realpath(this.folder), realpath(fullPath)]).catch(() => {
      throw new UserError('NOT_IN_ARCHIVE', `the archive ${this.folder} has no file ${fullPath}`);
    });
    if (dirname(path) !== folder)
      throw new UserError(
        'NOT_IN_ARCHIVE',
        `${fullPath} is not in the archive folder ${this.folder}: copy it there first`,
      );
    return path;
  }

  private async appendTo(path: string, batch: Buffer): Promise<void> {
    const file = await open(path, 'a+', 0o600);
    try {
      if (!this.whole.has(path)) await setTornEndAside(file, path);
      // Until the flush, the end of the file may be incomplete.
      this.whole.delete(path);
      await file.appendFile(batch);
      await flush(file, path);
      this.whole.add(path);
    } finally {
      await file.close();
    }
  }
}

/**
 * After a power cut, an unflushed batch may be there in part; whatever is appended after that part could not be read. The store still has the
 * arrivals of the batch. The part is kept beside the file anyway, since somebody may have damaged the file instead.
 */
async function setTornEndAside(file: FileHandle, path: string): Promise<void> {
  const { size } = await file.stat();
  const sound = await soundLength(path, size);
  if (sound === size) return;
  const aside = await open(`${path}.torn-at-${sound}`, 'w', 0o600);
  try {
    for await (const part of file.createReadStream({ start: sound, autoClose: false }))
      await aside.appendFile(part as Buffer);
    await flush(aside, `${path}.torn-at-${sound}`);
  } finally {
    await aside.close();
  }
  // The name, too, must be on the disk before the store gives up its copy.
  flushFolder(dirname(path));
  await file.truncate(sound);
}

async function flush(file: FileHandle, path: string): Promise<void> {
  try {
    await file.sync();
  } catch (error) {
    throw new FlushFailed(path, codeOf(error));
  }
}

/**
 * The arrivals of an archive file, in its order.
 * @throws UserError naming the line that is none
 */
export async function* readArchive(path: string): AsyncGenerator<Arrival> {
  const source = createReadStream(path);
  const text = source.pipe(createGunzip());
  source.on('error', (error) => text.destroy(error));
  let line = 0;
  try {
    for await (const written of createInterface({ input: text, crlfDelay: Infinity })) {
      line += 1;
      if (written !== '') yield asArrival(written);
    }
  } catch (error) {
    throw new UserError(
      'BAD_ARCHIVE',
      `${path}:${line}:1: this line is not an archived arrival: ${(error as Error).message.split('\n', 1)[0] ?? ''}`,
    );
  } finally {
    source.destroy();
  }
}

function lineOf(arrival: Arrival): string {
  if (arrival.kind === 'entry') return JSON.stringify(arrival);
  return JSON.stringify({
    ...arrival,
    body: arrival.body.toString('base64'),
    text: arrival.contentType === 'json' ? null : arrival.text,
  });
}

function asArrival(line: string): Arrival {
  const read = row.parse(JSON.parse(line));
  const stored = { state: 'decided' as const, eventId: null, archivedAt: null };
  if (read.kind === 'entry') return { ...read, ...stored };
  const text = read.text ?? read.body.toString('utf8');
  if (hash('sha256', text, 'hex') !== read.textHash) throw new Error('its text is not the one that it was stored with');
  return { ...read, ...stored, text };
}
