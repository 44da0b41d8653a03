import { givenOf, noneOf, valueOf } from './support/unfit.js';
import { say } from './reasons.js';
import type { Unfit } from '../rules/language/revision.js';
import type { Given } from './define-action.js';
import { defineEnsuringAction, textOf, changed, refused, unchanged } from './define-action.js';
import { flag, id, line, naming, optional, text } from './support/params.js';
import {
  askPerson,
  defineRecovery,
  done,
  placeOf,
  resend,
  settledAs,
  type RecoveryFacts,
  type SentEffect,
  type Verdict,
} from './support/recovery.js';
import { normalizeLines } from './support/compare.js';
import { branch, given, release, tag } from './support/objects.js';
import { orMissing, whereOffered, type ForgeClient } from '../forge/forge-client.js';
import type { ForgeEvent } from '../core/event.js';
import { hashOf } from '../core/ids.js';
import { isJsonObject, type JsonObject } from '../core/json.js';
import type { Release } from '../core/objects/publishing.js';
import { RIGHTS } from '../core/rights.js';

const notEmpty = (value: string): string | null =>
  value === '' ? 'must not be empty (forges ignore empty texts: a release cannot be cleared)' : null;

const RELEASE = { what: 'release' };
const RELEASE_FIELDS = ['name', 'body', 'draft', 'prerelease', 'tag_name', 'target_commitish'] as const;
type Field = (typeof RELEASE_FIELDS)[number];

interface WantedRelease {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly body?: string | undefined;
  readonly draft?: boolean | undefined;
  readonly prerelease?: boolean | undefined;
  readonly tag_name?: string | undefined;
  readonly target_commitish?: string | undefined;
}

interface SeenRelease {
  readonly there: boolean;
  readonly draft: boolean;
  /** Hash of each field. */
  readonly fields: JsonObject;
}

/** The release has a number and its fields are absolute; but each edit of a published one tells people again (reliability F6). */
const releaseRecovery = defineRecovery<WantedRelease, SeenRelease>({
  reads: ['getRelease'],
  mayRead: [],
  settle: 'whole',
  absolute: true,
  told: {
    echoes: ['release.updated', 'release.published'],
    isEcho: isOfRelease,
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
      return resend(say('found.unreadable', { ...RELEASE, then: 'harmless-draft' }));
    return askPerson(say('found.unreadable', { ...RELEASE, then: 'told-twice' }));
  }
  if (!seen.there) return settledAs('refused', say('found.gone', RELEASE));
  const sent = fieldsSent(wanted, snapshot);
  const different = sent.filter((field) => seen.fields[field] !== hashOfField(wanted[field]));
  const detail = {};
  if (different.length === 0)
    return done(say('made.changed', { ...RELEASE, differs: sent.join(', ') }), {
      objectId: wanted.id ?? numberIn(snapshot),
      detail,
    });
  const before = isJsonObject(snapshot?.['before'] ?? null) ? (snapshot?.['before'] as JsonObject) : null;
  const third = before === null ? different : different.filter((field) => seen.fields[field] !== before[field]);
  // A half-done publish leaves the draft as it was (the tag is made first): the rest of the edit is sent again with it.
  if (wanted.draft === false && seen.draft && third.every((field) => field === 'draft'))
    return resend(say('found.state', { ...RELEASE, state: 'still a draft' }));
  if (third.length > 0) return settledAs('conflict', say('found.changed-meanwhile', { ...RELEASE, differs: third }));
  return resend(say('found.not-yet', RELEASE));
}

/** Deliveries alone tell a release with all its fields. */
function named({ kind, source, data }: ForgeEvent): JsonObject[] {
  const release = data['release'] ?? null;
  if (source !== 'webhook' || !isJsonObject(release) || (kind !== 'release.updated' && kind !== 'release.published'))
    return [];
  return [{ id: release['id'] ?? null }, { tag: release['tag_name'] ?? null }];
}

/** Rows of the feed tell the tag alone. */
function isOfRelease({ data }: ForgeEvent, { params, snapshot }: SentEffect): boolean {
  const release = data['release'] ?? null;
  const id = isJsonObject(release) ? textOf(release['id']) : '';
  const wanted = textOf(params['id']) || numberIn(snapshot);
  if (id !== '' && wanted !== null) return id === wanted;
  const tags = [params['tag_name'], params['tag']].map(textOf).filter((tag) => tag !== '');
  return tags.includes(textOf(data['tag']));
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

function unfit(given: Given): Unfit | null {
  if (given['id'] === undefined && (given['tag'] === undefined || valueOf(given, 'tag') === ''))
    return { reason: say('params.no-release'), hint: 'tag: "${{ event.tag }}"' };
  return noneOf(given, RELEASE_FIELDS, 'draft: false');
}

/** Only fields that differ are sent, because every edit of a published release tells people (reliability F6). */
export const updateRelease = defineEnsuringAction({
  name: 'release.update',
  summary: 'Set fields of a release',
  target: 'repository',
  params: {
    id: optional(id({ summary: 'number of the release; or give tag' })),
    tag: optional(naming('tag', text({ summary: 'tag of the release, when its number is unknown' }))),
    name: optional(line({ summary: 'title', max: 255, check: notEmpty })),
    body: optional(text({ summary: 'notes', max: 1_000_000, check: notEmpty })),
    draft: optional(flag({ summary: 'draft; false publishes it' })),
    prerelease: optional(flag({ summary: 'prerelease' })),
    tag_name: optional(naming('tag', text({ summary: 'new tag', check: notEmpty }))),
    target_commitish: optional(naming('branch', text({ summary: 'branch or commit for a new tag', check: notEmpty }))),
  },
  operations: ['updateRelease'],
  whereOffered: ['getRelease', 'getReleaseByTag'],
  right: RIGHTS.releases,
  naturalKey: 'id',
  itemBy: ['id', 'tag'],
  keyOf: ({ id: number, tag }) => (textOf(number) === '' ? `tag ${textOf(tag)}` : textOf(number)),
  object: release,
  names: ({ tag: name, tag_name, target_commitish }) => [
    ...given(name, tag),
    ...given(tag_name, tag),
    ...given(target_commitish, branch),
  ],
  unfit,
  raises: ['release.updated', 'release.published'],
  example: { id: '12', prerelease: false, body: 'What is new' },

  recover: releaseRecovery,

  async ensure({ target, forge, recall, remember }, wanted) {
    const given = RELEASE_FIELDS.filter((field) => wanted[field] !== undefined);
    const wrong = unfit(givenOf(wanted));
    if (wrong) return refused(wrong.reason);
    const where = { owner: target.owner, repo: target.name };
    const current = await find(forge, where, wanted);
    if (current === null) return refused(say('cannot.missing', RELEASE));
    if (current === undefined) {
      if (wanted.id === undefined) return refused(say('cannot.find-by-tag'));
      const memory = await recall();
      if (memory?.isSameWish) return unchanged(say('found.made-before', RELEASE), memory.detail);
    }
    const different = given.filter((field) => current === undefined || !isSame(current[field], wanted[field]));
    if (different.length === 0) return unchanged(say('found.as-wanted', RELEASE));
    const number = wanted.id ?? current?.id;
    if (!number) return refused(say('cannot.number-release'));
    remember({
      id: number,
      sent: [...different],
      ...(current === undefined ? {} : { before: releaseHashes(current) }),
    });
    await forge.updateRelease({
      ...where,
      id: number,
      body: Object.fromEntries(different.map((field) => [field, wanted[field]])),
    });
    return changed(say('made.changed', { ...RELEASE, differs: different.join(', ') }), { objectId: number });
  },
});

/** Undefined = cannot be read here; null = not there. */
async function find(
  forge: Partial<Pick<ForgeClient, 'getRelease' | 'getReleaseByTag'>>,
  where: { owner: string; repo: string },
  { id: number, tag }: { id?: string | undefined; tag?: string | undefined },
): Promise<Release | null | undefined> {
  if (number !== undefined) return whereOffered(forge.getRelease, (get) => orMissing(get({ ...where, id: number })));
  return whereOffered(forge.getReleaseByTag, (get) => orMissing(get({ ...where, tag: tag ?? '' })));
}

function isSame(current: unknown, wanted: string | boolean | undefined): boolean {
  if (typeof wanted === 'boolean') return (current ?? false) === wanted;
  return normalizeLines(textOf(current as string | null | undefined)) === normalizeLines(wanted ?? '');
}
