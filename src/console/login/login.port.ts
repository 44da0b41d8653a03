import type { ControlCaller } from '../../core/operators.js';
/** What a person may do now, and the number of the account at its forge: a login may pass to another account. */
export interface PersonNow {
  readonly caller: ControlCaller;
  readonly forge: string;
  readonly userId: string;
}

/** What a login must remember until the browser comes back; kept on the server, bound to the browser by a cookie, used once. Plain JSON. */
export interface PendingLogin {
  readonly forge: string;
  /** A path of the Console, checked before it is kept. */
  readonly returnTo: string;
  /** What the login itself needs: state, PKCE verifier and the like. */
  // oxlint-disable-next-line local/no-participle-names -- stored with the pending login
  readonly kept: Readonly<Record<string, string>>;
}

/** A person whom a forge vouched for. */
export interface KnownPerson {
  readonly forge: string;
  readonly login: string;
  readonly userId: string;
  /** What the sessions of this person share: the token and the rights that come from it. */
  readonly grantId: string;
}

export interface CallbackQuery {
  readonly code?: string | undefined;
  readonly state?: string | undefined;
  readonly error?: string | undefined;
  readonly iss?: string | undefined;
}

/** Log in through the forges of the config that have `oauth`. */
export abstract class PersonLogin {
  /** Forges to choose from, by id; empty = nobody can log in this way. */
  abstract readonly forges: readonly string[];
  /**
   * Where the browser is sent, and what must be kept until it comes back.
   * @param redirectUri where the forge sends the browser back: one address for each forge
   */
  abstract begin(forge: string, returnTo: string, redirectUri: string): Promise<{ url: string; pending: PendingLogin }>;
  /** Exchange the code. @throws LoginRefused with a code */
  abstract finish(pending: PendingLogin, query: CallbackQuery, redirectUri: string): Promise<KnownPerson>;
  /**
   * Rights now, read with the person's own token: at most ten minutes old, and with `fresh`, before a write, read at once.
   * @returns null when nothing may be shown: the grant has ended, or the forge was not reached for too long
   */
  abstract callerOf(grantId: string, options: { readonly fresh: boolean }): Promise<PersonNow | null>;
  /** The last session of the grant has ended: revoke what can be revoked, and forget it. */
  abstract end(grantId: string): Promise<void>;
}
