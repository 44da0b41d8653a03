import { countAlone, emptyOf, nobodyNamed, textsOf, wrongLogin } from './support/unfit.js';
import { say } from './reasons.js';
import type { Unfit } from '../rules/language/catalogue.js';
import type { WrittenParams } from './define-action.js';
import { defineAction, textOf, changed, refused, there, toWrite } from './define-action.js';
import { id, optional, texts, whole, referring } from './support/params.js';
import { isAbout, isSameLogin, pickByTurn } from './support/compare.js';
import { readAll, orMissing } from '../forge/forge-client.js';
import { issue } from './support/objects.js';
import { RIGHTS } from '../core/rights.js';

function unclear(inputs: WrittenParams): Unfit | null {
  const team = ['reviewers', 'one_of'].find((name) => textsOf(inputs, name)?.some((login) => login.includes('/')));
  if (team !== undefined)
    return {
      reason: say('params.names-team', { param: team }),
      param: team,
      isValue: true,
      hint: 'teams: [NAME]',
    };
  const slash = textsOf(inputs, 'teams')?.find((name) => name.includes('/') || name.startsWith('@'));
  if (slash !== undefined)
    return {
      reason: say('params.no-name', { value: slash, what: 'name of a team' }),
      param: 'teams',
      isValue: true,
      hint: `without the organization: ${slash.split('/').at(-1)?.replace(/^@/, '') ?? ''}`,
    };
  return (
    emptyOf(inputs, ['one_of', 'reviewers', 'teams']) ??
    wrongLogin(inputs, ['reviewers', 'one_of']) ??
    countAlone(inputs)
  );
}

/** Whoever reviewed already is not asked again, the author never is. */
export const requestReview = defineAction({
  name: 'pull_request.request_review',
  summary: 'Ask people or teams to review a pull request',
  target: 'repository',
  params: {
    number: id('number of the pull request'),
    reviewers: referring('user', optional(texts('logins', { max: 20 }))),
    teams: referring('team', optional(texts('names of teams', { max: 10 }))),
    one_of: referring(
      'user',
      optional(texts('logins to choose from in turn, when nobody is asked and nobody has reviewed')),
    ),
    count: optional(whole('how many of one_of. Default: 1', { min: 1, max: 10 })),
  },
  operations: ['requestReviewers', 'getPull', 'listReviews'],
  whereOffered: [],
  right: RIGHTS.tracker,
  naturalKey: 'number',
  keyOf: ({ number }) => textOf(number),
  object: ({ number }) => issue(number),
  names: () => [],
  unfit: (inputs) => nobodyNamed(inputs, ['reviewers', 'teams'], 'reviewers: [LOGIN]'),
  unclear,
  raises: ['pull_request.review_requested'],
  example: { number: '12', one_of: ['ann', 'ben'] },
  about: ({ number }) => ({ what: 'pull request', number }),

  async look({ forge, place, call }, { number }) {
    const pull = await orMissing(forge.getPull({ ...place, index: number }));
    const isRead = pull?.state === 'open' && call === null;
    return { pull, reviews: isRead ? await readAll(forge, 'listReviews', { ...place, index: number }) : [] };
  },

  compare({
    wanted: { number, reviewers = [], teams = [], one_of: choices, count = 1 },
    seen: { pull, reviews },
    call,
  }) {
    if (pull === null) return refused(say('cannot.missing', { what: 'pull request', number }));
    const people = (pull.requested_reviewers ?? []).map(({ login }) => login ?? '');
    const groups = (pull.requested_reviewers_teams ?? []).map(({ name }) => name ?? '');
    const isIn = (names: readonly string[], name: string): boolean => names.some((one) => isSameLogin(one, name));
    if (call) {
      const goal = call.snapshot?.['goal'];
      const isAsked = Array.isArray(goal) && goal.every((name) => isIn([...people, ...groups], String(name)));
      return isAsked
        ? there(say('made.asked', { number, people: goal.map(String) }))
        : toWrite({ reviewers: [], teams: [] });
    }
    if (pull.state !== 'open') return refused(say('found.state', { what: 'pull request', number, state: 'closed' }));
    const author = pull.user?.login ?? '';
    const pastReviewers = reviews
      .flatMap(({ user }) => user?.login ?? [])
      .filter((login) => !isSameLogin(login, author));
    const busy = [...people, ...pastReviewers];
    const turn = choices !== undefined && busy.length === 0 ? pickByTurn(choices, number, count, [author]) : [];
    const missing = {
      reviewers: [...new Set([...reviewers, ...turn])].filter((login) => !isIn([author, ...busy], login)),
      teams: teams.filter((name) => !isIn(groups, name)),
    };
    const goal = [...missing.reviewers, ...missing.teams];
    return goal.length === 0 ? there(say('found.asked', { number })) : toWrite(missing, { remember: { goal } });
  },

  async write({ forge, place }, { number }, { reviewers, teams }) {
    const body = {
      ...(reviewers.length > 0 ? { reviewers } : {}),
      ...(teams.length > 0 ? { team_reviewers: teams } : {}),
    };
    await forge.requestReviewers({ ...place, index: number, body });
    return changed(say('made.asked', { number, people: [...reviewers, ...teams] }));
  },

  recover: {
    unread: 'harmless',
    matcher: { echoes: ['pull_request.review_requested'], isEcho: ({ data }, { params }) => isAbout(data, params) },
  },
});
