import {
  defineRecovery,
  done,
  placeOf,
  resend,
  settledAs,
  type RecoveryFacts,
  type Verdict,
} from './support/recovery.js';
import { orMissing, whereOffered } from './support/where-offered.js';

export interface WantedLabels {
  readonly number: string;
  readonly add?: readonly string[] | undefined;
  readonly remove?: readonly string[] | undefined;
  readonly set?: readonly string[] | undefined;
  readonly within?: string | undefined;
}

export interface SeenIssueLabels {
  /** Null = the issue is gone. */
  readonly names: readonly string[] | null;
}

/** Names that are to be on an issue which bears `now`; null = as it is. The order of `now` is kept. */
export function wantedNames(
  wanted: WantedLabels,
  now: readonly string[],
): { readonly names: readonly string[]; readonly added: readonly string[]; readonly removed: readonly string[] } {
  const add = [...new Set([...(wanted.set ?? []), ...(wanted.add ?? [])])];
  const isTaken = (name: string): boolean => {
    if (add.includes(name)) return false;
    if (wanted.set !== undefined || (wanted.remove ?? []).includes(name)) return true;
    return wanted.within !== undefined && name.startsWith(wanted.within);
  };
  const removed = [...new Set(now.filter(isTaken))];
  const added = add.filter((name) => !now.includes(name));
  return { names: [...now.filter((name) => !isTaken(name)), ...added], added, removed };
}

/** Which labels an issue bears can always be read, and putting one on twice leaves one. */
export const issueLabelRecovery = defineRecovery<WantedLabels, SeenIssueLabels>({
  reads: ['listIssueLabels'],
  mayRead: [],
  settle: 'whole',

  async read({ forge, target }, { number }) {
    const labels = await whereOffered(forge.listIssueLabels, (list) =>
      orMissing(list({ ...placeOf(target), index: number })),
    );
    return labels === undefined ? null : { names: labels === null ? null : labels.map(({ name }) => name ?? '') };
  },

  decide: decideIssueLabels,
});

function decideIssueLabels({ wanted, seen }: RecoveryFacts<WantedLabels, SeenIssueLabels>): Verdict {
  if (seen === null) return resend(`the labels of #${wanted.number} cannot be read; the same sent again does no harm`);
  if (seen.names === null) return settledAs('refused', `#${wanted.number} is not there any more`);
  const { added, removed } = wantedNames(wanted, seen.names);
  return added.length + removed.length === 0
    ? done(`#${wanted.number} bears the labels wanted`)
    : resend(`#${wanted.number} does not bear the labels wanted`);
}
