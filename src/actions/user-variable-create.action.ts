import { defineAction, textOf, changed, conflict, there, toWrite } from './define-action.js';
import { say } from './reasons.js';
import { line, optional, sealed, text } from './support/params.js';
import { checkVariableName, checkVariableValue, isSameValue, variableName } from './support/compare.js';
import { orMissing } from '../forge/forge-client.js';
import { RIGHTS } from '../core/rights.js';

/** The forge refuses a second variable of the same name (409), so making is safe, a late twin is refused too, and no read need wait; this action never changes one that is there. */
export const createUserVariable = defineAction({
  name: 'user_variable.create',
  summary: "Make sure the bot's own account has a variable",
  target: 'account',
  params: {
    name: text('name; forges keep it in upper case', { check: checkVariableName }),
    value: sealed('value; kept sealed', { check: checkVariableValue }),
    description: optional(line('description of a new variable', { max: 4096 })),
  },
  operations: ['createUserVariable'],
  whereOffered: ['getUserVariable'],
  looksBy: ['getUserVariable'],
  right: RIGHTS.organizationOwner,
  naturalKey: 'name',
  keyOf: ({ name }) => variableName(textOf(name)),
  object: () => null,
  names: () => [],
  raises: [],
  effect: { makesOnly: true },
  example: { name: 'BOT_CONFIG_COMMIT', value: '3f2a1c' },
  about: ({ name }) => ({ what: 'variable', name: variableName(name) }),
  whenTaken: ({ name }) => say('found.taken', { what: 'variable', name: variableName(name) }),

  async look({ forge }, { name, value }) {
    const variable = await orMissing(forge.getUserVariable({ variablename: variableName(name) }));
    return variable && { isSame: variable.data ? isSameValue(value.reveal(), variable.data.reveal()) : false };
  },

  compare({ wanted, seen }) {
    if (!seen) return toWrite(null, { makes: true });
    const about = { what: 'variable', name: variableName(wanted.name) };
    return seen.isSame
      ? there(say('found.as-wanted', about))
      : conflict(say('found.other', { ...about, differs: 'value', stays: 'action-does-not' }));
  },

  async write({ forge }, { name, value, description }) {
    const body = { value, ...(description === undefined ? {} : { description }) };
    await forge.createUserVariable({ variablename: variableName(name), body });
    return changed(say('made.created', { what: 'variable', name: variableName(name) }));
  },

  recover: { settle: 'none', unread: 'refused-twice' },
});
