import type { Answer } from '../answer.js';
import type { Profile } from '../profiles.js';
import type { World } from '../world.js';
import { consentRoutes } from './oauth-consent.js';
import { endpointRoutes } from './oauth-endpoints.js';
import { signInRoutes } from './sign-in.js';
import { Browser, readForm, type WebHandler } from './web-call.js';
import type { RawRequest } from '../raw-request.js';

const routes: Readonly<Record<string, WebHandler>> = { ...signInRoutes, ...consentRoutes, ...endpointRoutes };

/** The pages of the forge; undefined = no such page. */
export function answerWeb(world: World, profile: Profile, raw: RawRequest, baseUrl: string): Answer | undefined {
  const isKnown = Object.keys(routes).some((route) => route.endsWith(` ${raw.path}`));
  if (!isKnown) return undefined;
  const handler = handlerOf(profile, raw);
  // Some servers know no session where they know no route; a question of a browser (OPTIONS) comes further.
  if (!handler && raw.method !== 'OPTIONS' && !profile.web.sessionsEverywhere) return { status: 405 };
  const browser = new Browser(world, profile, raw.headers.cookie);
  const answer = handler
    ? (crossOrigin(raw) ?? handler({ world, profile, raw, baseUrl, form: readForm(raw), browser }))
    : { status: 405 };
  return {
    ...answer,
    headers: { 'cache-control': profile.web.cacheControl, ...answer.headers },
    cookies: browser.lines,
  };
}

function handlerOf({ web }: Profile, { method, path }: RawRequest): WebHandler | undefined {
  const name = `${method} ${path}`;
  if (name === 'POST /user/logout' && web.logsOutBy === 'GET') return undefined;
  return Object.hasOwn(routes, name) ? routes[name] : undefined;
}

/** A browser says where a form comes from: another site's is refused. Programs say nothing. */
function crossOrigin({ method, headers }: RawRequest): Answer | undefined {
  const site = headers['sec-fetch-site'];
  const isOwn = site === undefined || site === 'same-origin' || site === 'none';
  if (method !== 'POST' || isOwn) return undefined;
  return { status: 403, text: 'cross-origin request detected from Sec-Fetch-Site header\n' };
}
