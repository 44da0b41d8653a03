import { readFileSync } from 'node:fs';

interface Common {
  /** Milliseconds since 1970, when the call was over. */
  readonly at: number;
}

/** By descriptor, or by path where a call names one. */
type Where = { readonly handle: string; readonly path?: never } | { readonly path: string; readonly handle?: never };

export type Recorded = Common &
  (
    | {
        readonly op: 'open';
        readonly path: string;
        readonly handle: string;
        readonly size: number;
        readonly isNew: boolean;
        readonly isFolder: boolean;
      }
    | { readonly op: 'create' | 'mkdir' | 'remove'; readonly path: string }
    | { readonly op: 'rename' | 'link'; readonly path: string; readonly to: string }
    | ({ readonly op: 'write'; readonly position: number; readonly data: Buffer } & Where)
    | ({ readonly op: 'size'; readonly length: number } & Where)
    | ({ readonly op: 'flush' } & Where)
  );

/** What `recorder.mjs` wrote down, in order. A process that was killed may leave half a record at the end of its part, and only there. */
export function readJournal(path: string): Recorded[] {
  const bytes = readFileSync(path);
  const records: Recorded[] = [];
  for (let at = 0; at + 4 <= bytes.length;) {
    const start = at + 4 + bytes.readUInt32LE(at);
    if (start > bytes.length) break;
    const { bytes: length, ...header } = JSON.parse(bytes.toString('utf8', at + 4, start)) as Recorded & {
      bytes: number;
    };
    at = start + length;
    if (at > bytes.length) break;
    records.push((header.op === 'write' ? { ...header, data: bytes.subarray(start, at) } : header) as Recorded);
  }
  return records;
}

/** The path that each record is about, below the root. */
export function pathsOf(records: readonly Recorded[], root: string): string[] {
  const open = new Map<string, string>();
  return records.map((record) => {
    if (record.op === 'open') open.set(record.handle, record.path);
    const path = record.path ?? open.get(record.handle) ?? '';
    return path.slice(root.length + 1);
  });
}
