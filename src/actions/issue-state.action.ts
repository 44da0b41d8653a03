import { defineAction, textOf, changed, refused, there, toWrite, unchanged } from './define-action.js';
import { say } from './reasons.js';
import { choice, id, optional, time } from './support/params.js';
import { isAbout } from './support/compare.js';
import { valueOf } from './support/unfit.js';
import { issue } from './support/objects.js';
import { isRefused, orMissing } from '../forge/forge-client.js';
import { RIGHTS } from '../core/rights.js';

/** `unchanged_since` holds it back where somebody did something after the rule looked: what was stale then may not be any more. */
export const setIssueState = defineAction({
  name: 'issue.state',
  summary: 'Close an issue or pull request, or open it again',
  target: 'repository',
  params: {
    number: id('number of the issue or pull request'),
    state: choice('open or closed', { words: ['open', 'closed'] }),
    unchanged_since: optional(time('only if nothing has changed it since this time')),
  },
  operations: ['updateIssue', 'getIssue'],
  whereOffered: [],
  right: RIGHTS.tracker,
  naturalKey: 'number',
  keyOf: ({ number }) => `${textOf(number)} state`,
  object: ({ number }) => issue(number),
  names: () => [],
  raises: ['issue.closed', 'issue.reopened', 'pull_request.closed', 'pull_request.reopened'],
  effect: {
    mayRaise: (kind, inputs) => {
      const state = valueOf(inputs, 'state');
      return (state !== 'open' && kind.endsWith('.closed')) || (state !== 'closed' && kind.endsWith('.reopened'));
    },
  },
  example: { number: '12', state: 'closed' },
  about: ({ number }) => ({ what: 'issue', number }),

  look: ({ forge, place }, { number }) => orMissing(forge.getIssue({ ...place, index: number })),

  compare({ wanted: { number, state, unchanged_since: since }, seen: issue }) {
    if (issue === null) return refused(say('cannot.missing', { what: 'issue or pull request', number }));
    const about = { what: 'issue', number };
    if (issue.state === state) return there(say('found.state', { ...about, state }));
    if (since !== undefined && Date.parse(issue.updated_at ?? '') > Date.parse(since))
      return unchanged(say('found.touched', { number, at: issue.updated_at ?? '' }));
    if (issue.pull_request?.merged === true) return refused(say('found.state', { ...about, state: 'merged' }));
    return toWrite(state, { remember: { state: issue.state ?? null } });
  },

  async write({ forge, place }, { number }, state) {
    try {
      await forge.updateIssue({ ...place, index: number, body: { state } });
    } catch (error) {
      if (!isRefused(error, 412)) throw error;
      return refused(say('cannot.be', { number, state }));
    }
    return changed(say('found.state', { what: 'issue', number, state }));
  },

  recover: {
    unread: 'harmless',
    absolute: true,
    matcher: {
      echoes: ['issue.closed', 'issue.reopened', 'pull_request.closed', 'pull_request.reopened'],
      // What a commit or a merge closed was not closed by this call.
      isEcho: ({ kind, data }, { params }) =>
        isAbout(data, params) &&
        params['state'] === (kind.endsWith('.closed') ? 'closed' : 'open') &&
        textOf(data['commit_id']) === '',
    },
  },
});
