import { hash } from 'node:crypto';
import { v7 } from 'uuid';

/** Ids are made by us, before the write, so that a commit with an unknown outcome can be read back by id. Sortable by time. */
export function newId(): string {
  return v7();
}

/** When an id was made: milliseconds since 1970; null where it is none of ours. */
export function madeAtMs(id: string): number | null {
  const match = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(id);
  return match ? parseInt(`${match[1]}${match[2]}`, 16) : null;
}

/** Comes before every id that is made from this moment on, and after all that were made before it. */
export function firstIdAt(at: Date): string {
  const digits = at.getTime().toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}

/** Of one state of an organization's rule files: the same in every process, store and output. */
export function revisionId(org: string, filesHash: string): string {
  return hashOf(org, filesHash).slice(0, 32);
}

/** As much of a revision's id as people read and type. */
export function shortRevision(id: string): string {
  return id.slice(0, 12);
}

/** SHA-256 hex over the parts, with an unambiguous separator. */
export function hashOf(...parts: readonly string[]): string {
  let text = '';
  for (const part of parts) text += `${Buffer.byteLength(part)}:${part}`;
  return hash('sha256', text, 'hex');
}

/** Whether a field of this name is an id of the forge: a text to us. */
export function isIdKey(key: string): boolean {
  return key === 'id' || key.endsWith('_id');
}
