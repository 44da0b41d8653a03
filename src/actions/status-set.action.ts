import { defineAction, textOf, changed, refused, there, toWrite } from './define-action.js';
import { say } from './reasons.js';
import { commitId, choice, line, optional, text } from './support/params.js';
import { readAll, orMissing } from '../forge/forge-client.js';
import type { JsonObject } from '../core/json.js';
import { RIGHTS } from '../core/rights.js';

/** A status of an unknown commit is a 500, and each call adds a row: the newest of the context is read first. */
export const setStatus = defineAction({
  name: 'status.set',
  summary: 'Set the status of a commit',
  target: 'repository',
  params: {
    sha: commitId('full hash of the commit'),
    context: text('subject of the status, such as ci/tests', {
      max: 255,
      check: (context) => (context.trim() === '' ? 'must not be empty' : null),
    }),
    state: choice('pending, success, error, failure, warning or skipped', {
      words: ['pending', 'success', 'error', 'failure', 'warning', 'skipped'],
    }),
    description: optional(line('one line for people. Default: not compared', { max: 1024 })),
    target_url: optional(
      text('address to read on at', {
        max: 2048,
        check: (url) => (/^https?:\/\//.test(url) && URL.canParse(url) ? null : 'must be an address (http or https)'),
      }),
    ),
  },
  operations: ['createStatus', 'listStatuses'],
  whereOffered: [],
  right: RIGHTS.code,
  naturalKey: 'context',
  itemBy: ['sha', 'context'],
  keyOf: ({ sha, context }) => `${textOf(sha)} ${textOf(context)}`,
  object: () => null,
  names: () => [],
  overwrites: true,
  raises: ['status.set'],
  example: { sha: '0123456789abcdef0123456789abcdef01234567', context: 'forgehand/title', state: 'success' },
  about: ({ context }) => ({ what: 'status', name: context }),

  look: ({ forge, place }, { sha }) => orMissing(readAll(forge, 'listStatuses', { ...place, ref: sha })),

  compare({ wanted: { sha, context, state, description, target_url: address }, seen }) {
    if (seen === null) return refused(say('cannot.missing', { what: 'commit', name: sha.slice(0, 10) }));
    const [newest] = seen
      .filter((status) => status.context === context)
      .sort((a, b) => Number(BigInt(b.id ?? '0') - BigInt(a.id ?? '0')));
    const isSame =
      newest?.status === state &&
      (description === undefined || (newest.description ?? '') === description) &&
      (address === undefined || (newest.target_url ?? '') === address);
    if (isSame) return there(say('found.state', { what: 'status', name: context, state }));
    return toWrite(null, { remember: { id: newest?.id ?? null } });
  },

  async write({ forge, place }, { sha, ...body }) {
    const made = await forge.createStatus({ ...place, sha, body });
    return changed(say('found.state', { what: 'status', name: body.context, state: body.state }), {
      objectId: made.id,
    });
  },

  recover: {
    unread: 'harmless',
    matcher: {
      echoes: ['status.set'],
      isEcho: ({ data }, { params }) => {
        const { context, state } = (data['status'] ?? {}) as JsonObject;
        return data['sha'] === params['sha'] && context === params['context'] && state === params['state'];
      },
    },
  },
});
