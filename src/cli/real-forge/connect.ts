import { UserError } from '../../core/errors.js';
import { isJsonObject } from '../../core/json.js';
import { basic, ForgeApi, saidIn } from './forge-api.js';

/** Where the credentials of a site administrator are taken from. */
export const ADMIN_VARIABLES = 'FORGEHAND_ADMIN_TOKEN, or FORGEHAND_ADMIN_USER and FORGEHAND_ADMIN_PASSWORD';

export interface RealForge {
  /** `http://host:port`. */
  readonly origin: string;
  /** As `GET /version` tells it. */
  readonly version: string;
  readonly family: 'gitea' | 'forgejo';
  readonly adminLogin: string;
  /** In the administrator's name. */
  readonly admin: ForgeApi;
}

/**
 * A forge known by its address alone, and a site administrator's credentials from the environment.
 * @throws UserError that says what to do
 */
export async function connectForge(address: string, env: NodeJS.ProcessEnv): Promise<RealForge> {
  const origin = originOf(address);
  const admin = new ForgeApi(`${origin}/api/v1`, authorizationOf(env));
  const self = await admin.call('GET', '/user').catch((error: unknown) => {
    throw new UserError(
      'FORGE_AWAY',
      `${origin} does not answer: ${error instanceof Error ? error.message || error.name : String(error)}`,
    );
  });
  if (self.status !== 200 || !isJsonObject(self.body))
    throw new UserError(
      'FORGE_REFUSED',
      `${origin} answered ${self.status} to the credentials in ${ADMIN_VARIABLES} ${saidIn(self.body)}`.trim(),
    );
  if (self.body.is_admin !== true)
    throw new UserError(
      'FORGE_NO_ADMIN',
      `${String(self.body.login)} is no site administrator there: give the credentials of one in ${ADMIN_VARIABLES}`,
    );
  const { version } = await admin.ask('GET', '/version');
  const name = String(version ?? '');
  return {
    origin,
    version: name,
    family: /gitea-\d/.test(name) ? 'forgejo' : 'gitea',
    adminLogin: String(self.body.login),
    admin,
  };
}

function originOf(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new UserError('FORGE_ADDRESS', `${address}: give the address of a forge, like http://127.0.0.1:3000`);
  if (!/^\/(api\/v1\/?)?$/.test(url.pathname) || url.username !== '')
    throw new UserError(
      'FORGE_ADDRESS',
      `${url.origin}: give the address without path, user and password; a forge below a path cannot be used here`,
    );
  return url.origin;
}

function authorizationOf(env: NodeJS.ProcessEnv): string {
  const { FORGEHAND_ADMIN_TOKEN: token, FORGEHAND_ADMIN_USER: user, FORGEHAND_ADMIN_PASSWORD: password } = env;
  if (token) return `token ${token}`;
  if (user && password) return basic(user, password);
  throw new UserError(
    'FORGE_CREDENTIALS',
    `give the credentials of a site administrator in the environment: ${ADMIN_VARIABLES}`,
  );
}
