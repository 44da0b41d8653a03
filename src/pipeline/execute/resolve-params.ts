import type { AnyAction } from '../../actions/define-action.js';
import { BotError } from '../../core/errors.js';
import type { Json, JsonObject } from '../../core/json.js';
import { Secret } from '../../core/secret.js';
import { isSealed, isSecretReference, type Encryptor } from '../../core/encryptor.js';

/** The parameters of an intent cannot be used; the message is fit for people and holds no value. */
export class BadParams extends BotError {
  constructor(message: string) {
    super('BAD_PARAMS', message);
  }
}

/**
 * The parameters as the action sees them: references looked up, sealed values opened, all checked. Done right before the call, so that
 * values live in memory for that moment only.
 * @throws BadParams when a secret is not defined or a value does not fit; BotError SEAL_BROKEN
 */
export function resolveParams(
  action: AnyAction,
  params: JsonObject,
  secrets: Readonly<Record<string, Secret>>,
  encryptor: Encryptor,
): Record<string, unknown> {
  const resolved: Record<string, unknown> = {};
  for (const [name, param] of Object.entries(action.params)) {
    const value = open(params[name], secrets, encryptor, param.facts.sealed === true);
    const checked = param.schema.safeParse(value);
    if (!checked.success) throw new BadParams(`${name}: ${checked.error.issues[0]?.message ?? 'is not valid'}`);
    if (checked.data !== undefined) resolved[name] = checked.data;
  }
  const unknown = Object.keys(params).find((name) => !Object.hasOwn(action.params, name));
  if (unknown !== undefined) throw new BadParams(`${unknown}: ${action.name} has no such parameter`);
  return resolved;
}

function open(
  value: Json | undefined,
  secrets: Readonly<Record<string, Secret>>,
  encryptor: Encryptor,
  isSealedParam: boolean,
): unknown {
  if (isSecretReference(value)) {
    const secret = Object.hasOwn(secrets, value.$secret) ? secrets[value.$secret] : undefined;
    if (!secret) throw new BadParams(`secret ${value.$secret} is not defined for this organization`);
    return secret;
  }
  if (isSealed(value)) return encryptor.unseal(value);
  if (value === null) return undefined;
  return isSealedParam && typeof value === 'string' ? new Secret(value) : value;
}
