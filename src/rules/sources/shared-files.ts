import { readFile, realpath, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { MAX_EXTENDS, extendsOf } from '../language/load/extends.js';
import type { RuleFile } from '../language/revision.js';
import { builtInSetLike, isBuiltInSet, readBuiltInSet } from './built-in-sets.js';

const MAX_FILE_BYTES = 256 * 1024;
const MAX_SHARED = 50;

/** What the operator lets rule files extend. */
export interface Extendable {
  /** Folders; nothing outside of them is read, whatever a file says. */
  readonly extendsFrom: readonly string[];
  /** The rule sets that are part of the program. */
  readonly builtInSets: boolean;
}

/**
 * The shared files that rule files extend, and those that these extend. One that cannot be had is given with the reason: the loader tells
 * it where the file is named.
 */
export async function readShared(own: readonly RuleFile[], allowed: Extendable): Promise<RuleFile[]> {
  const byRef = new Map<string, RuleFile>();
  let named = own.flatMap(({ text }) => extendsOf(text));
  for (let depth = 0; depth <= MAX_EXTENDS && named.length > 0 && byRef.size < MAX_SHARED; depth += 1) {
    const next: string[] = [];
    for (const ref of named) {
      if (byRef.has(ref)) continue;
      const file = isBuiltInSet(ref)
        ? readBuiltInSet(ref, allowed.builtInSets)
        : await readOne(ref, allowed.extendsFrom);
      byRef.set(ref, file);
      next.push(...extendsOf(file.text));
    }
    named = next;
  }
  return [...byRef.values()];
}

/** The built-in sets that files name, where they came without them: a draft may name others than the files that were read. */
export function missingSets(files: readonly RuleFile[], { builtInSets }: Pick<Extendable, 'builtInSets'>): RuleFile[] {
  const all = [...files];
  const present = new Set(files.map(({ shared }) => shared));
  // A set may extend another one: it is looked at as soon as it is there.
  for (const { text } of all)
    for (const ref of extendsOf(text).filter(isBuiltInSet)) {
      if (present.has(ref)) continue;
      present.add(ref);
      all.push(readBuiltInSet(ref, builtInSets));
    }
  return all.slice(files.length);
}

async function readOne(ref: string, places: readonly string[]): Promise<RuleFile> {
  const refused = (reason: string): RuleFile => ({
    path: ref,
    name: `extends:${ref}`,
    text: '',
    shared: ref,
    refused: reason,
  });
  const set = builtInSetLike(ref);
  if (set !== null) return refused(`built-in sets have the name of the program before theirs: ${set}`);
  if (places.length === 0) return refused('the operator allows no shared files here (orgs[].rules.extends_from)');
  if (!isPlain(ref))
    return refused('a shared file is named by its path below an allowed folder, like labels.yaml, without ".."');
  for (const place of places) {
    const read = await readBelow(place, ref);
    if (read === null) continue;
    if ('reason' in read) return refused(read.reason);
    const displayPath = relative(process.cwd(), read.path);
    return {
      path: displayPath.startsWith('..') ? read.path : displayPath,
      name: `extends:${ref}`,
      text: read.text,
      shared: ref,
    };
  }
  return refused(`it is in none of the allowed folders`);
}

function isPlain(ref: string): boolean {
  return /^[^/\\\0][^\\\0]*\.ya?ml$/.test(ref) && ref.split('/').every((part) => part !== '' && !part.startsWith('.'));
}

/** Null when it is not there. A link, of the file or of a folder on its way, could lead anywhere: none is followed. */
async function readBelow(
  place: string,
  ref: string,
): Promise<{ path: string; text: string } | { reason: string } | null> {
  const path = join(place, ref);
  try {
    const base = await realpath(place);
    if ((await realpath(path)) !== join(base, ref)) return { reason: 'it is a link, or lies behind one' };
    const { size } = await stat(path);
    if (size > MAX_FILE_BYTES) return { reason: `it has ${size} bytes; ${MAX_FILE_BYTES} is the limit` };
    return { path, text: await readFile(path, 'utf8') };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return code === 'ENOENT' || code === 'ENOTDIR' ? null : { reason: `it cannot be read (${code})` };
  }
}
