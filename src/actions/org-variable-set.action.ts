import { defineAction, textOf, changed, refused, unchanged, undone } from './define-action.js';
import { line, optional, sealed, text } from './support/params.js';
import { defineRecovery, done, resend, settledAs, type RecoveryFacts, type Verdict } from './support/recovery.js';
import { checkVariableName, checkVariableValue, isSameValue, variableName } from './support/compare.js';
import { isRefused, orMissing, whereOffered } from '../forge/forge-client.js';
import { RIGHTS } from '../core/rights.js';
import type { Secret } from '../core/secret.js';

interface WantedVariable {
  readonly name: string;
  readonly value: Secret;
  readonly description?: string | undefined;
}

interface SeenVariable {
  readonly there: boolean;
  readonly isSame: boolean;
  /** Keyed hash of the value; null when it is not there. */
  readonly valueHash: string | null;
  readonly description: string;
}

/** One variable of a name, absolute values: sending the same once more does no harm. */
const orgVariableRecovery = defineRecovery<WantedVariable, SeenVariable>({
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

/**
 * Absolute values. The description is always sent, because leaving it out clears it (api-behaviour op 17): the wanted one, else the one
 * that is there, else the one we sent last.
 */
export const setOrgVariable = defineAction({
  name: 'org_variable.set',
  summary: 'Set a variable of the organization',
  target: 'organization',
  params: {
    name: text({ summary: 'name; forges keep it in upper case', check: checkVariableName }),
    value: sealed({ summary: 'value; kept sealed', check: checkVariableValue }),
    description: optional(line({ summary: 'description. Default: unchanged', max: 4096 })),
  },
  operations: ['updateOrgVariable'],
  whereOffered: ['getOrgVariable', 'createOrgVariable'],
  right: RIGHTS.organizationOwner,
  naturalKey: 'name',
  keyOf: ({ name }) => variableName(textOf(name)),
  raises: [],
  example: { name: 'LAST_RELEASE', value: 'v1.4.0', description: 'set by Forgehand' },

  recover: orgVariableRecovery,

  async ensure({ target, forge, recall, lastMade, remember, hashOf }, { name, value, description }) {
    const where = { org: target.name, variablename: variableName(name) };
    const current = await whereOffered(forge.getOrgVariable, (get) => orMissing(get(where)));
    const memory = current === undefined ? await recall() : null;
    if (memory?.isSameWish)
      return unchanged(
        `variable ${where.variablename} was set so before (this forge offers no way to read it)`,
        memory.detail,
      );
    const told = current?.description ?? textOf(memory?.detail['description']);
    const body = { value, description: description ?? told };
    const detail = { description: body.description };
    if (current !== undefined) {
      remember({
        there: current !== null,
        description: body.description,
        ...(current?.data ? { value_hash: hashOf(current.data) } : {}),
      });
    }
    if (current === null) {
      if (await lastMade()) return undone(`somebody deleted variable ${where.variablename}`);
      if (!forge.createOrgVariable)
        return refused(`variable ${where.variablename} is not there, and this forge offers no way to make one`);
      await forge.createOrgVariable({ ...where, body });
      return changed(`variable ${where.variablename} created`, { detail });
    }
    if (
      current?.data &&
      isSameValue(value.reveal(), current.data.reveal()) &&
      (current.description ?? '') === body.description
    ) {
      return unchanged(`variable ${where.variablename} has this value`, detail);
    }
    try {
      await forge.updateOrgVariable({ ...where, body });
    } catch (error) {
      if (!isRefused(error, 404)) throw error;
      return refused(`variable ${where.variablename} is not there, and this forge offers no way to make one`);
    }
    return changed(`variable ${where.variablename} set`, { detail });
  },
});
