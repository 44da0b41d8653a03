import { RIGHTS } from '../core/rights.js';
import type { ForgeClient } from '../forge/forge-client.js';
import type { Release } from '../core/objects/publishing.js';
import { defineAction, textOf } from './define-action.js';
import { RELEASE_FIELDS as FIELDS, releaseHashes, releaseRecovery } from './release-update.recovery.js';
import { changed, refused, unchanged } from './support/outcome.js';
import { flag, id, line, optional, text } from './support/params.js';
import { normalizeLines } from './support/same.js';
import { orMissing, whereOffered } from './support/where-offered.js';

const notEmpty = (value: string): string | null =>
  value === '' ? 'must not be empty (forges ignore empty texts: a release cannot be cleared)' : null;

/** Only fields that differ are sent, because every edit of a published release tells people (reliability F6). */
export const updateRelease = defineAction({
  name: 'release.update',
  summary: 'Set fields of a release',
  target: 'repository',
  params: {
    id: optional(id({ summary: 'number of the release; or give tag' })),
    tag: optional(text({ summary: 'tag of the release, when its number is unknown' })),
    name: optional(line({ summary: 'title', max: 255, check: notEmpty })),
    body: optional(text({ summary: 'notes', max: 1_000_000, check: notEmpty })),
    draft: optional(flag({ summary: 'draft; false publishes it' })),
    prerelease: optional(flag({ summary: 'prerelease' })),
    tag_name: optional(text({ summary: 'new tag', check: notEmpty })),
    target_commitish: optional(text({ summary: 'branch or commit for a new tag', check: notEmpty })),
  },
  operations: ['updateRelease'],
  whereOffered: ['getRelease', 'getReleaseByTag'],
  right: RIGHTS.releases,
  naturalKey: 'id',
  keyOf: ({ id: number, tag }) => (textOf(number) === '' ? `tag ${textOf(tag)}` : textOf(number)),
  raises: ['release.updated', 'release.published'],
  example: { id: '12', prerelease: false, body: 'What is new' },

  recover: releaseRecovery,

  async ensure({ target, forge, recall, remember }, wanted) {
    const given = FIELDS.filter((field) => wanted[field] !== undefined);
    if (wanted.id === undefined && (wanted.tag ?? '') === '')
      return refused('neither id nor tag of the release is given');
    if (given.length === 0) return refused('no field is given that could be changed');
    const where = { owner: target.owner, repo: target.name };
    const current = await find(forge, where, wanted);
    if (current === null) return refused('there is no such release');
    if (current === undefined) {
      if (wanted.id === undefined) return refused('this forge offers no way to find a release by its tag');
      const memory = await recall();
      if (memory?.isSameWish)
        return unchanged('the release was changed so before (this forge offers no way to read it)', memory.detail);
    }
    const different = given.filter((field) => current === undefined || !isSame(current[field], wanted[field]));
    if (different.length === 0) return unchanged('the release is as wanted');
    const number = wanted.id ?? current?.id;
    if (!number) return refused('the forge tells no number of the release');
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
    return changed(`release changed: ${different.join(', ')}`, { objectId: number });
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
