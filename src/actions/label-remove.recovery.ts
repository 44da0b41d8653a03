import { readAll } from './support/read-all.js';
import {
  askPerson,
  defineRecovery,
  done,
  placeOf,
  resend,
  type RecoveryFacts,
  type Verdict,
} from './support/recovery.js';
import { whereOffered } from './support/where-offered.js';

/** Whether one of the name is there; taking away what is away already does no harm, so it is looked at once more before a further call. */
export const labelRemoval = defineRecovery<{ readonly name: string }, boolean>({
  reads: ['listLabels'],
  mayRead: [],
  settle: 'whole',

  async read({ forge, target }, { name }) {
    const labels = await whereOffered(forge.listLabels, () => readAll(forge, 'listLabels', placeOf(target)));
    return labels === undefined ? null : labels.some((label) => label.name?.trim() === name.trim());
  },

  decide: ({ wanted, seen }) => decideRemoval('label', wanted.name.trim(), { seen }),
});

export function decideRemoval(
  what: string,
  name: string,
  { seen }: Pick<RecoveryFacts<unknown, boolean>, 'seen'>,
): Verdict {
  if (seen === null) return askPerson(`this forge lists no ${what}s`);
  return seen ? resend(`${what} ${name} is there still`) : done(`there is no ${what} ${name}`);
}
