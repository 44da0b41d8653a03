import type { z } from 'zod';
import { ForgeError } from '../core/errors.js';
import type { AnyForgeCall, ForgeClient } from './forge-client.js';
import { isWrite, operationOf, type OperationName } from './operations.js';

/** A name that no server lets anybody have (two hyphens in a row): whatever is asked about it cannot change a thing. */
export const NOBODY = 'forgehand--asks--whether--this--is--there';

/**
 * `there`: the forge has the route, and the token's scopes let it through; `missing`: it has no such route; `scope`: the token may not;
 * `not-asked`: it cannot be asked about without a risk.
 */
export type ProbeAnswer = 'there' | 'missing' | 'scope' | 'not-asked';

/** Whose things an operation is about: where it is nobody's, servers say "no such owner" before they look at anything else. */
const OWNED_BY = new Set(['owner', 'org', 'username']);

/**
 * Ask a forge once about an operation, of an owner whom nobody can be: a server that knows the route refuses the scope of the token or says
 * "no such owner", one that does not know it says "no such route". Writes are asked so too, but for those that name no owner.
 * @throws ForgeError when the forge could not be asked
 */
export async function ask(client: ForgeClient, name: OperationName): Promise<ProbeAnswer> {
  const args = argsOf(name);
  if (args === null) return 'not-asked';
  try {
    await (client[name] as unknown as AnyForgeCall)(args);
    return 'there';
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    if (error.kind === 'not-offered') return 'missing';
    // Refused before it was sent: a body that we could not make up.
    if (error.kind === 'refused' && error.facts.status === undefined) return 'not-asked';
    if (error.kind === 'refused') return isScopeRefusal(error) ? 'scope' : 'there';
    if (error.kind === 'moved') return 'there';
    throw error;
  }
}

/**
 * Ask a forge once whether it has the route of a read.
 * @returns false only when the forge said that there is no such route; true for every write
 */
export async function probe(client: ForgeClient, name: OperationName): Promise<boolean> {
  if (isWrite(name) || operationOf(name).method !== 'GET') return true;
  return (await ask(client, name)) !== 'missing';
}

/** Servers name the scopes they want in a refusal (recordings, organization-hooks and general). */
export function isScopeRefusal({ facts }: ForgeError): boolean {
  return facts.status === 403 && /\brequired scope/i.test(facts.forgeMessage ?? '');
}

function argsOf(name: OperationName): Record<string, unknown> | null {
  const operation = operationOf(name);
  const args: Record<string, unknown> = {};
  const parameters = [...operation.path.matchAll(/\{([^}]+)\}/g)].map(([, key = '']) => key);
  for (const key of parameters) args[key] = operation.pathTypes?.[key] === undefined ? NOBODY : '0';
  for (const [key, spec] of Object.entries(operation.query ?? {})) if (spec.required) args[key] = '{}';
  if (operation.method === 'GET') return args;
  if (!parameters.some((key) => OWNED_BY.has(key))) return null;
  const body = operation.body ? leastBody(operation.body) : undefined;
  return body === undefined ? args : { ...args, body };
}

/** The smallest value that a schema of a request body takes, as far as its kind is known; what it says means nothing. */
export function leastBody(schema: z.ZodType): unknown {
  const { def } = schema as unknown as { def: Def };
  switch (def.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(def.shape ?? {})
          .filter(([, field]) => !field.safeParse(undefined).success)
          .map(([key, field]) => [key, leastBody(field)]),
      );
    case 'string':
      return 'x';
    case 'number':
    case 'int':
      return 0;
    case 'boolean':
      return false;
    case 'array':
      return [];
    case 'record':
      return {};
    case 'enum':
      return Object.values(def.entries ?? {})[0];
    case 'literal':
      return def.values?.[0];
    case 'union':
      return def.options?.[0] && leastBody(def.options[0]);
    case 'pipe':
      return def.in && leastBody(def.in);
    case 'optional':
    case 'nullable':
    case 'default':
      return def.innerType && leastBody(def.innerType);
    default:
      return undefined;
  }
}

interface Def {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly entries?: Readonly<Record<string, unknown>>;
  readonly values?: readonly unknown[];
  readonly options?: readonly z.ZodType[];
  readonly in?: z.ZodType;
  readonly innerType?: z.ZodType;
}
