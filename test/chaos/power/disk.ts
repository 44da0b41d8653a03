import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { SeededRandom } from '../../../src/core/seeded-random.js';
import type { Recorded } from './journal.js';

/** A disk writes a sector whole, and may tear whatever is greater. */
const SECTOR = 512;
const PAGE = 4096;

type Pending =
  | { readonly kind: 'write'; readonly position: number; readonly data: Buffer }
  | { readonly kind: 'size'; readonly length: number };

interface FileNode {
  readonly kind: 'file';
  flushed: Buffer;
  pending: Pending[];
}

/** Names that came or went in one call; null = the name went. */
type Change = ReadonlyArray<readonly [name: string, node: Node | null]>;

interface FolderNode {
  readonly kind: 'folder';
  readonly flushed: Map<string, Node>;
  pending: Change[];
  /** What the program sees. */
  readonly seen: Map<string, Node>;
}

type Node = FileNode | FolderNode;

const aFolder = (): FolderNode => ({ kind: 'folder', flushed: new Map(), pending: [], seen: new Map() });
const aFile = (): FileNode => ({ kind: 'file', flushed: Buffer.alloc(0), pending: [] });

/**
 * A disk under a folder, as POSIX promises it and no better: a flush of a file keeps its bytes and length, not its name; a flush of a folder keeps the
 * names in it. What was not flushed is kept or lost at random when the power goes, in any order, a write sector by sector.
 */
export class Disk {
  private readonly top = aFolder();
  private readonly open = new Map<string, Node>();

  constructor(private readonly root: string) {}

  apply(record: Recorded): void {
    switch (record.op) {
      case 'open':
        if (record.isNew) this.add(record.path, aFile());
        this.open.set(record.handle, record.path === this.root ? this.top : this.at(record.path));
        if (!record.isFolder) this.sizeOnOpen(record.handle, record.size);
        return;
      case 'create':
        return this.add(record.path, aFile());
      case 'mkdir':
        if (record.path !== this.root) this.add(record.path, aFolder());
        return;
      case 'write':
        return void this.file(record).pending.push({ kind: 'write', position: record.position, data: record.data });
      case 'size':
        return void this.file(record).pending.push({ kind: 'size', length: record.length });
      case 'rename':
      case 'link':
        return this.move(record.path, record.to, record.op === 'rename');
      case 'remove':
        return this.change(dirname(record.path), [[basename(record.path), null]]);
      case 'flush':
        return flush(this.node(record));
    }
  }

  /** A disk does this by itself within a minute. */
  flushAll(): void {
    const all = (node: Node): void => {
      flush(node);
      if (node.kind === 'folder') for (const inner of node.seen.values()) all(inner);
    };
    all(this.top);
  }

  /**
   * Writes one state in which a power cut could have left the disk, as files in a folder. The disk itself goes on.
   * @returns how many writes and names that were not flushed were dropped, at least in part
   */
  cut(into: string, random: SeededRandom): number {
    let dropped = 0;
    const sector = random.below(2) === 0 ? SECTOR : PAGE;
    const write = (folder: FolderNode, path: string): void => {
      // The record has no mode bits: as the bot makes its folders.
      mkdirSync(path, { recursive: true, mode: 0o700 });
      const names = new Map(folder.flushed);
      const share = shareKept(random);
      for (const change of folder.pending) {
        if (random.next() < share) applyChange(names, change);
        else dropped += 1;
      }
      for (const [name, node] of names) {
        if (node.kind === 'folder') write(node, join(path, name));
        else {
          const { bytes, torn } = contentAfterCut(node, sector, random);
          dropped += torn;
          writeFileSync(join(path, name), bytes);
        }
      }
    };
    write(this.top, into);
    return dropped;
  }

  private sizeOnOpen(handle: string, size: number): void {
    const node = this.open.get(handle);
    if (node?.kind === 'file' && size !== sizeOf(node)) node.pending.push({ kind: 'size', length: size });
  }

  private move(from: string, to: string, isRename: boolean): void {
    const node = this.at(from);
    const isSame = dirname(from) === dirname(to);
    const came: Change = [[basename(to), node]];
    const went: Change = isRename ? [[basename(from), null]] : [];
    if (isSame) return this.change(dirname(to), [...came, ...went]);
    this.change(dirname(to), came);
    if (isRename) this.change(dirname(from), went);
  }

  private add(path: string, node: Node): void {
    this.change(dirname(path), [[basename(path), node]]);
  }

  private change(folder: string, change: Change): void {
    const node = this.at(folder);
    if (node.kind !== 'folder') throw new Error(`${folder} is no folder`);
    applyChange(node.seen, change);
    node.pending.push(change);
  }

  private file(record: { readonly handle?: string; readonly path?: string }): FileNode {
    const node = this.node(record);
    if (node.kind !== 'file') throw new Error('a folder was written to');
    return node;
  }

  private node({ handle, path }: { readonly handle?: string; readonly path?: string }): Node {
    const node = handle === undefined ? this.at(path ?? '') : this.open.get(handle);
    if (!node) throw new Error(`nobody opened ${handle}`);
    return node;
  }

  private at(path: string): Node {
    let node: Node = this.top;
    for (const name of relative(this.root, path).split('/')) {
      if (name === '') continue;
      const next: Node | undefined = node.kind === 'folder' ? node.seen.get(name) : undefined;
      if (!next) throw new Error(`the record knows no ${path}`);
      node = next;
    }
    return node;
  }
}

function applyChange(names: Map<string, Node>, change: Change): void {
  for (const [name, node] of change) {
    if (node) names.set(name, node);
    else names.delete(name);
  }
}

function flush(node: Node): void {
  if (node.kind === 'folder') for (const change of node.pending) applyChange(node.flushed, change);
  else node.flushed = contentWith(node.flushed, node.pending);
  node.pending = [];
}

/** From a disk that had no time for anything to one that had almost finished. */
function shareKept(random: SeededRandom): number {
  return random.pick([0, 0.5, 0.9, 1]);
}

function sizeOf({ flushed, pending }: FileNode): number {
  return pending.reduce(
    (size, one) => (one.kind === 'size' ? one.length : Math.max(size, one.position + one.data.length)),
    flushed.length,
  );
}

function contentWith(start: Buffer, pending: readonly Pending[]): Buffer {
  if (pending.length === 0) return start;
  let size = start.length;
  let most = size;
  for (const one of pending)
    most = Math.max(most, (size = one.kind === 'size' ? one.length : Math.max(size, one.position + one.data.length)));
  const bytes = most > start.length ? Buffer.concat([start, Buffer.alloc(most - start.length)]) : start;
  let end = start.length;
  for (const one of pending) {
    if (one.kind === 'write') {
      one.data.copy(bytes, one.position);
      end = Math.max(end, one.position + one.data.length);
    } else {
      if (one.length < end) bytes.fill(0, one.length, end);
      end = one.length;
    }
  }
  return bytes.subarray(0, end);
}

function contentAfterCut(
  { flushed, pending }: FileNode,
  sector: number,
  random: SeededRandom,
): { bytes: Buffer; torn: number } {
  if (pending.length === 0) return { bytes: flushed, torn: 0 };
  const share = shareKept(random);
  let torn = 0;
  const kept = pending.flatMap((one): Pending[] => {
    if (one.kind === 'size') {
      if (random.next() < share) return [one];
      torn += 1;
      return [];
    }
    const parts = sectorsOf(one.position, one.data, sector).filter(() => random.next() < share);
    if (parts.reduce((sum, part) => sum + part.data.length, 0) < one.data.length) torn += 1;
    return parts.map((part) => ({ kind: 'write', ...part }));
  });
  return { bytes: contentWith(Buffer.from(flushed), kept), torn };
}

/** A write cut at the borders of sectors. */
function sectorsOf(position: number, data: Buffer, sector: number): Array<{ position: number; data: Buffer }> {
  const parts = [];
  for (let at = 0; at < data.length;) {
    const end = Math.min(data.length, at + sector - ((position + at) % sector));
    parts.push({ position: position + at, data: data.subarray(at, end) });
    at = end;
  }
  return parts;
}
