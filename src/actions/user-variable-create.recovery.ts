import type { Secret } from '../core/secret.js';
import { defineRecovery, done, resend, settledAs, type RecoveryFacts, type Verdict } from './support/recovery.js';
import { isSameValue, variableName } from './support/variables.js';
import { orMissing, whereOffered } from './support/where-offered.js';

export interface WantedUserVariable {
  readonly name: string;
  readonly value: Secret;
}

export interface SeenUserVariable {
  readonly there: boolean;
  readonly isSame: boolean;
}

/** The forge refuses a second one: a late twin ends in 409, so nothing need be waited for. */
export const userVariableRecovery = defineRecovery<WantedUserVariable, SeenUserVariable>({
  reads: ['getUserVariable'],
  mayRead: [],
  settle: 'none',

  async read({ forge }, { name, value }) {
    const found = await whereOffered(forge.getUserVariable, (get) =>
      orMissing(get({ variablename: variableName(name) })),
    );
    if (found === undefined) return null;
    return { there: found !== null, isSame: found?.data ? isSameValue(value.reveal(), found.data.reveal()) : false };
  },

  decide: decideUserVariable,
});

export function decideUserVariable({ wanted, seen }: RecoveryFacts<WantedUserVariable, SeenUserVariable>): Verdict {
  const name = variableName(wanted.name);
  if (seen === null) return resend(`variable ${name} cannot be read; making it again is refused when it is there`);
  if (!seen.there) return resend(`variable ${name} is not there`);
  return seen.isSame
    ? done(`variable ${name} has this value`)
    : settledAs('conflict', `variable ${name} is there with another value`);
}
