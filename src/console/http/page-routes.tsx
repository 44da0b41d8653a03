import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { notReady } from '../../api/control-server.js';
import { OPERATIONS, type Control, type OperationName } from '../../api/operations/index.js';
import { isAct, readInput, type AnyOperation } from '../../api/operations/operation.js';
import { BotError } from '../../core/errors.js';
import type { Json } from '../../core/json.js';
import type { ControlCaller } from '../../core/operators.js';
import type { Logger } from '../../core/logger.js';
import type { AnyPage, Ask } from '../page.js';
import { personOf, type LoggedIn, type Sessions } from '../sessions/sessions.js';
import {
  documentOf,
  hasNoRights,
  mayOf,
  sendHtml,
  sentence,
  errorInWords,
  type Http,
  type PageContent,
  type Visit,
} from './answers.js';
import { isCsrfToken } from './csrf.js';
import { formOf } from './forms.js';
import { PageTurns } from './page-turns.js';
import { NoRights } from './no-rights.js';
import { localPath } from './origins.js';

interface PageDeps {
  readonly http: Http;
  readonly pages: readonly AnyPage[];
  readonly sessions: Sessions;
  readonly control: () => Control | null;
  readonly logger: Logger;
  readonly visitOf: (request: FastifyRequest) => Visit;
}

type PageRequest = FastifyRequest<{ Params: Readonly<Record<string, string>>; Body: unknown }>;

/** The pages of the registry: each looked at as the person who is logged in, and nobody else's. */
export function addPageRoutes(
  server: FastifyInstance,
  { http, pages, sessions, control, logger, visitOf }: PageDeps,
): void {
  const turns = new PageTurns({ isBusy: async () => (await control()?.isBusy()) ?? false });
  // What is sent may take long (a job, a plan), and never waits for a rest.
  const acts = new PageTurns({ isBusy: async () => false, places: 16 });
  const asking = (request: PageRequest, who: LoggedIn): Ask => ({
    caller: who.caller,
    session: who.session,
    now: http.now(),
    params: request.params,
    query: visitOf(request).query,
    may: mayOf(who, (label) => control()?.shownOrgs.keyOf(label) ?? label),
    call: (name, ...[input = {}]) => {
      // A link, a prefetch or a reload makes a GET: it never acts.
      if (request.method !== 'POST' && isAct(OPERATIONS[name].scope, input))
        throw new Error(`a page calls ${name} by GET, which changes something`);
      return call(control, who.caller, name, input, request.method === 'POST') as never;
    },
  });

  /** The page as it stands, or an error page. */
  const show = async (
    request: PageRequest,
    reply: FastifyReply,
    page: AnyPage,
    who: LoggedIn,
    problem: { readonly status: number; readonly message: string } | null,
  ): Promise<FastifyReply> => {
    const visit = { ...visitOf(request), who };
    const notice = readNotice(http, request);
    if (notice !== null) reply.header('set-cookie', http.cookies.clear('notice'));
    try {
      const content = shownOf(page, await page.load(asking(request, who)));
      const withNotice = { ...content, notice, problem: problem?.message ?? null };
      return sendHtml(reply, problem?.status ?? 200, documentOf(http, visit, withNotice));
    } catch (error) {
      return sendError(http, reply, visit, error, logger, page);
    }
  };

  for (const page of pages) {
    const limit = page.maxBodyBytes === undefined ? {} : { bodyLimit: page.maxBodyBytes };

    server.get(page.path, async (request: PageRequest, reply) => {
      const { token } = visitOf(request);
      const who = await sessions.find(token, { fresh: false });
      if (!who) return toLogin(request, reply);
      return turns.take(personOf(who.session), () => show(request, reply, page, who, null));
    });

    const { act, calls = {} } = page;
    if (act)
      server.post(page.path, limit, async (request: PageRequest, reply) => {
        const { token } = visitOf(request);
        const who = await sessions.find(token, { fresh: true });
        if (!who || token === null) return toLogin(request, reply);
        const form = formOf(request);
        if (!isCsrfToken(form['csrf'], token))
          return show(request, reply, page, who, { status: 403, message: 'The form was too old. Send it again.' });
        try {
          const outcome = await acts.take(personOf(who.session), () => act(asking(request, who), form));
          if ('show' in outcome)
            return sendHtml(reply, 200, documentOf(http, { ...visitOf(request), who }, shownOf(page, outcome.show)));
          const { to, notice } = outcome;
          if (notice !== undefined) reply.header('set-cookie', http.cookies.set('notice', noticeText(notice), 60));
          return reply.redirect(localPath(to ?? visitOf(request).path), 303);
        } catch (error) {
          if (error instanceof GoesOn) {
            reply.header('set-cookie', http.cookies.set('notice', noticeText(error.message), 60));
            return reply.redirect(localPath(visitOf(request).path), 303);
          }
          const words = errorInWords(error);
          if (words.status === 500) logger.error({ error }, 'console.act-failed');
          return show(request, reply, page, who, words);
        }
      });

    for (const [name, answer] of Object.entries(calls))
      server.post(`${page.path === '/' ? '' : page.path}/${name}`, limit, async (request: PageRequest, reply) => {
        const { who } = visitOf(request);
        if (!who || !isCall(request)) return askToLogIn(request, reply);
        try {
          return await reply.send(
            await acts.take(personOf(who.session), () => answer(asking(request, who), request.body as Json)),
          );
        } catch (error) {
          const { status, message } = errorInWords(error);
          if (status === 500) logger.error({ error }, 'console.call-failed');
          return reply.code(status).send({ error: (error as { code?: string }).code ?? 'INTERNAL', message });
        }
      });
  }
}

function shownOf(page: AnyPage, data: unknown): PageContent {
  return { title: page.title(data), body: page.view(data), page };
}

/** What somebody asked for takes long, and goes on by itself. */
class GoesOn extends Error {}

/** A browser waits so long for what goes on by itself. */
const WAIT_MS = 5_000;

/**
 * @param isAct what takes long is waited for a little, and then goes on without its page
 * @throws BotError BAD_REQUEST for a wrong input, NOT_READY, and what the operation throws; GoesOn
 */
async function call(
  control: () => Control | null,
  caller: ControlCaller,
  name: OperationName,
  fields: object,
  isAct: boolean,
): Promise<unknown> {
  const running = control();
  if (!running) throw notReady();
  const body = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''));
  const operation: AnyOperation = OPERATIONS[name];
  const input = readInput(operation, { method: 'POST', params: {}, query: {}, body });
  const handle = running.operations[name] as (input: unknown, caller: ControlCaller) => Promise<unknown>;
  if (!isAct || !operation.takesLong) return handle(input, caller);
  const ran = await running.longCalls.run(caller, name, input as object, () => handle(input, caller), WAIT_MS);
  if ('call' in ran)
    throw new GoesOn(
      'It takes long, and goes on by itself: look at this page again. Ask once more to wait for its end.',
    );
  return ran.answer;
}

export function sendError(
  http: Http,
  reply: FastifyReply,
  visit: Visit,
  error: unknown,
  logger: Logger,
  page?: AnyPage,
): FastifyReply {
  if (visit.who && hasNoRights(visit.who) && error instanceof BotError && error.code === 'SCOPE_MISSING') {
    const body = <NoRights name={visit.who.session.name} />;
    return sendHtml(reply, 403, documentOf(http, visit, { title: 'There is nothing here for this account', body }));
  }
  const words = errorInWords(error);
  if (words.status === 500) logger.error({ error }, 'console.page-failed');
  const body = (
    <div class="prose">
      <p>{sentence(words.message)}</p>
      <p>
        <a href="/">Go to the overview</a>
      </p>
    </div>
  );
  return sendHtml(
    reply,
    words.status,
    documentOf(http, visit, { title: words.title, body, ...(page ? { page } : {}) }),
  );
}

/** What a script of a page asks shows the token of the session in a header, so it is judged before the body is read. */
export function csrfHeaderOf({ headers }: FastifyRequest): string | undefined {
  const header = headers['x-csrf-token'];
  return typeof header === 'string' ? header : undefined;
}

export function isCall(request: FastifyRequest): boolean {
  return csrfHeaderOf(request) !== undefined;
}

/** @returns the answer to somebody who is not logged in, in the form that was asked for */
export function askToLogIn(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const isJson = request.headers['content-type']?.startsWith('application/json') ?? false;
  if (isJson || isCall(request)) return reply.code(401).send({ error: 'UNAUTHORIZED', message: 'log in again' });
  return toLogin(request, reply);
}

function toLogin(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const next = localPath(request.method === 'GET' ? request.url : undefined);
  return reply.redirect(next === '/' ? '/login' : `/login?${new URLSearchParams({ next }).toString()}`, 303);
}

function noticeText(notice: string): string {
  return Buffer.from(notice.slice(0, 500)).toString('base64url');
}

function readNotice(http: Http, { headers }: FastifyRequest): string | null {
  const text = http.cookies.read(headers.cookie, 'notice');
  return text === null || text === '' ? null : Buffer.from(text, 'base64url').toString().slice(0, 500);
}
