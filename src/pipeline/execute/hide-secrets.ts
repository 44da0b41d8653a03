import type { Json } from '../../core/json.js';
import { Secret } from '../../core/secret.js';

/**
 * A copy as plain JSON in which every Secret is replaced, by `[secret]` unless told otherwise; undefined fields fall away.
 * @param replace text that stands for a secret (its HMAC, where two requests are compared)
 */
export function hideSecrets(value: unknown, replace: (secret: Secret) => string = String): Json {
  if (value instanceof Secret) return replace(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map((item) => hideSecrets(item, replace));
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, field]) => field !== undefined);
    return Object.fromEntries(entries.map(([name, field]) => [name, hideSecrets(field, replace)]));
  }
  return (value ?? null) as Json;
}
