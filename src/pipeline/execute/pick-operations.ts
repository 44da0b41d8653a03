import type { AnyAction } from '../../actions/define-action.js';
import type { ForgeClient } from '../../forge/forge-client.js';
import type { OperationName } from '../../forge/operations.js';
import type { ForgeAccess } from './forges.js';

/** Only what the action names, and of the optional ones only what the forge is not known to lack. */
export function pick(
  client: ForgeClient,
  action: AnyAction,
  access: Pick<ForgeAccess, 'offers'>,
): Partial<ForgeClient> {
  const names: readonly OperationName[] = [
    ...action.operations,
    ...action.whereOffered.filter((name) => access.offers(name)),
  ];
  return Object.fromEntries(names.map((name) => [name, client[name]])) as Partial<ForgeClient>;
}
