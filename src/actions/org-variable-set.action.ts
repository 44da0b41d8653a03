import { defineAction, textOf, changed, conflict, refused, there, toWrite } from './define-action.js';
import { say } from './reasons.js';
import { line, optional, sealed, text } from './support/params.js';
import { checkVariableName, checkVariableValue, isSameValue, variableName } from './support/compare.js';
import { isRefused, orMissing } from '../forge/forge-client.js';
import { RIGHTS } from '../core/rights.js';

/**
 * Absolute values. The description is always sent, because leaving it out clears it: the wanted one, else the one
 * that is there, else the one we sent last.
 */
export const setOrgVariable = defineAction({
  name: 'org_variable.set',
  summary: 'Set a variable of the organization',
  target: 'organization',
  params: {
    name: text('name; forges keep it in upper case', { check: checkVariableName }),
    value: sealed('value; kept sealed', { check: checkVariableValue }),
    description: optional(line('description. Default: unchanged', { max: 4096 })),
  },
  operations: ['updateOrgVariable'],
  whereOffered: ['getOrgVariable', 'createOrgVariable'],
  looksBy: ['getOrgVariable'],
  right: RIGHTS.organizationOwner,
  naturalKey: 'name',
  keyOf: ({ name }) => variableName(textOf(name)),
  object: () => null,
  names: () => [],
  raises: [],
  example: { name: 'LAST_RELEASE', value: 'v1.4.0', description: 'set by Forgehand' },
  about: ({ name }) => ({ what: 'variable', name: variableName(name) }),

  async look({ target, forge, hashOf }, { name, value }) {
    const variable = await orMissing(forge.getOrgVariable({ org: target.name, variablename: variableName(name) }));
    const { data } = variable ?? {};
    return {
      isThere: variable !== null,
      isSame: data ? isSameValue(value.reveal(), data.reveal()) : false,
      valueHash: data ? hashOf(data) : null,
      description: variable?.description ?? '',
    };
  },

  compare({ wanted, seen, call, memory }) {
    const about = { what: 'variable', name: variableName(wanted.name) };
    const before = call?.snapshot ?? {};
    const description =
      typeof before['description'] === 'string'
        ? before['description']
        : (wanted.description ?? seen?.description ?? textOf(memory?.detail['description']));
    const detail = { description };
    if (seen === undefined) return toWrite({ description, isThere: true });
    const { isThere, isSame, valueHash } = seen;
    if (isThere && isSame && seen.description === description) return there(say('found.as-wanted', about), { detail });
    if (!isThere && before['there'] === true) return conflict(say('found.deleted-meanwhile', about));
    if (!isSame && typeof before['value_hash'] === 'string' && before['value_hash'] !== valueHash)
      return conflict(say('found.changed-meanwhile', about));
    const remember = { there: isThere, description, ...(valueHash === null ? {} : { value_hash: valueHash }) };
    return toWrite({ description, isThere }, { remember, ...(isThere ? {} : { makes: true as const }) });
  },

  async write({ target, forge }, { name, value }, { description, isThere }) {
    const where = { org: target.name, variablename: variableName(name) };
    const about = { what: 'variable', name: where.variablename };
    const body = { value, description };
    const detail = { description };
    if (!isThere) {
      if (!forge.createOrgVariable) return refused(say('cannot.make', about));
      await forge.createOrgVariable({ ...where, body });
      return changed(say('made.created', about), { detail });
    }
    try {
      await forge.updateOrgVariable({ ...where, body });
    } catch (error) {
      if (!isRefused(error, 404)) throw error;
      return refused(say('cannot.make', about));
    }
    return changed(say('made.changed', about), { detail });
  },

  // One variable of a name: sending the same once more does no harm.
  recover: { absolute: true, unread: 'harmless' },
});
