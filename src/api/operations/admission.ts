import { UserError } from '../../core/errors.js';
import type { OperatorScope } from '../../core/operator-scopes.js';
import { isOwner, visibilityOf, type ControlCaller } from '../../core/operators.js';
import { seesWholeOrg, type Visibility } from '../../core/visibility.js';

/** `owner`: only a caller that has the host (the socket, the store or `control.token`), never an operator or a person. */
export type NeededScope = OperatorScope | 'owner';

/** Why the caller may not do what takes this scope; null = it may, somewhere at least. A route without a scope is for nobody. */
export function missingScope(
  caller: Pick<ControlCaller, 'kind' | 'name' | 'scopes'>,
  needed: NeededScope | null,
): { readonly error: 'OWNER_ONLY' | 'SCOPE_MISSING' | 'UNAUTHORIZED'; readonly message: string } | null {
  const { kind, name, scopes } = caller;
  if (needed === 'owner' ? isOwner(caller) : needed !== null && scopes.includes(needed)) return null;
  if (kind === 'nobody') return { error: 'UNAUTHORIZED', message: 'nobody is logged in' };
  if (needed === 'owner') {
    const who = kind === 'operator' ? 'an operator' : 'a person of the forge';
    const message = `only the owner of the bot may do this, on its host or with control.token; ${name} is ${who}`;
    return { error: 'OWNER_ONLY', message };
  }
  const message = `this operation takes the scope ${needed ?? '(none)'}, and ${name} has ${scopes.join(', ') || 'none'}`;
  return { error: 'SCOPE_MISSING', message };
}

/**
 * What the caller may see and change by an operation of this scope.
 * @throws UserError UNAUTHORIZED, SCOPE_MISSING or OWNER_ONLY
 */
export function admit(caller: ControlCaller, needed: NeededScope): Visibility {
  const missing = missingScope(caller, needed);
  if (missing) throw new UserError(missing.error, missing.message);
  return needed === 'owner' ? null : visibilityOf(caller, needed);
}

/** @throws UserError ORG_OWNERS_ONLY when only a part of the organization is visible, or nothing of it */
export function needWholeOrg(visibility: Visibility, org: string): void {
  if (!seesWholeOrg(visibility, org))
    throw new UserError('ORG_OWNERS_ONLY', `only owners of ${org} may do this: it concerns the whole organization`);
}

/** @throws UserError SITE_ONLY when not everything is visible @param instead what the caller can do, with a colon before it */
export function needEverything(visibility: Visibility, instead = ''): void {
  if (visibility !== null)
    throw new UserError('SITE_ONLY', `only operators of the bot may do this: it concerns every organization${instead}`);
}
