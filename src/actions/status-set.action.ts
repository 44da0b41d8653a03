import { defineEnsuringAction, textOf, changed, refused, unchanged } from './define-action.js';
import { say } from './reasons.js';
import { choice, line, optional, text } from './support/params.js';
import { readAll, orMissing, whereOffered } from '../forge/forge-client.js';
import { defineRecovery, done, placeOf, resend, type RecoveryFacts, type Verdict } from './support/recovery.js';
import type { JsonObject } from '../core/json.js';
import type { CommitStatus } from '../core/objects/git.js';
import { RIGHTS } from '../core/rights.js';

interface WantedStatus {
  readonly sha: string;
  readonly context: string;
  readonly state: string;
  readonly description?: string | undefined;
  readonly target_url?: string | undefined;
}

interface SeenStatus {
  readonly isSame: boolean;
}

/** The newest row of a context counts. */
function newestOf(statuses: readonly CommitStatus[], context: string): CommitStatus | undefined {
  return statuses
    .filter((status) => status.context === context)
    .sort((a, b) => Number(BigInt(b.id ?? '0') - BigInt(a.id ?? '0')))[0];
}

function isSameStatus(status: CommitStatus | undefined, wanted: WantedStatus): boolean {
  return (
    status !== undefined &&
    status.status === wanted.state &&
    (wanted.description === undefined || (status.description ?? '') === wanted.description) &&
    (wanted.target_url === undefined || (status.target_url ?? '') === wanted.target_url)
  );
}

/** Each call adds a row and only the newest counts: one row more of the same does no harm. */
const statusRecovery = defineRecovery<WantedStatus, SeenStatus>({
  reads: ['listStatuses'],
  mayRead: [],
  settle: 'whole',
  told: {
    echoes: ['status.set'],
    isEcho: ({ data }, { params }) => {
      const { context, state } = (data['status'] ?? {}) as JsonObject;
      return data['sha'] === params['sha'] && context === params['context'] && state === params['state'];
    },
  },

  async read({ forge, target }, wanted) {
    const rows = await whereOffered(forge.listStatuses, () =>
      orMissing(readAll(forge, 'listStatuses', { ...placeOf(target), ref: wanted.sha })),
    );
    return rows === undefined ? null : { isSame: isSameStatus(newestOf(rows ?? [], wanted.context), wanted) };
  },

  decide: decideStatus,
});

function decideStatus({ wanted: { context, state }, seen }: RecoveryFacts<WantedStatus, SeenStatus>): Verdict {
  const about = { what: 'status', name: context };
  if (seen === null) return resend(say('found.unreadable', { ...about, then: 'harmless' }));
  return seen.isSame ? done(say('found.state', { ...about, state })) : resend(say('found.not-yet', about));
}

/** A status of an unknown commit is a 500, and each call adds a row: the newest of the context is read first (api-behaviour 3.7). */
export const setStatus = defineEnsuringAction({
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
  itemBy: ['sha', 'context'],
  keyOf: ({ sha, context }) => `${textOf(sha)} ${textOf(context)}`,
  object: () => null,
  names: () => [],
  overwrites: true,
  raises: ['status.set'],
  example: { sha: '0123456789abcdef0123456789abcdef01234567', context: 'forgehand/title', state: 'success' },

  recover: statusRecovery,

  async ensure({ target, forge, remember }, wanted) {
    const place = { owner: target.owner, repo: target.name };
    const rows = await orMissing(readAll(forge, 'listStatuses', { ...place, ref: wanted.sha }));
    if (rows === null) return refused(say('cannot.missing', { what: 'commit', name: wanted.sha.slice(0, 10) }));
    const newest = newestOf(rows, wanted.context);
    const told = say('found.state', { what: 'status', name: wanted.context, state: wanted.state });
    if (isSameStatus(newest, wanted)) return unchanged(told);
    remember({ id: newest?.id ?? null });
    const { sha, ...body } = wanted;
    const made = await forge.createStatus({ ...place, sha, body });
    return changed(told, { objectId: made.id });
  },
});
