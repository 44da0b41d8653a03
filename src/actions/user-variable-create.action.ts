import { defineEnsuringAction, textOf, changed, conflict, unchanged, undone, type Outcome } from './define-action.js';
import { say } from './reasons.js';
import { line, optional, sealed, text } from './support/params.js';
import { defineRecovery, done, resend, settledAs, type RecoveryFacts, type Verdict } from './support/recovery.js';
import { checkVariableName, checkVariableValue, isSameValue, variableName } from './support/compare.js';
import { isRefused, orMissing, whereOffered } from '../forge/forge-client.js';
import type { Variable } from '../core/objects/repositories.js';
import { RIGHTS } from '../core/rights.js';
import type { Secret } from '../core/secret.js';

interface WantedUserVariable {
  readonly name: string;
  readonly value: Secret;
}

interface SeenUserVariable {
  readonly there: boolean;
  readonly isSame: boolean;
}

/** The forge refuses a second one: a late twin ends in 409, so nothing need be waited for. */
const userVariableRecovery = defineRecovery<WantedUserVariable, SeenUserVariable>({
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
  const about = { what: 'variable', name };
  if (seen === null) return resend(say('found.unreadable', { ...about, then: 'refused-twice' }));
  if (!seen.there) return resend(say('found.absent', about));
  return seen.isSame
    ? done(say('found.as-wanted', about))
    : settledAs('conflict', say('found.other', { ...about, differs: 'value', stays: 'compared' }));
}

/** The forge refuses a second variable of the same name (409), so making is safe; this action never changes one that is there. */
export const createUserVariable = defineEnsuringAction({
  name: 'user_variable.create',
  summary: "Make sure the bot's own account has a variable",
  target: 'account',
  params: {
    name: text({ summary: 'name; forges keep it in upper case', check: checkVariableName }),
    value: sealed({ summary: 'value; kept sealed', check: checkVariableValue }),
    description: optional(line({ summary: 'description of a new variable', max: 4096 })),
  },
  operations: ['createUserVariable'],
  whereOffered: ['getUserVariable'],
  right: RIGHTS.organizationOwner,
  naturalKey: 'name',
  keyOf: ({ name }) => variableName(textOf(name)),
  object: () => null,
  names: () => [],
  raises: [],
  example: { name: 'BOT_CONFIG_COMMIT', value: '3f2a1c' },

  recover: userVariableRecovery,

  async ensure({ forge, recall, lastMade, openCalls }, { name, value, description }) {
    const variablename = variableName(name);
    const about = { what: 'variable', name: variablename };
    const current = await whereOffered(forge.getUserVariable, (get) => orMissing(get({ variablename })));
    if (current) return compare(variablename, value, current);
    if (current === null && (await lastMade())) return undone(say('found.undone', about));
    if (current === undefined) {
      const memory = await recall();
      if (memory?.isSameWish) return unchanged(say('found.made-before', about), memory.detail);
      if (memory) return conflict(say('found.made-otherwise', about), memory.detail);
    }
    try {
      await forge.createUserVariable({
        variablename,
        body: { value, ...(description === undefined ? {} : { description }) },
      });
      return changed(say('made.created', about));
    } catch (error) {
      if (!isRefused(error, 409)) throw error;
      const winner = await whereOffered(forge.getUserVariable, (get) => orMissing(get({ variablename })));
      if (winner) return compare(variablename, value, winner);
      if (openCalls > 0) return unchanged(say('found.answered-late', about));
      return conflict(say('found.taken', about));
    }
  },
});

function compare(name: string, value: Secret, current: Variable): Outcome {
  const isSame = current.data ? isSameValue(value.reveal(), current.data.reveal()) : false;
  const about = { what: 'variable', name };
  return isSame
    ? unchanged(say('found.as-wanted', about))
    : conflict(say('found.other', { ...about, differs: 'value', stays: 'action-does-not' }));
}
