import { defineAction, textOf, changed, conflict, there, toWrite, unchanged } from './define-action.js';
import { say } from './reasons.js';
import { flag, line, naming, optional, text } from './support/params.js';
import { orMissing, whereAllowed } from '../forge/forge-client.js';
import { ForgeError } from '../core/errors.js';
import { RIGHTS } from '../core/rights.js';

const params = {
  username: text('future owner: a user or an organization', {
    check: (name) => (/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name) ? null : 'is not a legal owner name'),
  }),
  name: text('name of the repository', {
    max: 100,
    check: (name) =>
      /^[A-Za-z0-9_.-]+$/.test(name) && !/^\.{1,2}$/.test(name)
        ? null
        : 'must be letters, digits, dots, dashes and underscores',
  }),
  private: optional(flag('private. Default: as the forge decides, not compared')),
  description: optional(line('description', { max: 2048 })),
  auto_init: optional(flag('with a first commit')),
  default_branch: optional(naming('branch', text('default branch'))),
  gitignores: optional(text('gitignore sets')),
  issue_labels: optional(text('label set')),
  license: optional(text('licence')),
  readme: optional(text('readme template')),
  template: optional(flag('a template for others')),
};

/** Clocks of forge and bot may differ by this much. */
const SKEW_MS = 120_000;

/** Owner and name, without regard to case, are the forge's own key; but the row comes before the storage and may be taken back. */
export const createRepoForUser = defineAction({
  name: 'repo.create_for_user',
  summary: 'Make sure a user or organization has a repository (administrator operation)',
  target: 'account',
  params,
  operations: ['adminCreateRepo'],
  whereOffered: ['getRepo'],
  looksBy: ['getRepo'],
  power: 'repo.create_for_user',
  right: RIGHTS.organizationOwner,
  naturalKey: 'name',
  itemBy: ['username', 'name'],
  keyOf: ({ username, name }) => `${textOf(username)}/${textOf(name)}`.toLowerCase(),
  object: () => null,
  names: () => [],
  raises: ['repository.created'],
  effect: { makesOnly: true, makesRepository: true },
  example: { username: 'ann', name: 'sandbox', private: true, auto_init: true, default_branch: 'main' },
  about: ({ username, name }) => ({ what: 'repository', name: `${username}/${name}` }),
  whenTaken: ({ username, name }) => say('found.taken', { what: 'repository', name: `${username}/${name}` }),

  look: ({ forge }, { username: owner, name: repo }) =>
    whereAllowed(forge.getRepo, async (get) => {
      try {
        return await orMissing(get({ owner, repo }));
      } catch (error) {
        // The redirect of an old name is not the repository.
        if (error instanceof ForgeError && error.kind === 'moved') return null;
        throw error;
      }
    }),

  compare({ wanted, seen, call, memory }) {
    const name = `${wanted.username}/${wanted.name}`;
    const about = { what: 'repository', name };
    if (!seen && memory) return unchanged(say('found.made-before', about), memory.detail);
    if (!seen) return toWrite(null, { makes: true });
    if (seen.full_name && seen.full_name.toLowerCase() !== name.toLowerCase())
      return conflict(say('found.elsewhere', { name: seen.full_name, asked: name }));
    const detail = seen.id ? { id: seen.id } : {};
    if (call) {
      if (Date.parse(seen.created_at ?? '') < call.firstSentAt.getTime() - SKEW_MS)
        return conflict(say('found.older', about));
      // A repository that has its first commit is not taken back any more.
      const isSure = wanted.auto_init === true && seen.empty === false;
      return there(say('found.since-call', about), { detail, ids: seen.id ? [seen.id] : [], isSure });
    }
    const differs = [
      wanted.private === undefined || (seen.private ?? false) === wanted.private ? '' : 'private',
      wanted.description === undefined || (seen.description ?? '') === wanted.description ? '' : 'description',
      wanted.template === undefined || (seen.template ?? false) === wanted.template ? '' : 'template',
    ].filter((field) => field !== '');
    if (differs.length > 0)
      return conflict(say('found.other', { ...about, differs: differs.join(', '), stays: 'compared' }));
    return there(say('found.there', about), { detail });
  },

  async write({ forge }, { username, ...body }) {
    const made = await forge.adminCreateRepo({ username, body });
    return changed(say('made.created', { what: 'repository', name: `${username}/${body.name}` }), {
      objectId: made.id,
    });
  },

  recover: {
    // The forge refuses a second one (409), and after an open call that refusal counts as ours.
    unread: 'refused-twice',
    matcher: {
      echoes: ['repository.created'],
      isEcho: ({ repo }, { params }) =>
        repo?.full_name.toLowerCase() === `${textOf(params['username'])}/${textOf(params['name'])}`.toLowerCase(),
      shownBy: ({ kind, repo }) =>
        kind === 'repository.created' && repo ? [{ username: repo.owner, name: repo.name }] : [],
      undoneBy: ({ kind, repo }) =>
        kind === 'repository.deleted' && repo ? [{ username: repo.owner, name: repo.name }] : [],
    },
  },
});
