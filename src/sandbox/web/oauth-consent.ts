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
    const request = askedBy(call.raw.query);
    const application = applicationByClient(call.world, request.clientId);
    if (!application) return failurePage(call.profile, 'Client ID not registered');
    if (!isRegistered(application, request.redirectUri)) return failurePage(call.profile, 'Unregistered Redirect URI');
    if (call.raw.query.get('response_type') !== 'code')
      return refused(call, request, 'unsupported_response_type', 'Only code response type is supported.');
    if (!['', 'plain', 'S256'].includes(request.method))
      return refused(call, request, 'invalid_request', 'unsupported code challenge method');
    if (request.challenge === '' && !application.isConfidential)
      return refused(call, request, 'invalid_request', 'PKCE is required for public clients');
    const grant = grantOf(call.world, user, application);
    if (grant && (application.isConfidential || application.skipsSecondQuestion)) return withCode(call, request, grant);
    call.browser.keepRequest(request);
    const owner = call.world.owner(application.userId);
    return consentPage(call.profile, { name: application.name, owner: owner.login }, request);
  },

  'POST /login/oauth/grant': (call) => {
    const user = signedIn(call);
    if (!user) return toSignIn(call);
    const { world, form, browser } = call;
    const { asked } = browser.session;
    const application = applicationByClient(world, form.get('client_id'));
    if (!asked || !application || !isAnswerTo(asked, form)) return { status: 400, text: 'Bad Request\n' };
    if (form.get('granted') !== 'true') return refused(call, asked, 'access_denied', 'the request is denied');
    const existing = grantOf(world, user, application);
    if (existing && existing.scope !== asked.scope)
      return refused(call, asked, 'server_error', 'a grant exists with different scope');
    browser.keepRequest(null);
    return withCode(call, asked, existing ?? makeGrant(world, user, application, asked));
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
export function isRegistered({ redirectUris, isConfidential }: OAuthApplication, redirectUri: string | null): boolean {
  if (redirectUri === null || redirectUri === '') return false;
  if (redirectUris.includes(redirectUri)) return true;
  const portless = (uri: string): string => uri.replace(/^(http:\/\/(?:127\.0\.0\.1|\[::1\])):\d+/, '$1');
  return (
    !isConfidential &&
    portless(redirectUri) !== redirectUri &&
    redirectUris.map(portless).includes(portless(redirectUri))
  );
}

function grantOf(world: World, user: User, application: OAuthApplication): OAuthGrant | undefined {
  return [...world.oauthGrants.values()].find(
    ({ userId, applicationId }) => userId === user.id && applicationId === application.id,
  );
}

function makeGrant(world: World, user: User, application: OAuthApplication, request: AskedGrant): OAuthGrant {
  return world.add('oauth grant', world.oauthGrants, {
    id: world.nextId('oauth grant'),
    userId: user.id,
    applicationId: application.id,
    scope: request.scope,
    nonce: request.nonce,
    counter: 0,
  });
}

/** The form says again what the page was made for. */
function isAnswerTo(request: AskedGrant, form: URLSearchParams): boolean {
  const { clientId, state, redirectUri } = request;
  return form.get('client_id') === clientId && form.get('state') === state && form.get('redirect_uri') === redirectUri;
}

function withCode(call: WebCall, request: AskedGrant, grant: OAuthGrant): Answer {
  const { world } = call;
  const code = `gta_${randomBytes(26).toString('hex')}`;
  const { redirectUri, challenge, method } = request;
  world.oauthCodes.set(code, {
    grantId: grant.id,
    redirectUri,
    challenge,
    method,
    validUntil: world.now() + CODE_SECONDS,
  });
  return back(call, request, { code });
}

function refused(call: WebCall, request: AskedGrant, error: string, description: string): Answer {
  return back(call, request, { error, error_description: description });
}

function back(call: WebCall, { redirectUri, state }: AskedGrant, fields: Record<string, string>): Answer {
  const query = new URLSearchParams({ ...fields, ...(state === '' ? {} : { state }) });
  return redirect(call, `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`);
}
