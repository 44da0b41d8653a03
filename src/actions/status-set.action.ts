import { RIGHTS } from '../core/rights.js';
import { defineAction, textOf } from './define-action.js';
import { isSameStatus, newestOf, statusRecovery } from './status-set.recovery.js';
import { changed, refused, unchanged } from './support/outcome.js';
import { choice, line, optional, text } from './support/params.js';
import { readAll } from './support/read-all.js';
import { orMissing } from './support/where-offered.js';

/** A status of an unknown commit is a 500, and each call adds a row: the newest of the context is read first (api-behaviour 3.7). */
export const setStatus = defineAction({
  name: 'status.set',
  summary: 'Set the status of a commit',
  target: 'repository',
  params: {
    sha: text({
      summary: 'full hash of the commit',
      check: (sha) => (/^[0-9a-f]{40}([0-9a-f]{24})?$/.test(sha) ? null : 'must be a whole commit id'),
    }),
    context: text({
      summary: 'subject of the status, such as ci/tests',
      max: 255,
      check: (context) => (context.trim() === '' ? 'must not be empty' : null),
    }),
    state: choice({
      summary: 'pending, success, error, failure, warning or skipped',
      words: ['pending', 'success', 'error', 'failure', 'warning', 'skipped'],
    }),
    description: optional(line({ summary: 'one line for people. Default: not compared', max: 1024 })),
    target_url: optional(
      text({
        summary: 'address to read on at',
        max: 2048,
        check: (url) => (/^https?:\/\//.test(url) && URL.canParse(url) ? null : 'must be an address (http or https)'),
      }),
    ),
  },
  operations: ['createStatus', 'listStatuses'],
  whereOffered: [],
  right: RIGHTS.code,
  naturalKey: 'context',
  keyOf: ({ sha, context }) => `${textOf(sha)} ${textOf(context)}`,
  overwrites: true,
  raises: ['status.set'],
  example: { sha: '0123456789abcdef0123456789abcdef01234567', context: 'forgehand/title', state: 'success' },

  recover: statusRecovery,

  async ensure({ target, forge, remember }, wanted) {
    const place = { owner: target.owner, repo: target.name };
    const rows = await orMissing(readAll(forge, 'listStatuses', { ...place, ref: wanted.sha }));
    if (rows === null) return refused(`there is no commit ${wanted.sha.slice(0, 10)}`);
    const newest = newestOf(rows, wanted.context);
    if (isSameStatus(newest, wanted)) return unchanged(`${wanted.context} is ${wanted.state}`);
    remember({ id: newest?.id ?? null });
    const { sha, ...body } = wanted;
    const made = await forge.createStatus({ ...place, sha, body });
    return changed(`${wanted.context}: ${wanted.state}`, { objectId: made.id });
  },
});
