import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { BotError } from '../../core/errors.js';
import type { OperatorScope } from '../../core/operator-scopes.js';
import { visibilityOf } from '../../core/operators.js';
import { seesWholeOrg } from '../../core/visibility.js';
import { statusOfError } from '../../api/control-server.js';
import type { AnyPage } from '../page.js';
import type { LoggedIn } from '../sessions/sessions.js';
import { Layout, type NavEntry } from '../ui/layout.js';
import type { Look } from '../ui/look.js';
import type { AssetFiles } from './assets.js';
import type { Cookies } from './cookies.js';
import { csrfToken } from './csrf.js';
import type { Origins } from './origins.js';

/** What the parts of the server share. `origins` and `cookies` are known when it listens. */
export interface Http {
  readonly origins: Origins;
  readonly cookies: Cookies;
  readonly assets: AssetFiles;
  readonly nav: readonly NavEntry[];
  readonly now: () => Date;
}

/** A request, as far as the frame of its page needs to know it. */
export interface Visit {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly nonce: string;
  /** Of the session's cookie; null = nobody is logged in. */
  readonly token: string | null;
  readonly who: LoggedIn | null;
}

export interface PageContent {
  readonly title: string;
  readonly body: ComponentChildren;
  readonly page?: AnyPage;
  readonly islands?: readonly string[];
  readonly notice?: string | null;
  readonly problem?: string | null;
  readonly goOnTo?: string;
}

/** The whole document as text. */
export function documentOf(http: Http, visit: Visit, content: PageContent): string {
  const { who, token } = visit;
  const look: Look = {
    path: visit.path,
    query: visit.query,
    csrf: who && token !== null ? csrfToken(token) : '',
    nonce: visit.nonce,
  };
  const islands = ['page', ...(content.islands ?? content.page?.islands ?? [])];
  const scripts = islands.flatMap((island) => http.assets.script(island) ?? []);
  const html = renderToString(
    <Layout
      title={content.title}
      assets={{ theme: http.assets.theme, scripts }}
      look={look}
      nav={who && !hasNoRights(who) ? http.nav : []}
      current={content.page ? (content.page.within ?? content.page.path) : null}
      name={who?.session.name ?? null}
      notice={content.notice ?? null}
      problem={content.problem ?? null}
      goOnTo={content.goOnTo ?? null}
    >
      {content.body}
    </Layout>,
  );
  return `<!doctype html>${html}`;
}

/** Whether the rights of this person reach an act there. */
/** @param keyOf of what an organization is shown as */
export function mayOf(
  who: LoggedIn | null,
  keyOf: (label: string) => string,
): (scope: OperatorScope, org: string | null) => boolean {
  return (scope, org) => {
    if (!who?.caller.scopes.includes(scope)) return false;
    const visibility = visibilityOf(who.caller, scope);
    return org === null ? visibility === null : seesWholeOrg(visibility, keyOf(org));
  };
}

/** Somebody who is logged in, and whom the forge gives no right to anything of the bot. */
export function hasNoRights({ caller }: LoggedIn): boolean {
  return caller.kind === 'person' && caller.scopes.length === 0;
}

export function sendHtml(reply: FastifyReply, status: number, html: string): FastifyReply {
  return reply.code(status).type('text/html; charset=utf-8').send(html);
}

interface ErrorInWords {
  readonly status: number;
  readonly title: string;
  readonly message: string;
}

/** What a person is told of an error; of one that is ours, nothing but that it happened. */
export function errorInWords(error: unknown): ErrorInWords {
  if (error instanceof BotError) {
    const status = statusOfError(error);
    return { status, title: TITLES.get(status) ?? 'The request failed', message: error.message };
  }
  const status = (error as { statusCode?: number }).statusCode;
  if (status !== undefined && status < 500)
    return {
      status,
      title: 'The bot cannot read this request',
      message: status === 413 ? 'The request is too large. Send less text.' : 'Go back and send the form again.',
    };
  return {
    status: 500,
    title: 'Something went wrong',
    message: 'The bot has an internal error. Its log has the details.',
  };
}

/** A message as it stands in a page. */
export function sentence(message: string): string {
  const text = `${message.charAt(0).toUpperCase()}${message.slice(1)}`;
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

const TITLES = new Map([
  [401, 'Log in first'],
  [403, 'You may not do this'],
  [404, 'There is no such page'],
  [503, 'The bot is not ready'],
]);

/** What stands behind the `?`, each name once. */
export function queryOf(request: FastifyRequest): Readonly<Record<string, string>> {
  const cut = request.url.indexOf('?');
  return Object.fromEntries(new URLSearchParams(cut === -1 ? '' : request.url.slice(cut + 1)));
}

/** The same for a page. Forms send the fields that were left empty as well: they ask for nothing. */
export function filledQueryOf(request: FastifyRequest): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(queryOf(request)).filter(([, value]) => value !== ''));
}
