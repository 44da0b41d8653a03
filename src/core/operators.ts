import { z } from 'zod';
import { fields, maybeText, maybeTime, text, time, type Shape } from './schema.js';

/** What a token of the control API lets its bearer do. `operate` and `approve` include `read`; neither includes the other. */
export const OPERATOR_SCOPES = ['read', 'operate', 'approve'] as const;
export type OperatorScope = (typeof OPERATOR_SCOPES)[number];

/** One token of a named operator. An operator may have several, all under one name; the token itself is never kept. */
export const operator = z.object({
  ...fields('id name madeBy', text),
  /** The account of this person on the forge; null = not known. Where it is known, authors of rules and of events are compared with it. */
  login: maybeText,
  revokedBy: maybeText,
  scopes: z.array(z.enum(OPERATOR_SCOPES)),
  ...fields('madeAt expiresAt', time),
  revokedAt: maybeTime,
});
export type Operator = Shape<typeof operator>;

export type OperatorState = 'active' | 'expired' | 'revoked';

export function operatorState(
  { revokedAt, expiresAt }: Pick<Operator, 'revokedAt' | 'expiresAt'>,
  now: Date,
): OperatorState {
  if (revokedAt !== null) return 'revoked';
  return expiresAt <= now ? 'expired' : 'active';
}

/** Scopes in their order, with those that others include. */
export function withIncluded(scopes: readonly OperatorScope[]): OperatorScope[] {
  return OPERATOR_SCOPES.filter((scope) => scopes.includes(scope) || (scope === 'read' && scopes.length > 0));
}

/** Lower case, so that two names cannot differ in case alone; without `:`, which marks callers that are no operators. */
export const OPERATOR_NAME = /^[a-z0-9][a-z0-9._-]{0,39}$/;

/** Recorded names that mean somebody or something else. */
const RESERVED = new Set([
  'schedule',
  'housekeeping',
  'config-token',
  'unknown',
  'nobody',
  'forgehand',
  'bot',
  'system',
]);

export function isOperatorName(name: string): boolean {
  return OPERATOR_NAME.test(name) && !RESERVED.has(name);
}

/**
 * Who gave an order over the control API. The name comes from the token, or from the system's own user where there is none:
 * - `operator`: the bearer of an operator's token;
 * - `config-token`: the bearer of `control.token`, a shared secret of the host's owner;
 * - `socket`, `command`: the user that owns the socket, or the command that opened the store itself. Both have every scope.
 */
export interface ControlCaller {
  readonly kind: 'operator' | 'config-token' | 'socket' | 'command';
  /** As it is recorded: `ann`, `config-token`, `socket:forgehand`, `command:root`. */
  readonly name: string;
  readonly login: string | null;
  readonly scopes: readonly OperatorScope[];
}

/** Whether the caller has the host: such a caller makes and revokes operators. */
export function isOwner({ kind }: Pick<ControlCaller, 'kind'>): boolean {
  return kind !== 'operator';
}

/** Different people who could approve now. Two names with one forge account are one person. */
export function approversOf(operators: readonly Operator[], now: Date): number {
  const able = operators.filter(
    (operator) => operator.scopes.includes('approve') && operatorState(operator, now) === 'active',
  );
  return new Set(able.map(({ name, login }) => (login ?? name).toLowerCase())).size;
}
