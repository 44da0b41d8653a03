import { statfs } from 'node:fs/promises';

/** Free disk under a folder, for who is not root. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** For messages; rounded up. */
export function megabytes(bytes: number): number {
  return Math.ceil(bytes / 1_000_000);
}
