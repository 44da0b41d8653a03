import type { CommitStatus, Repository } from '../world.js';
import { renderRepository, repoApiUrl } from './repository.js';
import { renderUser } from './user.js';
import type { View } from './view.js';
import { shownTime } from './view.js';

export function renderStatus(view: View, status: CommitStatus): object {
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
export function combinedState({ profile }: View, statuses: readonly CommitStatus[]): string {
  return profile.repositories.unknownStatus === 'ignored' ? worstKnown(statuses.map((one) => one.state)) : combined(statuses);
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

export function renderCombined(view: View, repo: Repository, sha: string, statuses: readonly CommitStatus[]): object {
  const url = repoApiUrl(view, repo, `/commits/${sha}`);
  return {
    state: statuses.length === 0 ? '' : combinedState(view, statuses),
    sha,
    total_count: statuses.length,
    statuses: statuses.map((one) => renderStatus(view, one)),
    repository: renderRepository(view, repo),
    commit_url: url,
    url: `${url}/status`,
  };
}
