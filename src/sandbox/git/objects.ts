import { createHash } from 'node:crypto';
import type { Commit, Signature } from '../entities/repository.js';

function objectId(type: string, content: Buffer): string {
  return createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest('hex');
}

export function blobId(content: Buffer): string {
  return objectId('blob', content);
}

interface Entry {
  name: string;
  isTree: boolean;
  id: string;
}

/** Entries of a folder (`''` = the root) with true ids, in git's order; undefined when there is no such folder. */
export function entriesOf(files: ReadonlyMap<string, string>, folder: string): Entry[] | undefined {
  const prefix = folder === '' ? '' : `${folder}/`;
  const blobs: Entry[] = [];
  const folders = new Set<string>();
  for (const [path, id] of files) {
    if (!path.startsWith(prefix)) continue;
    const rest = path.slice(prefix.length);
    const slash = rest.indexOf('/');
    if (slash < 0) blobs.push({ name: rest, isTree: false, id });
    else folders.add(rest.slice(0, slash));
  }
  if (folder !== '' && blobs.length + folders.size === 0) return undefined;
  const trees = [...folders].map((name) => ({ name, isTree: true, id: treeId(files, prefix + name) }));
  const key = (entry: Entry) => Buffer.from(entry.isTree ? `${entry.name}/` : entry.name);
  return [...blobs, ...trees].sort((a, b) => Buffer.compare(key(a), key(b)));
}

/** Id of a folder's tree object. */
export function treeId(files: ReadonlyMap<string, string>, folder = ''): string {
  const parts = (entriesOf(files, folder) ?? []).flatMap(({ name, isTree, id }) => [
    Buffer.from(`${isTree ? '40000' : '100644'} ${name}\0`),
    Buffer.from(id, 'hex'),
  ]);
  return objectId('tree', Buffer.concat(parts));
}

function signed(role: string, { name, email, at }: Signature): string {
  return `${role} ${name} <${email}> ${at} +0000\n`;
}

/** Id of the object that an annotated tag is. */
export function tagId(tag: { name: string; sha: string; message: string }, tagger: Signature): string {
  return objectId(
    'tag',
    Buffer.from(`object ${tag.sha}\ntype commit\ntag ${tag.name}\n${signed('tagger', tagger)}\n${tag.message}\n`),
  );
}

export function commitId(commit: Omit<Commit, 'sha'>): string {
  const parents = commit.parents.map((parent) => `parent ${parent}\n`).join('');
  const text = `tree ${commit.tree}\n${parents}${signed('author', commit.author)}${signed('committer', commit.committer)}\n${commit.message}`;
  return objectId('commit', Buffer.from(text));
}
