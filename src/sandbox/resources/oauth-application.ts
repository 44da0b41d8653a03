import { randomBytes, randomUUID } from 'node:crypto';
import type { oauthApplication as apiOAuthApplication } from '../../core/objects/accounts.js';
import { badRequest, created, notFound, ok, serverError } from '../answer.js';
import { bind, field } from '../body.js';
import { forUser, readId, type UserCall } from '../guards.js';
import { listed } from '../paging.js';
import type { Given, Handler, Handlers } from '../handler.js';
import { shaped, shownTime, type Shown, type View } from '../render/view.js';
import type { World } from '../world.js';
import type { OAuthApplication } from '../entities/people.js';

export function applicationByClient(world: World, clientId: string | null): OAuthApplication | undefined {
  return [...world.oauthApplications.values()].find((application) => application.clientId === clientId);
}

function makeSecret(): string {
  return `gto_${randomBytes(26).toString('hex')}`;
}

function renderApplication(
  view: View,
  application: OAuthApplication,
  options: { withSecret?: boolean } = {},
): Shown<typeof apiOAuthApplication> {
  return shaped(view, 'oauth application', {
    id: application.id,
    name: application.name,
    client_id: application.clientId,
    client_secret: options.withSecret ? application.clientSecret : '',
    confidential_client: application.isConfidential,
    skip_secondary_authorization: application.skipsSecondQuestion,
    redirect_uris: application.redirectUris,
    created: shownTime(view, application.created),
  });
}

function wishOf(
  call: UserCall,
): Pick<OAuthApplication, 'name' | 'isConfidential' | 'skipsSecondQuestion' | 'redirectUris'> {
  const wish = bind(call, {
    name: field.text({ required: true, max: 255 }),
    confidential_client: field.flag(),
    skip_secondary_authorization: field.flag(),
    redirect_uris: field.texts({ required: true, label: 'RedirectURIs' }),
  });
  const redirectUris = wish.redirect_uris ?? [];
  const bad = redirectUris.find((uri) => !/^[a-z][a-z0-9+.-]*:\/\/./i.test(uri));
  if (bad !== undefined && call.profile.web.redirectsChecked) throw badRequest(`invalid redirect URI: ${bad}`);
  return {
    name: wish.name ?? '',
    isConfidential: wish.confidential_client ?? false,
    skipsSecondQuestion: wish.skip_secondary_authorization ?? false,
    redirectUris,
  };
}

interface ApplicationCall extends UserCall {
  application: OAuthApplication;
}

/** By the number in the path, of the caller's own; another one's is not there, or a fault of the server when it is to be edited. */
function onApplication(run: (call: ApplicationCall) => Given, foreign: () => Error = notFound): Handler {
  return forUser((call) => {
    const application = call.world.oauthApplications.get(readId(call.params.id));
    if (!application) throw notFound();
    if (application.userId !== call.user.id) throw foreign();
    return run({ ...call, application });
  });
}

export const oauthApplicationHandlers: Handlers = {
  listOAuthApplications: forUser((call) => {
    const own = [...call.world.oauthApplications.values()].filter(({ userId }) => userId === call.user.id).reverse();
    return listed(call, own, (application) => renderApplication(call.view, application));
  }),

  /** A name is no key: the same again makes another one. */
  createOAuthApplication: forUser((call) => {
    const { world } = call;
    const wish = wishOf(call);
    const application = world.add('oauth application', world.oauthApplications, {
      ...wish,
      id: world.nextId('oauth application'),
      userId: call.user.id,
      clientId: randomUUID(),
      clientSecret: makeSecret(),
      created: world.now(),
    });
    return created(renderApplication(call.view, application, { withSecret: true }));
  }),

  getOAuthApplication: onApplication((call) => ok(renderApplication(call.view, call.application))),

  /** Any edit makes a new secret. */
  updateOAuthApplication: onApplication(
    (call) => {
      Object.assign(call.application, wishOf(call), { clientSecret: makeSecret() });
      call.world.changed('oauth application', call.application.id, 'updated');
      return ok(renderApplication(call.view, call.application, { withSecret: true }));
    },
    () => serverError('application of another user'),
  ),

  /** What people allowed it goes with it. */
  deleteOAuthApplication: onApplication(({ world, application }) => {
    for (const grant of world.oauthGrants.values())
      if (grant.applicationId === application.id) world.oauthGrants.delete(grant.id);
    world.remove('oauth application', world.oauthApplications, application);
  }),
};
