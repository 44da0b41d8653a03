import type { Secret } from '../core/secret.js';
import { defineRecovery, done, resend, settledAs, type RecoveryFacts, type Verdict } from './support/recovery.js';
import { isSameValue, variableName } from './support/variables.js';
import { orMissing, whereOffered } from './support/where-offered.js';

export interface WantedVariable {
  readonly name: string;
  readonly value: Secret;
  readonly description?: string | undefined;
}

export interface SeenVariable {
  readonly there: boolean;
  readonly isSame: boolean;
  /** Keyed hash of the value; null when it is not there. */
  readonly valueHash: string | null;
  readonly description: string;
}

/** One variable of a name, absolute values: sending the same once more does no harm. */
export const orgVariableRecovery = defineRecovery<WantedVariable, SeenVariable>({
  reads: ['getOrgVariable'],
  mayRead: [],
  settle: 'whole',
  absolute: true,

  async read({ forge, target, hashOf }, { name, value }) {
    if (target.kind !== 'organization') return null;
    const found = await whereOffered(forge.getOrgVariable, (get) =>
      orMissing(get({ org: target.name, variablename: variableName(name) })),
    );
    if (found === undefined) return null;
    return {
      there: found !== null,
      isSame: found?.data ? isSameValue(value.reveal(), found.data.reveal()) : false,
      valueHash: found?.data ? hashOf(found.data) : null,
      description: found?.description ?? '',
    };
  },

  decide: decideOrgVariable,
});

export function decideOrgVariable({ wanted, snapshot, seen }: RecoveryFacts<WantedVariable, SeenVariable>): Verdict {
  const name = variableName(wanted.name);
  if (seen === null) return resend(`variable ${name} cannot be read; the same value sent again does no harm`);
  if (!seen.there)
    return snapshot?.['there'] === true
      ? settledAs('conflict', `variable ${name} was deleted meanwhile`)
      : resend(`variable ${name} is not there`);
  const description =
    typeof snapshot?.['description'] === 'string' ? snapshot['description'] : (wanted.description ?? '');
  if (seen.isSame && seen.description === description)
    return done(`variable ${name} has this value`, { detail: { description: seen.description } });
  const before = snapshot?.['value_hash'];
  if (typeof before === 'string' && seen.valueHash !== before && !seen.isSame)
    return settledAs('conflict', `somebody else changed variable ${name} meanwhile`);
  return resend(`variable ${name} has the value of before`);
}
