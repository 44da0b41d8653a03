import { countAlone, emptyOf, givenOf, inBoth, nobodyNamed, wrongLogin } from './support/unfit.js';
import { say } from './reasons.js';
import type { Unfit } from '../rules/language/revision.js';
import type { Given } from './define-action.js';
import { defineEnsuringAction, textOf, changed, refused, unchanged } from './define-action.js';
import { id, optional, texts, whole } from './support/params.js';
import { isAbout, isSameLogin, pickByTurn } from './support/compare.js';
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
import { orMissing, whereOffered } from '../forge/forge-client.js';
import { RIGHTS } from '../core/rights.js';

interface SeenAssignees {
  /** Logins in lower case; null = the issue is gone. */
  readonly logins: readonly string[] | null;
}

/** The whole list is one absolute value; what it was to be was remembered before the call. */
const issueAssignRecovery = defineRecovery<{ readonly number: string }, SeenAssignees>({
  reads: ['getIssue'],
  mayRead: [],
  settle: 'whole',
  told: {
    echoes: ['issue.assigned', 'issue.unassigned', 'pull_request.assigned', 'pull_request.unassigned'],
    isEcho: ({ kind, data }, { params }) =>
      isAbout(data, params) &&
      (kind.endsWith('.unassigned') ? ['remove'] : ['add', 'one_of']).some((name) => params[name] !== undefined),
  },

  async read({ forge, target }, { number }) {
    const issue = await whereOffered(forge.getIssue, (get) => orMissing(get({ ...placeOf(target), index: number })));
    return issue === undefined
      ? null
      : { logins: issue === null ? null : (issue.assignees ?? []).map(({ login }) => (login ?? '').toLowerCase()) };
  },

  decide: decideAssignees,
});

function decideAssignees({
  wanted: { number },
  snapshot,
  seen,
}: RecoveryFacts<{ readonly number: string }, SeenAssignees>): Verdict {
  const about = { what: 'assignees', number };
  if (seen === null) return resend(say('found.unreadable', { ...about, then: 'harmless' }));
  if (seen.logins === null) return settledAs('refused', say('found.gone', { what: 'issue', number }));
  const goal = Array.isArray(snapshot?.['goal']) ? snapshot['goal'].map((login) => String(login).toLowerCase()) : null;
  const isSame =
    goal !== null && goal.length === seen.logins.length && goal.every((login) => seen.logins?.includes(login));
  return isSame ? done(say('made.assignees', { number, people: goal })) : resend(say('found.not-yet', about));
}

function unfit(given: Given): Unfit | null {
  return nobodyNamed(given, ['add', 'remove'], 'add: [LOGIN]');
}

function unclear(given: Given): Unfit | null {
  return (
    emptyOf(given, ['one_of', 'add', 'remove']) ??
    inBoth(given, 'add', 'remove') ??
    wrongLogin(given, ['add', 'remove', 'one_of']) ??
    countAlone(given)
  );
}

/** The whole list is written, since only the newest servers can add one; an unknown login would be a 500, so each is asked about first. */
export const assignIssue = defineEnsuringAction({
  name: 'issue.assign',
  summary: 'Assign people to an issue or pull request, and unassign others',
  target: 'repository',
  params: {
    number: id({ summary: 'number of the issue or pull request' }),
    add: optional(texts({ summary: 'logins to assign', max: 20 })),
    remove: optional(texts({ summary: 'logins to unassign', max: 20 })),
    one_of: optional(texts({ summary: 'logins to choose from in turn, when nobody is assigned' })),
    count: optional(whole({ summary: 'how many of one_of. Default: 1', min: 1, max: 10 })),
  },
  operations: ['updateIssue', 'getIssue', 'listAssignees'],
  whereOffered: [],
  right: RIGHTS.tracker,
  naturalKey: 'number',
  keyOf: ({ number }) => `${textOf(number)} assignees`,
  object: ({ number }) => issue(number),
  names: () => [],
  overwrites: true,
  unfit: (given) => unfit(given) ?? unclear(given),
  raises: ['issue.assigned', 'issue.unassigned', 'pull_request.assigned', 'pull_request.unassigned'],
  example: { number: '12', add: ['ann'] },

  recover: issueAssignRecovery,

  async ensure({ target, forge, remember }, { number, add = [], remove = [], one_of: choices, count = 1 }) {
    const place = { owner: target.owner, repo: target.name };
    const wrong = unfit(givenOf({ add, remove, one_of: choices }));
    if (wrong) return refused(wrong.reason);
    const issue = await orMissing(forge.getIssue({ ...place, index: number }));
    if (issue === null) return refused(say('cannot.missing', { what: 'issue or pull request', number }));
    const now = (issue.assignees ?? []).map(({ login }) => login ?? '');
    const kept = now.filter((login) => !remove.some((other) => isSameLogin(other, login)));
    const turn =
      choices !== undefined && now.length === 0 ? pickByTurn(choices, number, count, [issue.user?.login ?? '']) : [];
    const added = [...new Set([...add, ...turn])].filter((login) => !kept.some((other) => isSameLogin(other, login)));
    if (added.length === 0 && kept.length === now.length)
      return unchanged(say('made.assignees', { number, people: now }));
    const able = added.length === 0 ? [] : await forge.listAssignees(place);
    const stranger = added.find((login) => !able.some((user) => isSameLogin(user.login, login)));
    if (stranger !== undefined)
      return refused(say('cannot.assign', { login: stranger, repo: `${target.owner}/${target.name}` }));
    const goal = [...kept, ...added];
    remember({ goal });
    await forge.updateIssue({ ...place, index: number, body: { assignees: goal } });
    return changed(say('made.assignees', { number, people: goal }));
  },
});
