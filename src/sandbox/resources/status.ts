import type { commitStatus as apiCommitStatus, combinedStatus as apiCombinedStatus } from '../../core/objects/git.js';
import { type Answer, created, notFound, ok, Refusal } from '../answer.js';
import { bind, field } from '../body.js';
import { resolveRef } from '../git/store.js';
import { doer, onRepository, type RepoCall } from '../guards.js';
import { shownTime, type View, type Shown } from '../render/view.js';
import { cut, listed, nullIfEmpty, readPage } from '../paging.js';
import type { Handlers } from '../handler.js';
import type { Repository, User, World } from '../world.js';
import { renderRepository, repoApiUrl } from './repository.js';
import type { CommitStatus } from '../entities/repository.js';
import { renderUser } from './owner-view.js';

/** An address below the host begins with a slash. */
type StatusWish = Pick<CommitStatus, 'sha' | 'context' | 'state' | 'description' | 'targetUrl'>;

/** Each call adds a row; the newest of a context counts. The word of the state is not checked. */
export function makeStatus(world: World, by: User, repo: Repository, wish: StatusWish): CommitStatus {
  const status: CommitStatus = {
    id: world.nextId('status'),
    repoId: repo.id,
    ...wish,
    creatorId: by.id,
    createdAt: world.now(),
    updatedAt: world.now(),
  };
  world.statuses.push(status);
  world.changed('status', status.id, 'created');
  world.happened(by, { kind: 'status.set', repo, status });
  return status;
}

/** The newest status of each context of a commit, oldest first. */
export function statusesOf(world: World, repo: Repository, sha: string): CommitStatus[] {
  const newest = new Map<string, CommitStatus>();
  for (const status of world.statuses)
    if (status.repoId === repo.id && status.sha === sha) newest.set(status.context, status);
  return [...newest.values()].sort((a, b) => Number(a.id - b.id));
}

function renderStatus(view: View, status: CommitStatus): Shown<typeof apiCommitStatus> {
  const repo = view.world.repo(status.repoId);
  const creator = view.world.owners.get(status.creatorId);
  return {
    id: status.id,
    status: status.state,
    target_url: status.targetUrl.startsWith('/') ? view.baseUrl + status.targetUrl : status.targetUrl,
    description: status.description,
    url: repoApiUrl(view, repo, `/statuses/${status.sha}`),
    context: status.context,
    creator: creator ? renderUser(view, creator, { asOther: true }) : null,
    created_at: shownTime(view, status.createdAt),
    updated_at: shownTime(view, status.updatedAt),
  };
}

const WORST_FIRST = ['error', 'failure', 'warning', 'pending', 'success'];

/** What the newest status of each context comes to. */
function combinedState({ profile }: View, statuses: readonly CommitStatus[]): string {
  return profile.repositories.unknownStatus === 'ignored'
    ? worstKnown(statuses.map((one) => one.state))
    : combined(statuses);
}

/** The worst of the known words; the first word if none is known. */
function worstKnown(states: readonly string[]): string {
  return WORST_FIRST.find((word) => states.includes(word)) ?? states[0] ?? '';
}

/** A word that nobody knows counts as pending. */
function combined(statuses: readonly CommitStatus[]): string {
  const states = statuses.map((one) => one.state);
  if (states.some((state) => state === 'error' || state === 'failure')) return 'failure';
  if (states.some((state) => !['success', 'warning', 'skipped'].includes(state))) return 'pending';
  if (states.includes('warning')) return 'warning';
  return states.includes('success') || states.length === 0 ? 'success' : 'skipped';
}

function renderCombined(
  view: View,
  repo: Repository,
  sha: string,
  statuses: readonly CommitStatus[],
): Shown<typeof apiCombinedStatus> {
  const url = repoApiUrl(view, repo, `/commits/${sha}`);
  return {
    state: statuses.length === 0 ? 'pending' : combinedState(view, statuses),
    sha,
    total_count: statuses.length,
    statuses: nullIfEmpty(statuses.map((one) => renderStatus(view, one))),
    repository: renderRepository(view, repo),
    commit_url: url,
    url: `${url}/status`,
  };
}

const NO_STATUS = { state: '', sha: '', total_count: 0, statuses: null, repository: null, commit_url: '', url: '' };

const fields = { context: field.text(), description: field.text(), state: field.text(), target_url: field.text() };

function shaOf(call: RepoCall, name: string): string | undefined {
  return resolveRef(call.repo.git, name)?.commit.sha;
}

function everyStatus(call: RepoCall): Answer {
  const sha = shaOf(call, call.params.ref ?? call.params.sha ?? '');
  if (sha === undefined) throw notFound();
  const all = call.world.statuses.filter((one) => one.repoId === call.repo.id && one.sha === sha).reverse();
  return listed(call, all, (one) => renderStatus(call.view, one), { link: true });
}

export const statusHandlers: Handlers = {
  /** Any name of a commit will do. */
  createStatus: onRepository({ units: ['repo.code'], level: 'write' }, (call) => {
    const { context, description = '', state = '', target_url = '' } = bind(call, fields);
    const sha = shaOf(call, call.params.sha ?? '');
    if (sha === undefined) throw new Refusal(call.profile.repositories.missingCommitStatus, 'object does not exist');
    const status = makeStatus(call.world, doer(call), call.repo, {
      sha,
      context: context || 'default',
      state,
      description,
      targetUrl: target_url,
    });
    return created(renderStatus(call.view, status));
  }),
  /** Every row, newest first. */
  listStatuses: onRepository({ units: ['repo.code'] }, everyStatus),
  listStatusesOfSha: onRepository({ units: ['repo.code'] }, everyStatus),
  getCombinedStatus: onRepository({ units: ['repo.code'] }, (call) => {
    const sha = shaOf(call, call.params.ref ?? '');
    if (sha === undefined) throw notFound();
    const all = statusesOf(call.world, call.repo, sha);
    const page = cut(all, readPage(call));
    if (page.length === 0 && call.profile.repositories.noStatus === 'blank') return ok(NO_STATUS);
    return ok(renderCombined(call.view, call.repo, sha, page), {
      'x-total-count': String(all.length),
    });
  }),
};
