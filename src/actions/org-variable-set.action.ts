import { RIGHTS } from '../core/rights.js';
import { defineAction, textOf } from './define-action.js';
import { orgVariableRecovery } from './org-variable-set.recovery.js';
import { changed, refused, unchanged } from './support/outcome.js';
import { line, optional, sealed, text } from './support/params.js';
import { checkVariableName, checkVariableValue, isSameValue, variableName } from './support/variables.js';
import { isRefused, orMissing, whereOffered } from './support/where-offered.js';

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

  async ensure({ target, forge, recall, remember, hashOf }, { name, value, description }) {
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
