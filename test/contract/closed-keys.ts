import { tableOf } from '../../src/core/table.js';
import type { Json } from '../../src/core/json.js';

/** The closed list of `recordings/README.md`: leaves below these keys differ from server to server and from day to day. */
const NAMES = new Set([
  'id',
  'url',
  'sha',
  'sha1',
  'created',
  'updated',
  'timestamp',
  'last_login',
  'last_update',
  'last_error',
  'remote_name',
  'token_last_eight',
  'email',
  'size',
  'tree',
  'merge_base',
  'duration',
  'started',
  'stopped',
  '_links',
  'link',
  'event_payload',
  // Of OAuth2: tokens, secrets and keys, and what depends on ids and addresses.
  'client_secret',
  'access_token',
  'refresh_token',
  'id_token',
  'sub',
  'aud',
  'kid',
  'n',
  'picture',
]);

const ENDINGS = ['_id', '_ids', '_at', '_sha', '_url'];

/** What servers find out in the background, and the key beside which it stands: until then they say nothing, or no. */
const FOUND_OUT_LATER = tableOf({ language: 'languages_url', mergeable: 'merge_base' });

/** @param holder the object that has the key */
export function isClosed(key: string, holder: Readonly<Record<string, Json>>): boolean {
  if (NAMES.has(key) || ENDINGS.some((ending) => key.endsWith(ending))) return true;
  const beside = FOUND_OUT_LATER[key];
  return beside !== undefined && Object.hasOwn(holder, beside);
}
