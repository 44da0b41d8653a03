import { isJsonObject } from '../../core/json.js';
import { messageOf } from '../../core/errors.js';
import { productOf } from '../../forge/connected-forges.js';
import { wantedScopes } from '../../forge/scopes.js';
import { ForgeApi, ForgeRefused, saidIn } from '../real-forge/forge-api.js';

/** What a forge says of itself to anybody. */
export interface ForgeFacts {
  readonly product: 'gitea' | 'forgejo' | 'unknown';
  /** Null where it tells nobody who is not signed in. */
  readonly version: string | null;
  /** How far its clock is ahead, to a second; null where it names no time. */
  readonly aheadS: number | null;
}

export interface AccountFacts {
  /** Null where the token may not ask who it belongs to. */
  readonly login: string | null;
  /** Null where the token may not list them. */
  readonly orgs: readonly string[] | null;
}

/** Before there are rules, those that write first; the doctor names what other rules need. */
export const BOT_SCOPES = wantedScopes([]).reverse();

/** @returns a sentence when nothing like a forge answers there */
export async function lookAtForge(baseUrl: string): Promise<ForgeFacts | string> {
  try {
    const { status, headers, body } = await new ForgeApi(baseUrl, null).call('GET', '/version');
    const version = isJsonObject(body) && typeof body.version === 'string' ? body.version : null;
    const isHidden = status === 401 || status === 403;
    if (version === null && !isHidden) return `no Gitea or Forgejo answers at ${baseUrl} (GET /version: ${status})`;
    const date = Date.parse(String(headers.date));
    return {
      product: productOf(version),
      version,
      aheadS: Number.isNaN(date) ? null : Math.round((date + 500 - Date.now()) / 1000),
    };
  } catch (error) {
    return `${new URL(baseUrl).origin} does not answer: ${reasonOf(error)}`;
  }
}

/** @returns a sentence when the forge does not take the token */
export async function lookAtAccount(baseUrl: string, token: string): Promise<AccountFacts | string> {
  const api = new ForgeApi(baseUrl, `token ${token}`);
  try {
    const self = await api.call('GET', '/user');
    if (self.status === 401) return 'the forge does not know this token: copy it again, or make a new one';
    if (self.status !== 200 && self.status !== 403)
      return `the forge answered ${self.status} to it ${saidIn(self.body)}`.trim();
    const login = isJsonObject(self.body) && self.status === 200 ? String(self.body.login) : null;
    const rows = await api.list('/user/orgs').catch((error: unknown) => {
      if (error instanceof ForgeRefused) return null;
      throw error;
    });
    return { login, orgs: rows?.map((row) => String(row.name ?? row.username)) ?? null };
  } catch (error) {
    return `${api.origin} does not answer: ${reasonOf(error)}`;
  }
}

/** Aggregate errors of a connection have no message of their own, and that of OpenSSL names files of its own. */
function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== undefined && /^(EPROTO|ERR_SSL_)/.test(code))
    return 'it speaks no https there; where it speaks plain http, begin the address with http://';
  return messageOf(error) || (code ?? 'no connection');
}
