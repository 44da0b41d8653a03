import { randomBytes } from 'node:crypto';
import type { Answer } from '../answer.js';
import { applicationByClient } from '../resources/oauth-application.js';
import type { User, World } from '../world.js';
import { consentPage, failurePage } from './pages.js';
import { signedIn, toSignIn } from './sign-in.js';
import { redirect, type WebCall, type WebHandler } from './web-call.js';
import type { OAuthApplication, OAuthGrant, AskedGrant } from '../entities/people.js';

const CODE_SECONDS = 600;

export const consentRoutes: Readonly<Record<string, WebHandler>> = {
  /** An unknown client or address gets a page: a redirect would lead to whoever made the link. */
  'GET /login/oauth/authorize': (call) => {
    const user = signedIn(call);
    if (!user) return toSignIn(call);
    const asked = askedBy(call.raw.query);
    const application = applicationByClient(call.world, asked.clientId);
    if (!application) return failurePage(call.profile, 'Client ID not registered');
    if (!isRegistered(application, asked.redirectUri)) return failurePage(call.profile, 'Unregistered Redirect URI');
    if (call.raw.query.get('response_type') !== 'code')
      return refused(call, asked, 'unsupported_response_type', 'Only code response type is supported.');
    if (!['', 'plain', 'S256'].includes(asked.method))
      return refused(call, asked, 'invalid_request', 'unsupported code challenge method');
    if (asked.challenge === '' && !application.isConfidential)
      return refused(call, asked, 'invalid_request', 'PKCE is required for public clients');
    const grant = grantOf(call.world, user, application);
    if (grant && (application.isConfidential || application.skipsSecondQuestion)) return withCode(call, asked, grant);
    call.browser.asked(asked);
    const owner = call.world.owner(application.userId);
    return consentPage(call.profile, { name: application.name, owner: owner.login }, asked);
  },

  'POST /login/oauth/grant': (call) => {
    const user = signedIn(call);
    if (!user) return toSignIn(call);
    const { world, form, browser } = call;
    const { asked } = browser.session;
    const application = applicationByClient(world, form.get('client_id'));
    if (!asked || !application || !isAnswerTo(asked, form)) return { status: 400, text: 'Bad Request\n' };
    if (form.get('granted') !== 'true') return refused(call, asked, 'access_denied', 'the request is denied');
    const known = grantOf(world, user, application);
    if (known && known.scope !== asked.scope)
      return refused(call, asked, 'server_error', 'a grant exists with different scope');
    browser.asked(null);
    return withCode(call, asked, known ?? makeGrant(world, user, application, asked));
  },
};

function askedBy(query: URLSearchParams): AskedGrant {
  const text = (name: string): string => query.get(name) ?? '';
  return {
    clientId: text('client_id'),
    redirectUri: text('redirect_uri'),
    state: text('state'),
    scope: text('scope'),
    nonce: text('nonce'),
    challenge: text('code_challenge'),
    method: text('code_challenge_method'),
  };
}

/** Exactly; a public client may use any port of this machine. */
export function isRegistered({ redirectUris, isConfidential }: OAuthApplication, given: string | null): boolean {
  if (given === null || given === '') return false;
  if (redirectUris.includes(given)) return true;
  const portless = (uri: string): string => uri.replace(/^(http:\/\/(?:127\.0\.0\.1|\[::1\])):\d+/, '$1');
  return !isConfidential && portless(given) !== given && redirectUris.map(portless).includes(portless(given));
}

function grantOf(world: World, user: User, application: OAuthApplication): OAuthGrant | undefined {
  return [...world.oauthGrants.values()].find(
    ({ userId, applicationId }) => userId === user.id && applicationId === application.id,
  );
}

function makeGrant(world: World, user: User, application: OAuthApplication, asked: AskedGrant): OAuthGrant {
  return world.add('oauth grant', world.oauthGrants, {
    id: world.nextId('oauth grant'),
    userId: user.id,
    applicationId: application.id,
    scope: asked.scope,
    nonce: asked.nonce,
    counter: 0,
  });
}

/** The form says again what the page was made for. */
function isAnswerTo(asked: AskedGrant, form: URLSearchParams): boolean {
  const { clientId, state, redirectUri } = asked;
  return form.get('client_id') === clientId && form.get('state') === state && form.get('redirect_uri') === redirectUri;
}

function withCode(call: WebCall, asked: AskedGrant, grant: OAuthGrant): Answer {
  const { world } = call;
  const code = `gta_${randomBytes(26).toString('hex')}`;
  const { redirectUri, challenge, method } = asked;
  world.oauthCodes.set(code, {
    grantId: grant.id,
    redirectUri,
    challenge,
    method,
    validUntil: world.now() + CODE_SECONDS,
  });
  return back(call, asked, { code });
}

function refused(call: WebCall, asked: AskedGrant, error: string, description: string): Answer {
  return back(call, asked, { error, error_description: description });
}

function back(call: WebCall, { redirectUri, state }: AskedGrant, fields: Record<string, string>): Answer {
  const query = new URLSearchParams({ ...fields, ...(state === '' ? {} : { state }) });
  return redirect(call, `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`);
}
