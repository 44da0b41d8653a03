import { ForgeError } from '../../core/errors.js';
import { type ForgeClient, listAll, type ListArgs } from '../../forge/forge-client.js';
import type { ListItem, PagedOperationName } from '../../forge/operations.js';

/**
 * Ask with a call that not every forge offers.
 * @returns undefined when the forge is known not to offer it, or says so now
 */
export async function whereOffered<Call, Answer>(
  call: Call | undefined,
  ask: (call: Call) => Promise<Answer>,
): Promise<Answer | undefined> {
  if (call === undefined) return undefined;
  try {
    return await ask(call);
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'not-offered') return undefined;
    throw error;
  }
}

/** As whereOffered, for a read that needs another right than the write does: a token without it does without the read. */
export async function whereAllowed<Call, Answer>(
  call: Call | undefined,
  ask: (call: Call) => Promise<Answer>,
): Promise<Answer | undefined> {
  try {
    return await whereOffered(call, ask);
  } catch (error) {
    if (isRefused(error, 403) || isRefused(error, 401)) return undefined;
    throw error;
  }
}

/** The answer, or null when the forge says that there is no such thing (404). */
export async function orMissing<Answer>(asked: Promise<Answer>): Promise<Answer | null> {
  try {
    return await asked;
  } catch (error) {
    if (isRefused(error, 404)) return null;
    throw error;
  }
}

export function isRefused(error: unknown, status: number): error is ForgeError {
  return error instanceof ForgeError && error.kind === 'refused' && error.facts.status === status;
}

/** Every item of a paged list, with the few calls that an action was given. The caller has checked that the list is offered. */
export function readAll<Name extends PagedOperationName>(
  forge: Partial<Pick<ForgeClient, Name>>,
  name: Name,
  args: ListArgs<Name>,
): Promise<ListItem<Name>[]> {
  return listAll(forge as unknown as ForgeClient, name, args);
}
