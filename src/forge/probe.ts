import { ForgeError } from '../core/errors.js';
import type { AnyForgeCall, ForgeClient } from './forge-client.js';
import { isWrite, operationOf, type OperationName } from './operations.js';

/** A name that nobody has: a server that knows the route says "no such owner", one that does not says "no such route". */
const NOBODY = 'forgehand-asks-whether-this-route-exists';

/**
 * Ask a forge once whether it has the route of a read. A write cannot be asked about without a risk and is taken to exist.
 * @returns false only when the forge said that there is no such route
 */
export async function probe(client: ForgeClient, name: OperationName): Promise<boolean> {
  const operation = operationOf(name);
  if (isWrite(name) || operation.method !== 'GET') return true;
  const args: Record<string, unknown> = {};
  for (const [, parameter] of operation.path.matchAll(/\{([^}]+)\}/g)) {
    const key = parameter ?? '';
    args[key] = operation.pathTypes?.[key] === undefined ? NOBODY : '0';
  }
  for (const [key, spec] of Object.entries(operation.query ?? {})) if (spec.required) args[key] = '{}';
  try {
    await (client[name] as unknown as AnyForgeCall)(args);
    return true;
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'not-offered') return false;
    if (error instanceof ForgeError && (error.kind === 'refused' || error.kind === 'moved')) return true;
    throw error;
  }
}
