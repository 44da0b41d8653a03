import type { ForgeEvent } from '../core/event.js';
import { hashOf } from '../core/ids.js';
import { isJsonObject, type JsonObject } from '../core/json.js';
import type { Release } from '../core/objects/publishing.js';
import {
  askPerson,
  defineRecovery,
  done,
  placeOf,
  resend,
  settledAs,
  type RecoveryFacts,
  type Verdict,
} from './support/recovery.js';
import { normalizeLines } from './support/same.js';
import { orMissing, whereOffered } from './support/where-offered.js';

export const RELEASE_FIELDS = ['name', 'body', 'draft', 'prerelease', 'tag_name', 'target_commitish'] as const;
type Field = (typeof RELEASE_FIELDS)[number];

export interface WantedRelease {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly body?: string | undefined;
  readonly draft?: boolean | undefined;
  readonly prerelease?: boolean | undefined;
  readonly tag_name?: string | undefined;
  readonly target_commitish?: string | undefined;
}

export interface SeenRelease {
  readonly there: boolean;
  readonly draft: boolean;
  /** Hash of each field. */
  readonly fields: JsonObject;
}

/** The release has a number and its fields are absolute; but each edit of a published one tells people again (reliability F6). */
export const releaseRecovery = defineRecovery<WantedRelease, SeenRelease>({
  reads: ['getRelease'],
  mayRead: [],
  settle: 'whole',
  absolute: true,
  told: {
    shownBy: named,
    fits: (event, params) => differing(event, params).length === 0,
    undoneBy: named,
    slackMs: 10_000,
    isUndo: (event, params) => differing(event, params).length > 0,
  },

  async read({ forge, target, snapshot }, wanted) {
    const id = wanted.id ?? numberIn(snapshot);
    if (id === null) return null;
    const release = await whereOffered(forge.getRelease, (get) => orMissing(get({ ...placeOf(target), id })));
    if (release === undefined) return null;
    return {
      there: release !== null,
      draft: release?.draft ?? false,
      fields: release === null ? {} : releaseHashes(release),
    };
  },

  decide: decideRelease,
});

export function decideRelease({ wanted, snapshot, seen, sends }: RecoveryFacts<WantedRelease, SeenRelease>): Verdict {
  if (seen === null) {
    if (wanted.draft !== undefined && sends < 2)
      return resend('the release cannot be read; a draft may be changed once more without telling people twice');
    return askPerson('the release cannot be read, and changing a published one once more would tell people twice');
  }
  if (!seen.there) return settledAs('refused', 'the release is not there any more');
  const sent = fieldsSent(wanted, snapshot);
  const different = sent.filter((field) => seen.fields[field] !== hashOfField(wanted[field]));
  const detail = {};
  if (different.length === 0)
    return done(`release changed: ${sent.join(', ')}`, { objectId: wanted.id ?? numberIn(snapshot), detail });
  const before = isJsonObject(snapshot?.['before'] ?? null) ? (snapshot?.['before'] as JsonObject) : null;
  const third = before === null ? different : different.filter((field) => seen.fields[field] !== before[field]);
  // A half-done publish leaves the draft as it was (the tag is made first): the rest of the edit is sent again with it.
  if (wanted.draft === false && seen.draft && third.every((field) => field === 'draft'))
    return resend('the release is still a draft');
  if (third.length > 0)
    return settledAs('conflict', `somebody else changed ${third.join(', ')} of the release meanwhile`);
  return resend('the release is as before the call');
}

/** Deliveries alone tell a release with all its fields. */
function named({ kind, source, data }: ForgeEvent): JsonObject[] {
  const release = data['release'] ?? null;
  if (source !== 'webhook' || !isJsonObject(release) || (kind !== 'release.updated' && kind !== 'release.published'))
    return [];
  return [{ id: release['id'] ?? null }, { tag: release['tag_name'] ?? null }];
}

/** Wanted fields that the event tells otherwise. */
function differing({ data }: ForgeEvent, params: JsonObject): string[] {
  const release = data['release'] ?? null;
  if (!isJsonObject(release)) return [...RELEASE_FIELDS];
  return RELEASE_FIELDS.filter((field) => {
    const wanted = params[field] ?? null;
    return wanted !== null && hashOfField(wanted) !== hashOfField(release[field]);
  });
}

function fieldsSent(wanted: WantedRelease, snapshot: JsonObject | null): Field[] {
  const sent = snapshot?.['sent'];
  const names = Array.isArray(sent) ? sent : null;
  return RELEASE_FIELDS.filter((field) => wanted[field] !== undefined && (names === null || names.includes(field)));
}

function numberIn(snapshot: JsonObject | null): string | null {
  const id = snapshot?.['id'];
  return typeof id === 'string' ? id : null;
}

/** Texts may be long, and the journal keeps no copy of them: a hash tells whether they are the same. */
export function releaseHashes(release: Release): JsonObject {
  return Object.fromEntries(RELEASE_FIELDS.map((field) => [field, hashOfField(release[field])]));
}

function hashOfField(value: unknown): string {
  if (typeof value === 'boolean') return String(value);
  return hashOf(normalizeLines(typeof value === 'string' ? value : '')).slice(0, 32);
}
