import { defineEnsuringAction, textOf, changed, refused, unchanged, undone } from './define-action.js';
import { say } from './reasons.js';
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
  const about = { what: 'variable', name };
  if (seen === null) return resend(say('found.unreadable', { ...about, then: 'harmless' }));
  if (!seen.there)
    return snapshot?.['there'] === true
      ? settledAs('conflict', say('found.deleted-meanwhile', about))
      : resend(say('found.absent', about));
  const description =
    typeof snapshot?.['description'] === 'string' ? snapshot['description'] : (wanted.description ?? '');
  if (seen.isSame && seen.description === description)
    return done(say('found.as-wanted', about), { detail: { description: seen.description } });
  const before = snapshot?.['value_hash'];
  if (typeof before === 'string' && seen.valueHash !== before && !seen.isSame)
    return settledAs('conflict', say('found.changed-meanwhile', about));
  return resend(say('found.not-yet', about));
}

/**
 * Absolute values. The description is always sent, because leaving it out clears it (api-behaviour op 17): the wanted one, else the one
 * that is there, else the one we sent last.
 */
export const setOrgVariable = defineEnsuringAction({
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
  object: () => null,
  names: () => [],
  raises: [],
  example: { name: 'LAST_RELEASE', value: 'v1.4.0', description: 'set by Forgehand' },

  recover: orgVariableRecovery,

  async ensure({ target, forge, recall, lastMade, remember, hashOf }, { name, value, description }) {
    const where = { org: target.name, variablename: variableName(name) };
    const about = { what: 'variable', name: where.variablename };
    const current = await whereOffered(forge.getOrgVariable, (get) => orMissing(get(where)));
    const memory = current === undefined ? await recall() : null;
    if (memory?.isSameWish) return unchanged(say('found.made-before', about), memory.detail);
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
      if (await lastMade()) return undone(say('found.undone', about));
      if (!forge.createOrgVariable) return refused(say('cannot.make', about));
      await forge.createOrgVariable({ ...where, body });
      return changed(say('made.created', about), { detail });
    }
    if (
      current?.data &&
      isSameValue(value.reveal(), current.data.reveal()) &&
      (current.description ?? '') === body.description
    ) {
      return unchanged(say('found.as-wanted', about), detail);
    }
    try {
      await forge.updateOrgVariable({ ...where, body });
    } catch (error) {
      if (!isRefused(error, 404)) throw error;
      return refused(say('cannot.make', about));
    }
    return changed(say('made.changed', about), { detail });
  },
});
