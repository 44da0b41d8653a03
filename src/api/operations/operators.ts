import { z } from 'zod';
import { UserError } from '../../core/errors.js';
import { newId } from '../../core/ids.js';
import { OPERATOR_SCOPES, withIncluded } from '../../core/operator-scopes.js';
import { isOperatorName, operator, type Operator } from '../../core/operators.js';
import { act } from '../act-store.port.js';
import { auditKey, auditPage, checkPage } from '../../housekeeping/audit/audit-check.js';
import { hashOperatorToken, newOperatorToken } from '../operator-token.js';
import { needEverything } from './admission.js';
import { limit, operation } from './operation.js';
import { makePageByTime, pageByTime } from './page-of.js';

/** Two years. */
const MAX_OPERATOR_S = 2 * 366 * 86_400;

/** Name of the chain of acts that concern no organization alone. */
const NO_ORG = '';

export const operatorOperations = {
  operators: operation({
    route: 'GET /v1/operators',
    summary: 'Operators and their tokens, without the tokens',
    scope: 'read',
    command: 'operators list',
    input: z.object({}),
    answer: z.object({ operators: z.array(operator) }),
    handle: async ({ operators }, _input, _caller, visibility) => {
      needEverything(visibility);
      return { operators: await operators.list() };
    },
  }),
  addOperator: operation({
    route: 'POST /v1/operators',
    summary: 'Make a token. Only this answer ever contains it',
    scope: 'owner',
    about: ['name', 'login', 'scopes', 'expiresS'],
    command: 'operators add',
    input: z.strictObject({
      name: z.string().min(1).max(64),
      login: z.string().min(1).max(255).optional().describe('The account of this person on the forge.'),
      scopes: z.array(z.enum(OPERATOR_SCOPES)).min(1),
      expiresS: z.number().int().min(60).max(MAX_OPERATOR_S),
    }),
    answer: z.object({ operator, token: z.string() }),
    handle: async ({ operators, orders, clock }, { name, login = null, scopes, expiresS }, caller) => {
      if (!isOperatorName(name))
        throw new UserError(
          'OPERATOR_NAME',
          `"${name}" cannot be the name of an operator: lower case letters, digits, ".", "_" and "-", at most 40, no reserved word`,
        );
      const other = (await operators.list()).find(
        (one) => one.name === name && one.login?.toLowerCase() !== login?.toLowerCase() && one.revokedAt === null,
      );
      if (other) {
        const account = other.login === null ? 'no forge account' : `the forge account ${other.login}`;
        throw new UserError(
          'OPERATOR_TAKEN',
          `there is an operator ${name} with ${account}: say the same account, or revoke that one first`,
        );
      }
      const token = newOperatorToken();
      const madeAt = clock.now();
      const newOperator: Operator = {
        id: newId(),
        name,
        login,
        scopes: withIncluded(scopes),
        madeBy: caller.name,
        madeAt,
        expiresAt: new Date(madeAt.getTime() + expiresS * 1000),
        revokedBy: null,
        revokedAt: null,
      };
      const { scopes: granted, expiresAt } = newOperator;
      orders.record('operators add', caller, { operator: name, login, scopes: granted, expiresAt });
      await operators.add(newOperator, hashOperatorToken(token));
      return { operator: newOperator, token };
    },
  }),
  revokeOperator: operation({
    route: 'POST /v1/operators/:name/revoke',
    summary: 'Revoke every token of a name, or the one of an id',
    scope: 'owner',
    about: ['name'],
    command: 'operators revoke',
    input: z.object({ name: z.string() }),
    answer: z.object({ revoked: z.array(operator) }),
    handle: async ({ operators, orders, clock }, { name: nameOrId }, caller) => {
      orders.record('operators revoke', caller, { operator: nameOrId });
      const revoked = await operators.revoke(nameOrId, caller.name, clock.now());
      if (revoked.length === 0)
        throw new UserError(
          'NOT_FOUND',
          `there is no operator ${nameOrId} whose token could be revoked (see forgehand operators list)`,
        );
      return { revoked };
    },
  }),
  audit: operation({
    route: 'GET /v1/audit',
    summary: 'Check the chain of finished runs and acts of an organization, page by page',
    scope: 'read',
    command: 'audit',
    input: z.object({
      org: z.string().min(1).optional().describe('Left out: acts that concern no organization alone.'),
      after: z.coerce
        .number<number>()
        .int()
        .min(0)
        .default(0)
        .describe('The link behind which it begins; 0 = the first.'),
      limit: limit(500),
    }),
    answer: auditPage,
    handle: async ({ orgs, audit, encryptor, clock }, { org, after, limit: most }, _caller, visibility) => {
      if (org === undefined) needEverything(visibility, ': name an organization');
      const chain = org === undefined ? NO_ORG : orgs.wholeOf(org, visibility);
      return checkPage(audit, auditKey(encryptor), chain, after, most, clock.now());
    },
  }),
  acts: operation({
    route: 'GET /v1/acts',
    summary: 'Who did what by the control API and the Console, newest first, with the reason and the outcome',
    scope: 'read',
    command: 'acts',
    input: z.object({
      org: z.string().min(1).optional().describe('Left out: all that the caller may see whole.'),
      before: z
        .string()
        .min(1)
        .max(64)
        .optional()
        .describe('`next` of the page before: those before the act of this id.'),
      limit: limit(50),
    }),
    answer: pageByTime(act),
    handle: ({ orgs, acts }, { org: typed, limit: most, ...place }, _caller, visibility) => {
      const org = typed === undefined ? orgs.onlyWhole(visibility) : orgs.wholeOf(typed, visibility);
      return makePageByTime(
        {
          read: (count) => acts.list({ ...place, limit: count, ...(org === undefined ? {} : { org }) }),
          rowsOf: (rows) => [...rows],
        },
        most,
      );
    },
  }),
};
