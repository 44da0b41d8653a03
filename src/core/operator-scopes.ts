/** What a token of the control API lets its bearer do. `operate` and `approve` include `read`; neither includes the other. */
export const OPERATOR_SCOPES = ['read', 'operate', 'approve'] as const;
export type OperatorScope = (typeof OPERATOR_SCOPES)[number];

/** Scopes in their order, with those that others include. */
export function withIncluded(scopes: readonly OperatorScope[]): OperatorScope[] {
  return OPERATOR_SCOPES.filter((scope) => scopes.includes(scope) || (scope === 'read' && scopes.length > 0));
}

export type OperatorState = 'active' | 'expired' | 'revoked';

export function operatorState(
  { revokedAt, expiresAt }: { readonly revokedAt: Date | null; readonly expiresAt: Date },
  now: Date,
): OperatorState {
  if (revokedAt !== null) return 'revoked';
  return expiresAt <= now ? 'expired' : 'active';
}
