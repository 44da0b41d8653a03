import { randomBytes } from 'node:crypto';
import { isJsonObject, parseJson } from '../../core/json.js';
import type { Answer } from '../answer.js';
import type { Profile } from '../profiles.js';
import type { Id, World } from '../world.js';
import type { WebSession, AskedGrant } from '../entities/people.js';
import type { RawRequest } from '../raw-request.js';

/** One request to the pages of the forge, which browsers and OAuth2 clients ask; the API is asked elsewhere. */
export interface WebCall {
  readonly world: World;
  readonly profile: Profile;
  readonly raw: RawRequest;
  readonly baseUrl: string;
  /** Fields of the body, sent as a form or as JSON. */
  readonly form: URLSearchParams;
  readonly browser: Browser;
}

export type WebHandler = (call: WebCall) => Answer;

/** The cookies of one request: what came, and what the answer sets. */
export class Browser {
  readonly lines: string[] = [];
  readonly #came: ReadonlyMap<string, string>;
  #session: WebSession;

  constructor(
    private readonly world: World,
    private readonly profile: Profile,
    cookieHeader: string | undefined,
  ) {
    this.#came = readCookies(cookieHeader);
    const id = this.#came.get(profile.web.sessionCookie) ?? '';
    const isOurs = /^[0-9a-f]{32}$/.test(id);
    this.#session = world.webSessions.get(id) ?? newSession(isOurs ? id : undefined);
    if (!isOurs) this.set(profile.web.sessionCookie, this.#session.id);
  }

  get session(): Readonly<WebSession> {
    return this.#session;
  }

  cookie(name: string): string | undefined {
    return this.#came.get(name);
  }

  set(name: string, value: string): void {
    this.lines.push(`${name}=${encodeURIComponent(value)}; Path=/; HttpOnly; SameSite=Lax`);
  }

  clear(name: string): void {
    this.lines.push(`${name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax`);
  }

  keepRequest(request: AskedGrant | null): void {
    this.#session.asked = request;
    this.#keep();
  }

  /** Under a new name, so that nobody knows it who knew the old one. */
  logIn(userId: Id): void {
    this.world.webSessions.delete(this.#session.id);
    this.#session = { ...newSession(), userId };
    this.#keep();
    this.set(this.profile.web.sessionCookie, this.#session.id);
  }

  logOut(): void {
    this.world.webSessions.delete(this.#session.id);
    this.lines.length = 0;
    for (const name of [this.profile.web.sessionCookie, this.profile.web.rememberCookie, REDIRECT_COOKIE])
      this.clear(name);
  }

  #keep(): void {
    this.world.webSessions.set(this.#session.id, this.#session);
    this.world.changed('web session', this.#session.id.slice(0, 6), 'updated');
  }
}

export const REDIRECT_COOKIE = 'redirect_to';

/** Nothing is kept of one until there is something to keep. */
function newSession(id = randomBytes(16).toString('hex')): WebSession {
  return { id, userId: null, asked: null };
}

function readCookies(header = ''): Map<string, string> {
  return new Map(
    header.split('; ').flatMap((pair): Array<[string, string]> => {
      const at = pair.indexOf('=');
      return at < 1 ? [] : [[pair.slice(0, at), decoded(pair.slice(at + 1))]];
    }),
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The fields of a body; a body that cannot be read has none. */
export function readForm({ headers, body }: RawRequest): URLSearchParams {
  const text = body.toString('utf8');
  if (!headers['content-type']?.includes('json')) return new URLSearchParams(text);
  try {
    const read = parseJson(text);
    return new URLSearchParams(
      isJsonObject(read) ? Object.entries(read).map(([key, value]): [string, string] => [key, String(value)]) : [],
    );
  } catch {
    return new URLSearchParams();
  }
}

/** 303; a browser that asked with GET gets a line that says so. */
export function redirect({ raw }: WebCall, to: string): Answer {
  if (raw.method !== 'GET') return { status: 303, headers: { location: to } };
  return {
    status: 303,
    text: `<a href="${escapeHtml(to)}">See Other</a>.\n\n`,
    headers: { location: to, 'content-type': 'text/html; charset=utf-8' },
  };
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`).replaceAll('&#38;', '&amp;');
}
