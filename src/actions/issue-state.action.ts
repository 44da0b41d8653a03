import { defineEnsuringAction, textOf, changed, refused, unchanged } from './define-action.js';
import { say } from './reasons.js';
import { choice, id, optional, time } from './support/params.js';
import {
  defineRecovery,
  done,
  placeOf,
  resend,
  settledAs,
  type RecoveryFacts,
  type Verdict,
} from './support/recovery.js';
import { isAbout } from './support/compare.js';
import { issue } from './support/objects.js';
import { isRefused, orMissing, whereOffered } from '../forge/forge-client.js';
import { RIGHTS } from '../core/rights.js';

interface WantedState {
  readonly number: string;
  readonly state: string;
}

interface SeenState {
  /** Null = it is gone. */
  readonly state: string | null;
}

/** One field of one issue, absolute. */
const issueStateRecovery = defineRecovery<WantedState, SeenState>({
  reads: ['getIssue'],
  mayRead: [],
  settle: 'whole',
  absolute: true,
  told: {
    echoes: ['issue.closed', 'issue.reopened', 'pull_request.closed', 'pull_request.reopened'],
    // What a commit or a merge closed was not closed by this call.
    isEcho: ({ kind, data }, { params }) =>
      isAbout(data, params) &&
      params['state'] === (kind.endsWith('.closed') ? 'closed' : 'open') &&
      textOf(data['commit_id']) === '',
  },

  async read({ forge, target }, { number }) {
    const issue = await whereOffered(forge.getIssue, (get) => orMissing(get({ ...placeOf(target), index: number })));
    return issue === undefined ? null : { state: issue?.state ?? null };
  },

  decide: decideIssueState,
});

function decideIssueState({ wanted: { number, state }, seen }: RecoveryFacts<WantedState, SeenState>): Verdict {
  const about = { what: 'issue', number };
  if (seen === null) return resend(say('found.unreadable', { ...about, then: 'harmless' }));
  if (seen.state === null) return settledAs('refused', say('found.gone', about));
  const told = say('found.state', { ...about, state: seen.state });
  return seen.state === state ? done(told) : resend(told);
}

/** `unchanged_since` holds it back where somebody did something after the rule looked: what was stale then may not be any more. */
export const setIssueState = defineEnsuringAction({
  name: 'issue.state',
  summary: 'Close an issue or pull request, or open it again',
  target: 'repository',
  params: {
    number: id({ summary: 'number of the issue or pull request' }),
    state: choice({ summary: 'open or closed', words: ['open', 'closed'] }),
    unchanged_since: optional(time({ summary: 'only if nothing has changed it since this time' })),
  },
  operations: ['updateIssue', 'getIssue'],
  whereOffered: [],
  right: RIGHTS.tracker,
  naturalKey: 'number',
  keyOf: ({ number }) => `${textOf(number)} state`,
  object: ({ number }) => issue(number),
  names: () => [],
  raises: ['issue.closed', 'issue.reopened', 'pull_request.closed', 'pull_request.reopened'],
  example: { number: '12', state: 'closed' },

  recover: issueStateRecovery,

  async ensure({ target, forge, remember }, { number, state, unchanged_since: since }) {
    const where = { owner: target.owner, repo: target.name, index: number };
    const issue = await orMissing(forge.getIssue(where));
    if (issue === null) return refused(say('cannot.missing', { what: 'issue or pull request', number }));
    const about = { what: 'issue', number };
    if (issue.state === state) return unchanged(say('found.state', { ...about, state }));
    if (since !== undefined && Date.parse(issue.updated_at ?? '') > Date.parse(since))
      return unchanged(say('found.touched', { number, at: issue.updated_at ?? '' }));
    if (issue.pull_request?.merged === true) return refused(say('found.state', { ...about, state: 'merged' }));
    remember({ state: issue.state ?? null });
    try {
      await forge.updateIssue({ ...where, body: { state } });
    } catch (error) {
      if (!isRefused(error, 412)) throw error;
      return refused(say('cannot.be', { number, state }));
    }
    return changed(say('found.state', { ...about, state }));
  },
});
