import { readAll } from './support/read-all.js';
import { defineRecovery, done, placeOf, resend, type RecoveryFacts, type Verdict } from './support/recovery.js';
import { orMissing, whereOffered } from './support/where-offered.js';
import type { CommitStatus } from '../core/objects/git.js';

export interface WantedStatus {
  readonly sha: string;
  readonly context: string;
  readonly state: string;
  readonly description?: string | undefined;
  readonly target_url?: string | undefined;
}

export interface SeenStatus {
  readonly isSame: boolean;
}

/** The newest row of a context counts. */
export function newestOf(statuses: readonly CommitStatus[], context: string): CommitStatus | undefined {
  return statuses
    .filter((status) => status.context === context)
    .sort((a, b) => Number(BigInt(b.id ?? '0') - BigInt(a.id ?? '0')))[0];
}

export function isSameStatus(status: CommitStatus | undefined, wanted: WantedStatus): boolean {
  return (
    status !== undefined &&
    status.status === wanted.state &&
    (wanted.description === undefined || (status.description ?? '') === wanted.description) &&
    (wanted.target_url === undefined || (status.target_url ?? '') === wanted.target_url)
  );
}

/** Each call adds a row and only the newest counts: one row more of the same does no harm. */
export const statusRecovery = defineRecovery<WantedStatus, SeenStatus>({
  reads: ['listStatuses'],
  mayRead: [],
  settle: 'whole',

  async read({ forge, target }, wanted) {
    const rows = await whereOffered(forge.listStatuses, () =>
      orMissing(readAll(forge, 'listStatuses', { ...placeOf(target), ref: wanted.sha })),
    );
    return rows === undefined ? null : { isSame: isSameStatus(newestOf(rows ?? [], wanted.context), wanted) };
  },

  decide: decideStatus,
});

function decideStatus({ wanted: { context, state }, seen }: RecoveryFacts<WantedStatus, SeenStatus>): Verdict {
  if (seen === null) return resend(`statuses cannot be read; one row more of ${context} does no harm`);
  return seen.isSame ? done(`${context} is ${state}`) : resend(`${context} is not ${state}`);
}
