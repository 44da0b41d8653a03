import type { JsonObject } from '../../../src/core/json.js';
import type { Forge } from '../support/a-forge.js';

/** What the rules of test/fixtures/rules/distributed must have brought about in one repository. Names sorted; a double would stand there twice. */
export interface RepositoryState {
  labels: string[];
  /** Events by kind, as their witness labels tell. */
  witnessed: Record<string, number>;
  milestones: string[];
  mirrors: string[];
  branches: string[];
  releases: Record<string, string>;
}

export interface ForgeState {
  repositories: Record<string, RepositoryState>;
  variables: Record<string, string>;
}

/** A push to each, made when all before it is done: its variable must tell this one. */
export async function playLastPushes(forge: Forge, wanted: ForgeState): Promise<void> {
  for (const [repo, state] of Object.entries(wanted.repositories)) {
    const { after } = (await forge.act('push', { repo })) as { after: string };
    state.witnessed['push'] = (state.witnessed['push'] ?? 0) + 1;
    wanted.variables[`LAST_${repo.slice('acme/'.length).toUpperCase()}`] = after;
  }
}

/** Every effect of so many events of this kind is there, those about issue 1 among them. */
export type Answered = (repo: string, kind: string, events: number) => Promise<void>;

interface ActDone {
  /** Kinds of events it makes in the repository. */
  readonly kinds: readonly string[];
}

/**
 * Only acts that the feed tells too, so that the same script serves with and without webhooks.
 * @param answered is waited for before the next change of an issue, with the repository, and the kind and number of events that were told of it
 */
export async function playActs(
  forge: Forge,
  names: readonly string[],
  answered: Answered = async () => {},
): Promise<ForgeState> {
  const wanted: ForgeState = { repositories: {}, variables: {} };
  // In turns: acts on several repositories at once, as in life.
  await Promise.all(names.map((name) => playRepository(forge, name, wanted, answered)));
  return wanted;
}

async function playRepository(forge: Forge, name: string, wanted: ForgeState, answered: Answered): Promise<void> {
  const repo = `acme/${name}`;
  const state: RepositoryState = {
    labels: ['bug', 'feature', 'question'],
    witnessed: {},
    milestones: ['backlog'],
    mirrors: [`http://127.0.0.1:9418/${repo}.git`],
    branches: ['main'],
    releases: {},
  };
  wanted.repositories[repo] = state;
  const act = async (what: string, params: JsonObject, { kinds }: ActDone): Promise<unknown> => {
    const result = await forge.act(what, { repo, ...params });
    for (const kind of kinds) state.witnessed[kind] = (state.witnessed[kind] ?? 0) + 1;
    return result;
  };
  const mark = (number: number, kind: string): void => void state.labels.push(`#${number} ${kind}`);

  await act('repository.create', {}, { kinds: ['repository.created'] });
  for (const text of ['one', 'two', 'three']) {
    await act(
      'push',
      { commits: [{ message: `docs: ${text}`, files: { 'docs/a.md': `${text}\n` }, removed: [] }] },
      { kinds: ['push'] },
    );
  }
  await act('tag.create', { tag: 'v1.0.0' }, { kinds: ['push', 'tag.created'] });
  state.milestones.push('1.1');
  await act('release.publish', { tag: 'v1.0.0', name: 'first' }, { kinds: ['release.published'] });
  await act(
    'release.publish',
    { tag: 'v2.3.0', name: 'second', target: 'main' },
    { kinds: ['push', 'tag.created', 'release.published'] },
  );
  state.milestones.push('2.4');
  state.releases = { 'v1.0.0': 'Release v1.0.0', 'v2.3.0': 'Release v2.3.0' };
  await act('branch.create', { branch: 'feature/login' }, { kinds: ['branch.created', 'push'] });
  await act(
    'push',
    {
      branch: 'feature/login',
      commits: [{ message: 'feat: login', files: { 'login.ts': 'export {};\n' }, removed: [] }],
    },
    { kinds: ['push'] },
  );
  await act('branch.create', { branch: 'throw-away' }, { kinds: ['branch.created', 'push'] });
  await act('branch.delete', { branch: 'throw-away' }, { kinds: ['branch.deleted'] });
  for (const [index, title] of ['Crash on start', 'Crash at the end'].entries()) {
    await act('issue.open', { title }, { kinds: ['issue.opened'] });
    mark(index + 1, 'issue.opened');
  }
  await answered(repo, 'issue.opened', 2);
  await act('issue.close', { number: 1 }, { kinds: ['issue.closed'] });
  mark(1, 'issue.closed');
  await answered(repo, 'issue.closed', 1);
  await act('issue.reopen', { number: 1 }, { kinds: ['issue.reopened'] });
  mark(1, 'issue.reopened');
  await act('comment.create', { number: 2, body: 'me too' }, { kinds: ['comment.created'] });
  state.branches.push('feature/login', 'release/1.0', 'release/2.3');
  for (const list of [state.labels, state.milestones, state.branches]) list.sort();
}
