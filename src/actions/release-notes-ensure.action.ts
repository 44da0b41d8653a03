import { z } from 'zod';
import { say } from './reasons.js';
import { defineAction, textOf, changed, conflict, refused, there, toWrite } from './define-action.js';
import { flag, naming, optional, text, texts, type ActionParam } from './support/params.js';
import {
  MAX_CHANGES,
  previousTag,
  notesIn,
  renderNotes,
  withNotes,
  type MergedChange,
  type NoteGroup,
} from './support/release-notes.js';
import { readAll, orMissing, whereOffered, type ForgeClient } from '../forge/forge-client.js';
import { ifNamed, release, tag } from './support/objects.js';
import type { Reason } from '../core/reason.js';
import { hashOf } from '../core/ids.js';
import type { Release } from '../core/objects/publishing.js';
import type { Issue, Pull } from '../core/objects/tracker.js';
import { RIGHTS } from '../core/rights.js';

/** Clocks of those who commit and of the forge differ by less. */
const SLACK_MS = 86_400_000;

const GROUPS: readonly NoteGroup[] = [
  { title: 'Features', labels: ['kind/feature', 'feature', 'enhancement'] },
  { title: 'Fixes', labels: ['kind/bug', 'bug'] },
  { title: 'Documentation', labels: ['kind/docs', 'docs', 'documentation'] },
];

const name = z.string().min(1).max(255);
const groupList = z.array(
  z.strictObject(
    { title: name, labels: z.union([name.transform((label) => [label]), z.array(name)]) },
    'must be a list of {title, labels}',
  ),
  'must be a list of {title, labels}',
);
const groups: ActionParam<z.ZodType<readonly NoteGroup[]>> = {
  facts: {
    type: 'any',
    required: true,
    summary:
      'list of {title, labels}, the first that fits takes a change; features, fixes and documentation when left out',
  },
  schema: groupList as unknown as z.ZodType<readonly NoteGroup[]>,
};

interface SeenRelease {
  /** Null = there is none of this tag. */
  readonly release: Release | null;
  /** What was merged after `since`, or why that cannot be told; null = not asked for. */
  readonly merged: MergedChange[] | Reason | null;
  readonly since: string | null;
}

/**
 * What was merged is known by its commit: it belongs to a release when its merge commit lies between the last tag and this one. Only what
 * stands between our markers is ever changed.
 */
export const ensureReleaseNotes = defineAction({
  name: 'release_notes.ensure',
  summary: `Keep a list of the pull requests merged since the last tag in the notes of a release, grouped by label, between our markers. Of more than ${MAX_CHANGES} it lists the newest, and says how many came before`,
  target: 'repository',
  params: {
    tag: naming(
      'tag',
      text('tag of the release', { max: 255, check: (tag) => (tag.trim() === '' ? 'must not be empty' : null) }),
    ),
    since: optional(naming('tag', text('tag to start after. Default: the version before this one'))),
    groups: optional(groups),
    other: optional(text('title for changes of no group. Default: "Other changes"; empty leaves them out')),
    skip: optional(texts('labels of pull requests to leave out')),
    create: optional(flag('create a draft release when there is no release')),
  },
  operations: [
    'createRelease',
    'updateRelease',
    'getReleaseByTag',
    'listTags',
    'compareCommits',
    'listIssues',
    'getPull',
  ],
  whereOffered: ['getRepo', 'getPullOfCommit'],
  right: RIGHTS.releases,
  naturalKey: 'tag',
  keyOf: ({ tag }) => `notes of ${textOf(tag)}`,
  object: ({ tag: name }) => release({ tag: name ?? null }),
  names: ({ tag: name, since }) => [...ifNamed(name, tag), ...ifNamed(since, tag)],
  raises: ['release.updated'],
  example: { tag: 'v1.4.0', groups: [{ title: 'Fixes', labels: ['kind/bug'] }], skip: ['no-notes'] },
  about: ({ tag }) => ({ what: 'notes', name: tag }),

  async look({ forge, place, call }, wanted): Promise<SeenRelease> {
    const { tag } = wanted;
    const release = await orMissing(forge.getReleaseByTag({ ...place, tag }));
    const since = wanted.since ?? null;
    if (call || (release === null && wanted.create !== true) || notesIn(release?.body) === 'broken')
      return { release, merged: null, since };
    const tags = (await readAll(forge, 'listTags', place)).map(({ name, commit }) => ({
      name: name ?? '',
      createdAt: commit?.created ?? null,
    }));
    if (since !== null && !tags.some(({ name }) => name === since))
      return { release, merged: say('cannot.missing', { what: 'tag', name: since }), since };
    const start = since ?? previousTag(tag, tags);
    const isTagged = tags.some(({ name }) => name === tag);
    const head = isTagged ? tag : release?.target_commitish || (await forge.getRepo?.(place))?.default_branch || 'HEAD';
    return { release, merged: await mergedBetween(forge, place, start, head), since: start };
  },

  compare({ wanted, seen: { release, merged, since }, call }) {
    const { tag, other = 'Other changes', skip = [], groups = GROUPS } = wanted;
    const about = { what: 'notes', name: tag };
    const now = notesIn(release?.body);
    // What stands between our markers is ours alone: it is what was sent, or the next call writes it anew from what is there then.
    if (call && now !== null && hashOf(now) === call.snapshot?.['notes'])
      return there(say('found.as-wanted', about), { ids: release?.id ? [release.id] : [] });
    if (release === null && (call ? call.snapshot?.['creates'] : wanted.create) !== true)
      return refused(say('cannot.missing', { what: 'release', name: tag }));
    if (call) return toWrite({ release, notes: '', count: 0, since });
    if (now === 'broken') return conflict(say('cannot.mend-notes', { tag }));
    if (merged === null || 'code' in merged) return refused(merged ?? say('found.absent', about));
    const notes = renderNotes(merged, { groups, other, skip, since });
    if (now === notes || (now === null && merged.length === 0)) return there(say('found.as-wanted', about));
    const remember = { notes: hashOf(notes), creates: release === null };
    return toWrite({ release, notes, count: merged.length, since }, { remember });
  },

  async write({ forge, place }, { tag }, { release, notes, count, since }) {
    const summary = say('made.notes', { tag, count, since, draft: release === null });
    if (release !== null) {
      const id = release.id ?? '';
      await forge.updateRelease({ ...place, id, body: { body: withNotes(release.body, notes) } });
      return changed(summary, { objectId: id });
    }
    const made = await forge.createRelease({ ...place, body: { tag_name: tag, name: tag, body: notes, draft: true } });
    return changed(summary, { objectId: made.id });
  },

  recover: {
    unread: 'told-twice',
    matcher: {
      echoes: ['release.updated'],
      isEcho: ({ data }, { params, snapshot }) => {
        const notes = notesIn((data['release'] as Release | undefined)?.body);
        return data['tag'] === params['tag'] && notes !== null && hashOf(notes) === snapshot?.['notes'];
      },
    },
  },
});

type Reads = Pick<ForgeClient, 'compareCommits' | 'listIssues' | 'getPull'> &
  Partial<Pick<ForgeClient, 'getPullOfCommit'>>;

/** Pull requests whose merge commit came in between, or why that cannot be told. */
async function mergedBetween(
  forge: Reads,
  where: { owner: string; repo: string },
  since: string | null,
  head: string,
): Promise<MergedChange[] | Reason> {
  const commits = since === null ? null : await commitsBetween(forge, where, since, head);
  if (commits !== null && 'code' in commits) return commits;
  const oldest = commits === null ? null : Math.min(...commits.map(({ at }) => at));
  if (commits?.length === 0) return [];
  // The filter acts on the last change, which is never before the merge.
  const from = oldest === null || !Number.isFinite(oldest) ? {} : { since: new Date(oldest - SLACK_MS).toISOString() };
  const closed = await readAll(forge, 'listIssues', { ...where, state: 'closed', type: 'pulls', ...from });
  const merged = closed.filter(({ pull_request: pull }) => pull?.merged === true);
  if (commits === null) return merged.map(changeOf);
  if (commits.length < merged.length) {
    const pulls = await pullsOfCommits(forge, where, commits);
    if (pulls !== undefined) return pulls.map(changeOf);
  }
  const shas = new Set(commits.map(({ sha }) => sha));
  const changes: MergedChange[] = [];
  for (const issue of merged) {
    const { merge_commit_sha: sha } = await forge.getPull({ ...where, index: String(issue.number ?? 0) });
    if (shas.has(sha ?? '')) changes.push(changeOf(issue));
  }
  return changes;
}

/** Where the commits are fewer than the pull requests that may have made them; undefined = the forge cannot be asked so. */
async function pullsOfCommits(
  forge: Reads,
  where: { owner: string; repo: string },
  commits: ReadonlyArray<{ readonly sha: string }>,
): Promise<Pull[] | undefined> {
  return whereOffered(forge.getPullOfCommit, async (get) => {
    const pulls: Pull[] = [];
    for (const { sha } of commits) {
      const pull = await orMissing(get({ ...where, sha }));
      if (pull?.merged === true && pull.merge_commit_sha === sha) pulls.push(pull);
    }
    return pulls;
  });
}

function changeOf({ number, title, user, labels }: Pick<Issue, 'number' | 'title' | 'user' | 'labels'>): MergedChange {
  return {
    number: Number(number ?? 0),
    title: title ?? '',
    author: user?.login ?? '',
    labels: (labels ?? []).map((label) => label.name ?? ''),
  };
}

async function commitsBetween(
  forge: Reads,
  where: { owner: string; repo: string },
  since: string,
  head: string,
): Promise<Array<{ sha: string; at: number }> | Reason> {
  const compared = await orMissing(forge.compareCommits({ ...where, basehead: `${since}...${head}` }));
  if (compared === null) return say('cannot.compare', { since, head });
  const commits = (compared.commits ?? []).map((commit) => ({
    sha: commit.sha ?? '',
    at: Date.parse(commit.created ?? commit.commit?.committer?.date ?? ''),
  }));
  const total = Number(compared.total_commits ?? commits.length);
  return commits.length < total ? say('cannot.list-commits', { count: commits.length, total, since }) : commits;
}
