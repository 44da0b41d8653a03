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

export function isClosed(key: string): boolean {
  return NAMES.has(key) || ENDINGS.some((ending) => key.endsWith(ending));
}

/** What servers find out in the background, and what they say until then: a busy one says it longer. */
const UNTIL_FOUND_OUT: Readonly<Record<string, { readonly beside: string; readonly value: Json }>> = {
  language: { beside: 'languages_url', value: '' },
  mergeable: { beside: 'merge_base', value: false },
};

/** Whether one of two answers was given before the server had found this out. */
export function isNotFoundOut(key: string, ...holders: ReadonlyArray<Readonly<Record<string, Json>>>): boolean {
  const one = UNTIL_FOUND_OUT[key];
  return one !== undefined && holders.some((holder) => one.beside in holder && holder[key] === one.value);
}
