import { countAlone, emptyOf, givenOf, nobodyNamed, textsOf, wrongLogin } from './support/unfit.js';
import { say } from './reasons.js';
import type { Unfit } from '../rules/language/revision.js';
import type { Given } from './define-action.js';
import { defineEnsuringAction, textOf, changed, refused, unchanged } from './define-action.js';
import { id, optional, texts, whole } from './support/params.js';
import { isAbout, isSameLogin, pickByTurn } from './support/compare.js';
import { readAll, orMissing, whereOffered } from '../forge/forge-client.js';
import {
  defineRecovery,
  done,
  placeOf,
  resend,
  settledAs,
  type RecoveryFacts,
  type Verdict,
} from './support/recovery.js';
import { issue } from './support/objects.js';
import { RIGHTS } from '../core/rights.js';

interface SeenRequests {
  /** Logins and team names that are asked, in lower case; null = it is gone. */
  readonly asked: readonly string[] | null;
}

/** Who is asked for a review can be read, and asking twice leaves one request. */
const requestReviewRecovery = defineRecovery<{ readonly number: string }, SeenRequests>({
  reads: ['getPull'],
  mayRead: [],
  settle: 'whole',
  told: {
    echoes: ['pull_request.review_requested'],
    isEcho: ({ data }, { params }) => isAbout(data, params),
  },

  async read({ forge, target }, { number }) {
    const pull = await whereOffered(forge.getPull, (get) => orMissing(get({ ...placeOf(target), index: number })));
    if (pull === undefined) return null;
    if (pull === null) return { asked: null };
    const names = [
      ...(pull.requested_reviewers ?? []).map(({ login }) => login ?? ''),
      ...(pull.requested_reviewers_teams ?? []).map(({ name }) => name ?? ''),
    ];
    return { asked: names.map((name) => name.toLowerCase()) };
  },

  decide: decideRequests,
});

export function decideRequests({
  wanted: { number },
  snapshot,
  seen,
}: RecoveryFacts<{ readonly number: string }, SeenRequests>): Verdict {
  const about = { what: 'pull request', number };
  if (seen === null) return resend(say('found.unreadable', { ...about, then: 'harmless' }));
  if (seen.asked === null) return settledAs('refused', say('found.gone', about));
  const goal = Array.isArray(snapshot?.['goal']) ? snapshot['goal'].map((name) => String(name).toLowerCase()) : null;
  return goal?.every((name) => seen.asked?.includes(name))
    ? done(say('made.asked', { number, people: goal }))
    : resend(say('found.not-yet', { what: 'reviewers', number }));
}

function unfit(given: Given): Unfit | null {
  return nobodyNamed(given, ['reviewers', 'teams'], 'reviewers: [LOGIN]');
}

function unclear(given: Given): Unfit | null {
  const team = ['reviewers', 'one_of'].find((name) => textsOf(given, name)?.some((login) => login.includes('/')));
  if (team !== undefined)
    return {
      reason: say('params.names-team', { param: team }),
      param: team,
      isValue: true,
      hint: 'teams: [NAME]',
    };
  const slash = textsOf(given, 'teams')?.find((name) => name.includes('/') || name.startsWith('@'));
  if (slash !== undefined)
    return {
      reason: say('params.no-name', { value: slash, what: 'name of a team' }),
      param: 'teams',
      isValue: true,
      hint: `without the organization: ${slash.split('/').at(-1)?.replace(/^@/, '') ?? ''}`,
    };
  return (
    emptyOf(given, ['one_of', 'reviewers', 'teams']) ?? wrongLogin(given, ['reviewers', 'one_of']) ?? countAlone(given)
  );
}

/** Whoever reviewed already is not asked again, the author never is. */
export const requestReview = defineEnsuringAction({
  name: 'pull_request.request_review',
  summary: 'Ask people or teams to review a pull request',
  target: 'repository',
  params: {
    number: id({ summary: 'number of the pull request' }),
    reviewers: optional(texts({ summary: 'logins', max: 20 })),
    teams: optional(texts({ summary: 'names of teams', max: 10 })),
    one_of: optional(texts({ summary: 'logins to choose from in turn, when nobody is asked and nobody has reviewed' })),
    count: optional(whole({ summary: 'how many of one_of. Default: 1', min: 1, max: 10 })),
  },
  operations: ['requestReviewers', 'getPull', 'listReviews'],
  whereOffered: [],
  right: RIGHTS.tracker,
  naturalKey: 'number',
  keyOf: ({ number }) => textOf(number),
  object: ({ number }) => issue(number),
  names: () => [],
  unfit: (given) => unfit(given) ?? unclear(given),
  raises: ['pull_request.review_requested'],
  example: { number: '12', one_of: ['ann', 'ben'] },

  recover: requestReviewRecovery,

  async ensure({ target, forge, remember }, { number, reviewers = [], teams = [], one_of: choices, count = 1 }) {
    const where = { owner: target.owner, repo: target.name, index: number };
    const wrong = unfit(givenOf({ reviewers, teams, one_of: choices }));
    if (wrong) return refused(wrong.reason);
    const pull = await orMissing(forge.getPull(where));
    if (pull === null) return refused(say('cannot.missing', { what: 'pull request', number }));
    if (pull.state !== 'open') return refused(say('found.state', { what: 'pull request', number, state: 'closed' }));
    const author = pull.user?.login ?? '';
    const reviewed = (await readAll(forge, 'listReviews', where))
      .flatMap(({ user }) => user?.login ?? [])
      .filter((login) => !isSameLogin(login, author));
    const busy = [...(pull.requested_reviewers ?? []).map(({ login }) => login ?? ''), ...reviewed];
    const turn = choices !== undefined && busy.length === 0 ? pickByTurn(choices, number, count, [author]) : [];
    const asked = [...new Set([...reviewers, ...turn])].filter(
      (login) => ![author, ...busy].some((other) => isSameLogin(other, login)),
    );
    const askedTeams = teams.filter(
      (name) => !pull.requested_reviewers_teams?.some((team) => isSameLogin(team.name, name)),
    );
    const goal = [...asked, ...askedTeams];
    if (goal.length === 0) return unchanged(say('found.asked', { number }));
    remember({ goal });
    await forge.requestReviewers({
      ...where,
      body: {
        ...(asked.length > 0 ? { reviewers: asked } : {}),
        ...(askedTeams.length > 0 ? { team_reviewers: askedTeams } : {}),
      },
    });
    return changed(say('made.asked', { number, people: goal }));
  },
});
