import { countAlone, emptyOf, inBoth, nobodyNamed, wrongLogin } from './support/unfit.js';
import { say } from './reasons.js';
import { defineAction, textOf, changed, refused, there, toWrite, unchanged } from './define-action.js';
import { id, optional, type ParamsOf, texts, whole, referring } from './support/params.js';
import { isAbout, isSameLogin, pickByTurn } from './support/compare.js';
import { issue } from './support/objects.js';
import { orMissing } from '../forge/forge-client.js';
import type { Issue } from '../core/objects/tracker.js';
import { RIGHTS } from '../core/rights.js';

const params = {
  number: id('number of the issue or pull request'),
  add: referring('user', optional(texts('logins to assign', { max: 20 }))),
  remove: optional(texts('logins to unassign', { max: 20 })),
  one_of: referring('user', optional(texts('logins to choose from in turn, when nobody is assigned'))),
  count: optional(whole('how many of one_of. Default: 1', { min: 1, max: 10 })),
};

/** The whole list is written, since only the newest servers can add one; an unknown login would be a 500, so each is asked about first. */
export const assignIssue = defineAction({
  name: 'issue.assign',
  summary: 'Assign people to an issue or pull request, and unassign others',
  target: 'repository',
  params,
  operations: ['updateIssue', 'getIssue', 'listAssignees'],
  whereOffered: [],
  right: RIGHTS.tracker,
  naturalKey: 'number',
  keyOf: ({ number }) => `${textOf(number)} assignees`,
  object: ({ number }) => issue(number),
  names: () => [],
  overwrites: true,
  unfit: (inputs) => nobodyNamed(inputs, ['add', 'remove'], 'add: [LOGIN]'),
  unclear: (inputs) =>
    emptyOf(inputs, ['one_of', 'add', 'remove']) ??
    inBoth(inputs, 'add', 'remove') ??
    wrongLogin(inputs, ['add', 'remove', 'one_of']) ??
    countAlone(inputs),
  raises: ['issue.assigned', 'issue.unassigned', 'pull_request.assigned', 'pull_request.unassigned'],
  effect: { mayRaise: (kind, { remove }) => remove !== undefined || kind.endsWith('.assigned') },
  example: { number: '12', add: ['ann'] },
  about: ({ number }) => ({ what: 'assignees', number }),

  async look({ forge, place }, wanted) {
    const issue = await orMissing(forge.getIssue({ ...place, index: wanted.number }));
    const isAsked = issue !== null && goalOf(issue, wanted).added.length > 0;
    return { issue, able: isAsked ? await forge.listAssignees(place) : [] };
  },

  compare({ wanted, seen: { issue, able }, target, call }) {
    const { number } = wanted;
    if (issue === null) return refused(say('cannot.missing', { what: 'issue or pull request', number }));
    const { now, staying, added } = goalOf(issue, wanted);
    if (added.length === 0 && staying.length === now.length) {
      const people = say('made.assignees', { number, people: now });
      const goal = call?.snapshot?.['goal'];
      const isOurs = Array.isArray(goal) && goal.every((login) => isOneOf(now, String(login)));
      return call && !isOurs ? unchanged(people) : there(people);
    }
    const stranger = added.find(
      (login) =>
        !isOneOf(
          able.map((user) => user.login),
          login,
        ),
    );
    if (stranger !== undefined)
      return refused(say('cannot.assign', { login: stranger, repo: `${target.owner}/${target.name}` }));
    const goal = [...staying, ...added];
    return toWrite(goal, { remember: { goal } });
  },

  async write({ forge, place }, { number }, goal) {
    await forge.updateIssue({ ...place, index: number, body: { assignees: goal } });
    return changed(say('made.assignees', { number, people: goal }));
  },

  recover: {
    unread: 'harmless',
    matcher: {
      echoes: ['issue.assigned', 'issue.unassigned', 'pull_request.assigned', 'pull_request.unassigned'],
      isEcho: ({ kind, data }, { params }) =>
        isAbout(data, params) &&
        (kind.endsWith('.unassigned') ? ['remove'] : ['add', 'one_of']).some((name) => params[name] !== undefined),
    },
  },
});

/** Who stays, and who comes. */
function goalOf(
  issue: Issue,
  { number, add = [], remove = [], one_of: choices, count = 1 }: ParamsOf<typeof params>,
): { now: string[]; staying: string[]; added: string[] } {
  const now = (issue.assignees ?? []).map(({ login }) => login ?? '');
  const staying = now.filter((login) => !isOneOf(remove, login));
  const turn =
    choices !== undefined && now.length === 0 ? pickByTurn(choices, number, count, [issue.user?.login ?? '']) : [];
  return { now, staying, added: [...new Set([...add, ...turn])].filter((login) => !isOneOf(staying, login)) };
}

function isOneOf(logins: ReadonlyArray<string | null | undefined>, login: string): boolean {
  return logins.some((one) => isSameLogin(one, login));
}
