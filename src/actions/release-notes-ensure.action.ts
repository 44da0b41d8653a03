import { z } from 'zod';
import { say } from './reasons.js';
import { defineEnsuringAction, textOf, changed, conflict, refused, unchanged } from './define-action.js';
import { flag, naming, optional, text, texts, type ActionParam } from './support/params.js';
import {
  previousTag,
  notesIn,
  renderNotes,
  withNotes,
  type MergedChange,
  type NoteGroup,
} from './support/release-notes.js';
import { readAll, orMissing, whereOffered, type ForgeClient } from '../forge/forge-client.js';
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
import { given, release, tag } from './support/objects.js';
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

interface SeenNotes {
  /** Null = there is no such release. */
  readonly id: string | null;
  /** Hash of what stands between our markers; null = nothing. */
  readonly notes: string | null;
}

/** What stands between our markers is ours alone: it is what was sent, or the next call writes it anew from what is there then. */
const releaseNotesRecovery = defineRecovery<{ readonly tag: string }, SeenNotes>({
  reads: ['getReleaseByTag'],
  mayRead: [],
  settle: 'whole',
  told: {
    echoes: ['release.updated'],
    isEcho: ({ data }, { params, snapshot }) => {
      const notes = notesIn((data['release'] as Release | undefined)?.body);
      return data['tag'] === params['tag'] && notes !== null && hashOf(notes) === snapshot?.['notes'];
    },
  },

  async read({ forge, target }, { tag }) {
    const release = await whereOffered(forge.getReleaseByTag, (get) => orMissing(get({ ...placeOf(target), tag })));
    if (release === undefined) return null;
    const notes = notesIn(release?.body);
    return { id: release?.id ?? null, notes: notes === null ? null : hashOf(notes) };
  },

  decide: decideNotes,
});

function decideNotes({ wanted: { tag }, snapshot, seen }: RecoveryFacts<{ readonly tag: string }, SeenNotes>): Verdict {
  const about = { what: 'notes', name: tag };
  if (seen === null) return askPerson(say('found.unreadable', { ...about, then: 'told-twice' }));
  if (seen.notes !== null && seen.notes === snapshot?.['notes'])
    return done(say('found.as-wanted', about), { objectId: seen.id });
  if (seen.id === null && snapshot?.['creates'] !== true)
    return settledAs('refused', say('found.gone', { what: 'release', name: tag }));
  return resend(say('found.not-yet', about));
}

/**
 * What was merged is known by its commit: it belongs to a release when its merge commit lies between the last tag and this one. Only what
 * stands between our markers is ever changed.
 */
export const ensureReleaseNotes = defineEnsuringAction({
  name: 'release_notes.ensure',
  summary:
    'Keep a list of the pull requests merged since the last tag in the notes of a release, grouped by label, between our markers',
  target: 'repository',
  params: {
    tag: naming(
      'tag',
      text({
        summary: 'tag of the release',
        max: 255,
        check: (tag) => (tag.trim() === '' ? 'must not be empty' : null),
      }),
    ),
    since: optional(naming('tag', text({ summary: 'tag to start after. Default: the version before this one' }))),
    groups: optional(groups),
    other: optional(
      text({ summary: 'title for changes of no group. Default: "Other changes"; empty leaves them out' }),
    ),
    skip: optional(texts({ summary: 'labels of pull requests to leave out' })),
    create: optional(flag({ summary: 'create a draft release when there is no release' })),
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
  names: ({ tag: name, since }) => [...given(name, tag), ...given(since, tag)],
  raises: ['release.updated'],
  example: { tag: 'v1.4.0', groups: [{ title: 'Fixes', labels: ['kind/bug'] }], skip: ['no-notes'] },

  recover: releaseNotesRecovery,

  async ensure({ target, forge, remember }, wanted) {
    const where = { owner: target.owner, repo: target.name };
    const { tag, other = 'Other changes', skip = [] } = wanted;
    const release = await orMissing(forge.getReleaseByTag({ ...where, tag }));
    if (release === null && wanted.create !== true)
      return refused(say('cannot.missing', { what: 'release', name: tag }));
    const there = notesIn(release?.body);
    if (there === 'broken') return conflict(say('cannot.mend-notes', { tag }));
    const tags = (await readAll(forge, 'listTags', where)).map((one) => ({
      name: one.name ?? '',
      createdAt: one.commit?.created ?? null,
    }));
    if (wanted.since !== undefined && !tags.some((one) => one.name === wanted.since))
      return refused(say('cannot.missing', { what: 'tag', name: wanted.since }));
    const since = wanted.since ?? previousTag(tag, tags);
    const isTagged = tags.some((one) => one.name === tag);
    const head = isTagged ? tag : release?.target_commitish || (await forge.getRepo?.(where))?.default_branch || 'HEAD';
    const merged = await mergedBetween(forge, where, since, head);
    if ('code' in merged) return refused(merged);
    const notes = renderNotes(merged, { groups: wanted.groups ?? GROUPS, other, skip, since });
    if (there === notes || (there === null && merged.length === 0))
      return unchanged(say('found.as-wanted', { what: 'notes', name: tag }));
    const told = say('made.notes', { tag, count: merged.length, since, draft: release === null });
    remember({ notes: hashOf(notes), creates: release === null });
    if (release !== null) {
      await forge.updateRelease({ ...where, id: release.id ?? '', body: { body: withNotes(release.body, notes) } });
      return changed(told, { objectId: release.id });
    }
    const made = await forge.createRelease({ ...where, body: { tag_name: tag, name: tag, body: notes, draft: true } });
    return changed(told, { objectId: made.id });
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
    const found = await pullsOfCommits(forge, where, commits);
    if (found !== undefined) return found.map(changeOf);
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
    const found: Pull[] = [];
    for (const { sha } of commits) {
      const pull = await orMissing(get({ ...where, sha }));
      if (pull?.merged === true && pull.merge_commit_sha === sha) found.push(pull);
    }
    return found;
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
