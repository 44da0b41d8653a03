import { createReadStream } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { crc32, createInflateRaw } from 'node:zlib';

const HEADER_BYTES = 10;
const TRAILER_BYTES = 8;
/** RFC 1952: the magic number, deflate, and no optional field; as Node writes it. */
const START = Buffer.from([0x1f, 0x8b, 0x08, 0x00]);

/**
 * How many bytes of a file are whole gzip members, counted from its start. A member whose checksum or length is wrong ends the count.
 * @see RFC 1952
 */
export async function soundLength(path: string, size: number): Promise<number> {
  const file = await open(path, 'r');
  try {
    let sound = 0;
    while (sound < size) {
      const end = await endOfMember(file, path, sound);
      if (end === null) break;
      sound = end;
    }
    return sound;
  } finally {
    await file.close();
  }
}

/** @returns null when no whole member starts here */
async function endOfMember(file: FileHandle, path: string, start: number): Promise<number | null> {
  const header = await bytesAt(file, start, HEADER_BYTES);
  if (header.length < HEADER_BYTES || !header.subarray(0, START.length).equals(START)) return null;
  const body = await inflated(path, start + HEADER_BYTES);
  if (!body) return null;
  const trailer = await bytesAt(file, start + HEADER_BYTES + body.compressed, TRAILER_BYTES);
  if (
    trailer.length < TRAILER_BYTES ||
    trailer.readUInt32LE(0) !== body.checksum ||
    trailer.readUInt32LE(4) !== body.length % 2 ** 32
  )
    return null;
  return start + HEADER_BYTES + body.compressed + TRAILER_BYTES;
}

interface Body {
  readonly compressed: number;
  readonly checksum: number;
  readonly length: number;
}

/** The deflate stream that starts here: inflation ends with it, whatever follows. */
async function inflated(path: string, start: number): Promise<Body | null> {
  const source = createReadStream(path, { start });
  const inflate = source.pipe(createInflateRaw());
  source.on('error', (error) => inflate.destroy(error));
  try {
    let [checksum, length] = [0, 0];
    for await (const part of inflate as AsyncIterable<Buffer>) {
      checksum = crc32(part, checksum);
      length += part.length;
    }
    return { compressed: inflate.bytesWritten, checksum, length };
  } catch {
    return null;
  } finally {
    source.destroy();
  }
}

async function bytesAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}
