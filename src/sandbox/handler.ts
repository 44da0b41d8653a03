import type { OperationName } from '../forge/operations.js';
import type { Answer } from './answer.js';
import type { Profile } from './profiles.js';
import type { View } from './render/view.js';
import type { World } from './world.js';
import type { Token, User } from './entities/people.js';

/** Who calls: `user` after impersonation, null for nobody. */
export interface Caller {
  user: User | null;
  /** The token used; null with a password (no scopes bind it) or nobody. */
  token: Token | null;
  /** Scheme of the Authorization header: Basic is what the token list insists on. */
  isBasic: boolean;
}

/** One request to a known operation, credentials and scopes already checked. */
export interface Call {
  world: World;
  profile: Profile;
  caller: Caller;
  /** Names of the operation and its method, `GET` for HEAD. */
  operation: string;
  method: string;
  /** Path parameters, decoded. */
  params: Record<string, string>;
  query: URLSearchParams;
  /** Path below the host as it came, for `Location`. */
  rawPath: string;
  rawQuery: string;
  /** The body's text and, once parsed, its value; use `bind` of body.ts. */
  bodyText: string;
  contentType: string | null;
  /** Links, times and viewer for the renderers. */
  view: View;
}

/** What a handler gives; nothing is a 204. */
export type Given = Answer | void;
export type Handler = (call: Call) => Given | Promise<Given>;

/** What a resource file exports: handlers by the names of the operations table; routes and scopes derive from the table. */
export type Handlers = Partial<Record<OperationName, Handler>>;
