import { noneOf, valueOf } from './support/unfit.js';
import { say } from './reasons.js';
import type { Unfit } from '../rules/language/catalogue.js';
import type { WrittenParams } from './define-action.js';
import { defineAction, textOf, changed, conflict, refused, there, toWrite } from './define-action.js';
import { flag, id, line, naming, optional, text } from './support/params.js';
import type { SentEffect } from './support/recovery.js';
import { normalizeLines, valuesOf } from './support/compare.js';
import { branch, ifNamed, release, tag } from './support/objects.js';
import { orMissing } from '../forge/forge-client.js';
import type { ForgeEvent } from '../core/event.js';
import { hashOf } from '../core/ids.js';
import { isJsonObject, type JsonObject } from '../core/json.js';
import type { Release } from '../core/objects/publishing.js';
import { RIGHTS } from '../core/rights.js';

const notEmpty = (value: string): string | null =>
  value === '' ? 'must not be empty (forges ignore empty texts: a release cannot be cleared)' : null;

const RELEASE = { what: 'release' };
const RELEASE_FIELDS = ['name', 'body', 'draft', 'prerelease', 'tag_name', 'target_commitish'] as const;

/** Only fields that differ are sent, because every edit of a published release tells people. */
export const updateRelease = defineAction({
  name: 'release.update',
  summary: 'Set fields of a release',
  target: 'repository',
  params: {
    id: optional(id('number of the release; or give tag')),
    tag: optional(naming('tag', text('tag of the release, when its number is unknown'))),
    name: optional(line('title', { max: 255, check: notEmpty })),
    body: optional(text('notes', { max: 1_000_000, check: notEmpty })),
    draft: optional(flag('draft; false publishes it')),
    prerelease: optional(flag('prerelease')),
    tag_name: optional(naming('tag', text('new tag', { check: notEmpty }))),
    target_commitish: optional(naming('branch', text('branch or commit for a new tag', { check: notEmpty }))),
  },
  operations: ['updateRelease'],
  whereOffered: ['getRelease', 'getReleaseByTag'],
  looksBy: ['getRelease', 'getReleaseByTag'],
  right: RIGHTS.releases,
  naturalKey: 'id',
  itemBy: ['id', 'tag'],
  keyOf: ({ id: number, tag }) => (textOf(number) === '' ? `tag ${textOf(tag)}` : textOf(number)),
  object: release,
  names: ({ tag: name, tag_name, target_commitish }) => [
    ...ifNamed(name, tag),
    ...ifNamed(tag_name, tag),
    ...ifNamed(target_commitish, branch),
  ],
  unfit,
  raises: ['release.updated', 'release.published'],
  effect: {
    // An edit of a published release may be told as published again; what waits for a release means its first time.
    isExpected: (kind, inputs) =>
      kind !== 'release.published' || (inputs['draft'] !== undefined && valueOf(inputs, 'draft') !== true),
    refs: { tag: 'tag' },
  },
  example: { id: '12', prerelease: false, body: 'What is new' },
  about: () => RELEASE,

  async look({ forge, place, call }, { id, tag = '' }) {
    const number = id ?? numberIn(call?.snapshot);
    const release = await orMissing(
      number === null ? forge.getReleaseByTag({ ...place, tag }) : forge.getRelease({ ...place, id: number }),
    );
    // Texts may be long: a hash tells whether they are the same.
    return release && { id: release.id ?? null, isDraft: release.draft ?? false, fields: releaseHashes(release) };
  },

  compare({ wanted, seen, call }) {
    if (seen === null) return refused(call ? say('found.gone', RELEASE) : say('cannot.missing', RELEASE));
    if (seen === undefined && wanted.id === undefined) return refused(say('cannot.find-by-tag'));
    const ofCall = call?.snapshot?.['sent'];
    const fields = RELEASE_FIELDS.filter(
      (field) => wanted[field] !== undefined && (!Array.isArray(ofCall) || ofCall.includes(field)),
    );
    const different = fields.filter((field) => seen?.fields[field] !== hashOfField(wanted[field]));
    const id = wanted.id ?? numberIn(call?.snapshot) ?? seen?.id;
    if (different.length === 0) return there(say('found.as-wanted', RELEASE), { ids: id ? [id] : [] });
    if (!id) return refused(say('cannot.number-release'));
    // A half-done publish leaves the draft as it was (the tag is made first): the rest of the edit is sent again with it.
    const isUnpublished = wanted.draft === false && seen?.isDraft === true && different.every((one) => one === 'draft');
    if (call && !isJsonObject(call.snapshot?.['before'] ?? null) && !isUnpublished)
      return conflict(say('found.changed-meanwhile', { ...RELEASE, differs: different }));
    const before = seen ? { before: valuesOf(different, seen.fields) } : {};
    return toWrite({ id, different }, { remember: { id, sent: [...different], ...before } });
  },

  async write({ forge, place }, wanted, { id, different }) {
    const body = Object.fromEntries(different.map((field) => [field, wanted[field]]));
    await forge.updateRelease({ ...place, id, body });
    return changed(say('made.changed', { ...RELEASE, differs: different.join(', ') }), { objectId: id });
  },

  recover: {
    absolute: true,
    unread: ({ draft }, { sends }) => (draft !== undefined && sends < 2 ? 'harmless-draft' : 'told-twice'),
    matcher: {
      echoes: ['release.updated', 'release.published'],
      isEcho: isOfRelease,
      shownBy: named,
      fits: (event, params) => differing(event, params).length === 0,
      undoneBy: named,
      slackMs: 10_000,
      isUndo: (event, params) => differing(event, params).length > 0,
    },
  },
});

function unfit(inputs: WrittenParams): Unfit | null {
  if (inputs['id'] === undefined && (inputs['tag'] === undefined || valueOf(inputs, 'tag') === ''))
    return { reason: say('params.no-release'), hint: 'tag: "${{ event.tag }}"' };
  return noneOf(inputs, RELEASE_FIELDS, 'draft: false');
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

function numberIn(snapshot: JsonObject | null | undefined): string | null {
  const id = snapshot?.['id'];
  return typeof id === 'string' ? id : null;
}

/** Texts may be long, and the journal keeps no copy of them: a hash tells whether they are the same. */
export function releaseHashes(release: Release): JsonObject {
  const plain = { ...release, draft: release.draft ?? false, prerelease: release.prerelease ?? false };
  return Object.fromEntries(RELEASE_FIELDS.map((field) => [field, hashOfField(plain[field])]));
}

function hashOfField(value: unknown): string {
  if (typeof value === 'boolean') return String(value);
  return hashOf(normalizeLines(typeof value === 'string' ? value : '')).slice(0, 32);
}
