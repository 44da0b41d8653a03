import { defineEnsuringAction, textOf, changed, conflict, unchanged, type Outcome } from './define-action.js';
import { say } from './reasons.js';
import { flag, line, naming, optional, text, type ParamsOf } from './support/params.js';
import { defineRecovery, done, resend, settledAs, type RecoveryFacts, type Verdict } from './support/recovery.js';
import { isRefused, orMissing, whereAllowed, type ForgeClient } from '../forge/forge-client.js';
import { ForgeError } from '../core/errors.js';
import type { Repository } from '../core/objects/repositories.js';
import { RIGHTS } from '../core/rights.js';

const params = {
  username: text({
    summary: 'future owner: a user or an organization',
    check: (name) => (/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name) ? null : 'is not a legal owner name'),
  }),
  name: text({
    summary: 'name of the repository',
    max: 100,
    check: (name) =>
      /^[A-Za-z0-9_.-]+$/.test(name) && !/^\.{1,2}$/.test(name)
        ? null
        : 'must be letters, digits, dots, dashes and underscores',
  }),
  private: optional(flag({ summary: 'private. Default: as the forge decides, not compared' })),
  description: optional(line({ summary: 'description', max: 2048 })),
  auto_init: optional(flag({ summary: 'with a first commit' })),
  default_branch: optional(naming('branch', text({ summary: 'default branch' }))),
  gitignores: optional(text({ summary: 'gitignore sets' })),
  issue_labels: optional(text({ summary: 'label set' })),
  license: optional(text({ summary: 'licence' })),
  readme: optional(text({ summary: 'readme template' })),
  template: optional(flag({ summary: 'a template for others' })),
};

/** Clocks of forge and bot may differ by this much. */
const SKEW_MS = 120_000;

interface WantedRepo {
  readonly username: string;
  readonly name: string;
  readonly auto_init?: boolean | undefined;
}

interface SeenRepo {
  readonly there: boolean;
  readonly fullName: string | null;
  readonly id: string | null;
  /** Milliseconds since 1970; null where the forge does not tell. */
  readonly createdAtMs: number | null;
  /** A repository that has its first commit is not taken back any more. */
  readonly hasCommits: boolean;
}

/** Owner and name are the forge's own key; but the row comes before the storage and may be taken back (reliability F5). */
const repoRecovery = defineRecovery<WantedRepo, SeenRepo>({
  reads: ['getRepo'],
  mayRead: [],
  settle: 'whole',
  told: {
    echoes: ['repository.created'],
    isEcho: ({ repo }, { params }) =>
      repo?.full_name.toLowerCase() === `${textOf(params['username'])}/${textOf(params['name'])}`.toLowerCase(),
    shownBy: ({ kind, repo }) =>
      kind === 'repository.created' && repo ? [{ username: repo.owner, name: repo.name }] : [],
    undoneBy: ({ kind, repo }) =>
      kind === 'repository.deleted' && repo ? [{ username: repo.owner, name: repo.name }] : [],
  },

  async read({ forge }, { username, name }) {
    const found = await whereAllowed(forge.getRepo, async (get) => {
      try {
        return await orMissing(get({ owner: username, repo: name }));
      } catch (error) {
        // The redirect of an old name is not the repository.
        if (error instanceof ForgeError && error.kind === 'moved') return null;
        throw error;
      }
    });
    if (found === undefined) return null;
    const createdAt = found?.created_at ? Date.parse(found.created_at) : NaN;
    return {
      there: found !== null,
      fullName: found?.full_name ?? null,
      id: found?.id ?? null,
      createdAtMs: Number.isNaN(createdAt) ? null : createdAt,
      hasCommits: found?.empty === false,
    };
  },

  decide: decideRepo,
});

export function decideRepo({ wanted, seen, firstSentAt }: RecoveryFacts<WantedRepo, SeenRepo>): Verdict {
  const full = `${wanted.username}/${wanted.name}`;
  const about = { what: 'repository', name: full };
  // The forge refuses a second one (409), and after an open call that refusal counts as ours.
  if (seen === null) return resend(say('found.unreadable', { ...about, then: 'refused-twice' }));
  if (!seen.there) return resend(say('found.absent', about));
  if (seen.fullName !== null && seen.fullName.toLowerCase() !== full.toLowerCase())
    return settledAs('conflict', say('found.elsewhere', { name: seen.fullName, asked: full }));
  if (seen.createdAtMs !== null && seen.createdAtMs < firstSentAt.getTime() - SKEW_MS)
    return settledAs('conflict', say('found.older', about));
  return done(say('found.since-call', about), {
    sure: wanted.auto_init === true && seen.hasCommits,
    objectId: seen.id,
    detail: seen.id === null ? {} : { id: seen.id },
  });
}

/** Owner and name, without regard to case, are the forge's own key. A redirect from an old name is not the repository. */
export const createRepoForUser = defineEnsuringAction({
  name: 'repo.create_for_user',
  summary: 'Make sure a user or organization has a repository (administrator operation)',
  target: 'account',
  params,
  operations: ['adminCreateRepo'],
  whereOffered: ['getRepo'],
  power: 'repo.create_for_user',
  right: RIGHTS.organizationOwner,
  naturalKey: 'name',
  itemBy: ['username', 'name'],
  keyOf: ({ username, name }) => `${textOf(username)}/${textOf(name)}`.toLowerCase(),
  object: () => null,
  names: () => [],
  raises: ['repository.created'],
  example: { username: 'ann', name: 'sandbox', private: true, auto_init: true, default_branch: 'main' },

  recover: repoRecovery,

  async ensure({ forge, recall, openCalls }, wanted) {
    const found = await find(forge.getRepo, wanted);
    if (found) return compare(found, wanted);
    const about = { what: 'repository', name: `${wanted.username}/${wanted.name}` };
    if (found === undefined) {
      const memory = await recall();
      if (memory) return unchanged(say('found.made-before', about), memory.detail);
    }
    const { username, ...body } = wanted;
    try {
      const made = await forge.adminCreateRepo({ username, body });
      return changed(say('made.created', about), { objectId: made.id });
    } catch (error) {
      if (!isRefused(error, 409)) throw error;
      const winner = await find(forge.getRepo, wanted);
      if (winner === undefined && openCalls > 0) return unchanged(say('found.answered-late', about));
      return winner ? compare(winner, wanted) : conflict(say('found.taken', about));
    }
  },
});

/** Undefined = cannot be read here; null = not there. */
async function find(
  getRepo: ForgeClient['getRepo'] | undefined,
  { username, name }: { username: string; name: string },
): Promise<Repository | null | undefined> {
  return whereAllowed(getRepo, async (get) => {
    try {
      return await orMissing(get({ owner: username, repo: name }));
    } catch (error) {
      if (error instanceof ForgeError && error.kind === 'moved') return null;
      throw error;
    }
  });
}

function compare(found: Repository, wanted: ParamsOf<typeof params>): Outcome {
  const full = `${wanted.username}/${wanted.name}`;
  if (found.full_name && found.full_name.toLowerCase() !== full.toLowerCase())
    return conflict(say('found.elsewhere', { name: found.full_name, asked: full }));
  const differences = [
    wanted.private === undefined || (found.private ?? false) === wanted.private ? '' : 'private',
    wanted.description === undefined || (found.description ?? '') === wanted.description ? '' : 'description',
    wanted.template === undefined || (found.template ?? false) === wanted.template ? '' : 'template',
  ].filter((field) => field !== '');
  const about = { what: 'repository', name: full };
  if (differences.length > 0)
    return conflict(say('found.other', { ...about, differs: differences.join(', '), stays: 'compared' }));
  return unchanged(say('found.there', about), found.id ? { id: found.id } : {});
}
