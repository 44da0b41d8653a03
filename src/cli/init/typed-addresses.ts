import { refuseMirrorTarget } from '../../actions/support/mirror-target.js';
import { httpUrl } from '../../config/config-values.js';
import { mirrorPlace } from '../../config/org-schema.js';
import { textOf } from '../../core/reason.js';

/** Answers are checked by what reads the files later: nothing is written that a second run would refuse. */

/** @returns what is wrong with the address at which the forge reaches the bot; null = it is taken */
export function wrongPublicUrl(answer: string): string | null {
  const url = httpUrl.safeParse(answer).success ? new URL(answer) : null;
  const isPlain = url !== null && `${url.username}${url.password}${url.search}${url.hash}` === '';
  return isPlain ? null : 'an address like http://10.0.0.7:8080 or https://bot.example.org';
}

/** @returns what is wrong with an address that mirrors are to go to; null = it is taken, once `mirrorPlaceOf` is listed */
export function wrongMirrorAddress(answer: string): string | null {
  const place = mirrorPlaceOf(answer);
  if (place === null || !mirrorPlace.safeParse(place).success)
    return 'an address like https://github.com/acme or http://nas.lan:3000/acme, without user and password';
  const refusal = refuseMirrorTarget(`${answer.replace(/\/+$/, '')}/repository.git`, [place]);
  return refusal && textOf(refusal);
}

/** The entry of `orgs[].mirror_hosts` that allows an address and what lies below it, and nothing else; null = it is no address. */
export function mirrorPlaceOf(answer: string): string | null {
  const [, http, host, path = ''] = /^(?:https:\/\/|(http:\/\/))([^/?#@\\\s]+)(\/[^?#\\\s]*)?$/.exec(answer) ?? [];
  return host === undefined ? null : `${http ?? ''}${host}${path.replace(/\/*$/, '/')}`;
}
