import { type ForgeClient, listAll, type ListArgs } from '../../forge/forge-client.js';
import type { ListItem, PagedOperationName } from '../../forge/operations.js';

/** Every item of a paged list, with the few calls that an action was given. The caller has checked that the list is offered. */
export function readAll<Name extends PagedOperationName>(
  forge: Partial<Pick<ForgeClient, Name>>,
  name: Name,
  args: ListArgs<Name>,
): Promise<ListItem<Name>[]> {
  return listAll(forge as unknown as ForgeClient, name, args);
}
