import type { Json } from '../../core/json.js';
import { Secret } from '../../core/secret.js';
import { withoutUserInfo } from '../../core/without-user-info.js';

/** Parts of credentials that no schema marks: nothing of a token's or hook's value reaches a rule or a stored run. */
const HIDDEN_FIELDS = new Set(['authorization_header', 'sha1', 'token_last_eight', 'secret', 'data']);

/**
 * An answer of the forge as plain data: everything held as Secret falls away, and so do fields of those names beside it that hold text
 * of a credential, and credentials in addresses (`hideFields`); undefined fields are absent.
 */
export function plainData(value: unknown, hideFields = false): Json {
  if (Array.isArray(value))
    return value.filter((item) => !(item instanceof Secret)).map((item) => plainData(item, hideFields));
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(
      ([name, field]) => field !== undefined && !(field instanceof Secret) && !(hideFields && HIDDEN_FIELDS.has(name)),
    );
    return Object.fromEntries(fields.map(([name, field]) => [name, plainData(field, hideFields)]));
  }
  if (hideFields && typeof value === 'string') return withoutUserInfo(value);
  return (value ?? null) as Json;
}
