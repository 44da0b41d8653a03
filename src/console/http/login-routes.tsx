import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Control } from '../../api/operations/index.js';
import { hashOperatorToken, isOperatorToken } from '../../api/operator-token.js';
import { holderOf } from '../../platform/client-address.js';
import type { Clock } from '../../core/clock.js';
import { BotError } from '../../core/errors.js';
import { operatorState } from '../../core/operator-scopes.js';
import type { SecurityLog } from '../../core/security-log.js';
import type { PendingLogin, PersonLogin } from '../login/login.port.js';
import type { Sessions } from '../sessions/sessions.js';
import { documentOf, queryOf, sendHtml, sentence, errorInWords, type Http, type Visit } from './answers.js';
import { isCsrfToken } from './csrf.js';
import { formOf } from './forms.js';
import { LoginLimit, type Source } from './login-limit.js';
import { LoginView } from './login-view.js';
import { localPath } from './origins.js';

interface LoginDeps {
  readonly http: Http;
  readonly sessions: Sessions;
  readonly control: () => Control | null;
  readonly login: PersonLogin;
  readonly clock: Clock;
  readonly security: SecurityLog;
  /** Whether requests come through a proxy. */
  readonly isProxied: boolean;
  readonly visitOf: (request: FastifyRequest) => Visit;
}

type ForgeRequest = FastifyRequest<{ Params: { forge: string } }>;

/** How a session begins and ends. Each begin gets a new secret, whatever cookie the browser sent. */
export function addLoginRoutes(server: FastifyInstance, deps: LoginDeps): void {
  const { http, sessions, control, login, clock, security, isProxied, visitOf } = deps;
  const limit = new LoginLimit(clock, { ofOne: 10, ofShared: 100 });
  // Each of them takes a place in the store until it is over.
  const beginLimit = new LoginLimit(clock, { ofOne: 30, ofShared: 300 });
  const from = ({ ip, socket }: FastifyRequest): Source => ({
    address: holderOf(ip, socket.remoteAddress),
    isShared: isProxied && ip === socket.remoteAddress,
  });

  const page = (request: FastifyRequest, reply: FastifyReply, status: number, problem: string | null): FastifyReply => {
    const visit = { ...visitOf(request), who: null };
    const body = <LoginView forges={login.forges} next={localPath(visit.query['next'])} />;
    return sendHtml(reply, status, documentOf(http, visit, { title: 'Log in', body, problem, islands: ['login'] }));
  };
  /** @returns seconds until this address may guess again; 0 = it may now. Beyond the limit its answer comes late: wrong guesses alone are slowed. */
  const refuse = async (request: FastifyRequest, way: string, reason: string): Promise<number> => {
    security.record({ class: 'authentication_failed', place: 'console', way, reason, address: request.ip });
    const waitS = limit.failed(from(request));
    if (waitS > 0) await slowed(request);
    return waitS;
  };
  const logIn = async (
    request: FastifyRequest,
    reply: FastifyReply,
    who: Parameters<Sessions['begin']>[0],
  ): Promise<void> => {
    const token = await sessions.begin(who, request.headers['user-agent']);
    await sessions.endOf(visitOf(request).token);
    reply.header('set-cookie', [http.cookies.set('session', token, null), http.cookies.clear('login')]);
  };

  server.get('/login', async (request, reply) => {
    const { token, query } = visitOf(request);
    if (await sessions.find(token, { fresh: false })) return reply.redirect(localPath(query['next']), 303);
    return page(request, reply, 200, null);
  });

  server.post('/login/link', async (request, reply) => {
    const code = formOf(request)['code'] ?? '';
    const name = /^[A-Za-z0-9_-]{22}$/.test(code) ? await sessions.takeLink(code) : null;
    if (name === null) {
      const waitS = await refuse(request, 'link', 'unknown');
      if (waitS > 0) return reply.code(429).send({ error: 'TOO_MANY', message: tooMany(waitS) });
      const message = 'This link was used, or is older than a minute. Run forgehand console for a new one.';
      return reply.code(403).send({ error: 'LINK_OVER', message });
    }
    await logIn(request, reply, { kind: 'local', name, grant: null });
    return reply.send({ to: '/' });
  });

  server.post('/login/token', async (request, reply) => {
    const form = formOf(request);
    const token = (form['token'] ?? '').trim();
    const hash = hashOperatorToken(token);
    const operator = isOperatorToken(token) ? ((await control()?.operatorOf(hash)) ?? null) : null;
    if (!operator || operatorState(operator, clock.now()) !== 'active') {
      const waitS = await refuse(request, 'token', operator ? 'over' : 'unknown');
      if (waitS > 0) return page(request, reply, 429, tooMany(waitS));
      return page(
        request,
        reply,
        403,
        'No operator has this token, or it has expired. Ask the owner of the bot for a new one.',
      );
    }
    await logIn(request, reply, { kind: 'operator', name: operator.name, grant: hash });
    return reply.redirect(localPath(form['next']), 303);
  });

  server.get('/login/forge/:forge', async (request: ForgeRequest, reply) => {
    const { forge } = request.params;
    if (!login.forges.includes(forge))
      return page(request, reply, 404, `The Console has no login through ${forge}. Choose one of the login page.`);
    const waitS = beginLimit.failed(from(request));
    if (waitS > 0) return page(request, reply, 429, tooMany(waitS));
    const next = localPath(visitOf(request).query['next']);
    const { url, pending } = await login.begin(forge, next, redirectUri(request, forge));
    const token = await sessions.keepLogin(JSON.stringify(pending));
    return reply.header('set-cookie', http.cookies.set('login', token, null)).redirect(url, 303);
  });

  server.get('/login/callback/:forge', async (request: ForgeRequest, reply) => {
    const { forge } = request.params;
    // Taken whatever comes of it: an answer of the forge is used once.
    const pendingText = await sessions.takeLogin(http.cookies.read(request.headers.cookie, 'login'));
    const pending = pendingText === null ? null : (JSON.parse(pendingText) as PendingLogin);
    if (pending?.forge !== forge) {
      const waitS = await refuse(request, 'forge', pending === null ? 'not_begun_here' : 'other_forge');
      if (waitS > 0) return page(request, reply, 429, tooMany(waitS));
      return page(request, reply, 403, 'This login began in another browser, or took too long. Begin again.');
    }
    try {
      const person = await login.finish(pending, queryOf(request), redirectUri(request, forge));
      if (person.forge !== forge) throw new BotError('WRONG_FORGE', 'the person is of another forge');
      await logIn(request, reply, {
        kind: 'person',
        name: `person:${person.login}@${person.forge}`,
        grant: person.grantId,
      });
    } catch (error) {
      const words = errorInWords(error);
      if (words.status >= 500) throw error;
      await refuse(request, 'forge', error instanceof BotError ? error.code : 'refused');
      return page(request, reply, 403, sentence(words.message));
    }
    // A page of ours goes on, not a redirect: to the browser a redirect still comes from the forge, and it would not send a strict cookie.
    const goOnTo = localPath(pending.returnTo);
    const body = (
      <p>
        <a href={goOnTo}>Go on</a>
      </p>
    );
    return sendHtml(
      reply,
      200,
      documentOf(http, { ...visitOf(request), who: null }, { title: 'You are logged in', body, goOnTo }),
    );
  });

  server.post('/logout', async (request: FastifyRequest, reply) => {
    const { token } = visitOf(request);
    if (token !== null && isCsrfToken(formOf(request)['csrf'], token)) await sessions.endOf(token);
    return reply.header('set-cookie', http.cookies.clear('session')).redirect('/login', 303);
  });

  function redirectUri(request: FastifyRequest, forge: string): string {
    return `${http.origins.originOf(request.headers.host)}/login/callback/${encodeURIComponent(forge)}`;
  }
}

function tooMany(waitS: number): string {
  return `Too many wrong tries from your address. A right one is taken at once; the next wrong one in ${waitS} s.`;
}

/** How long the answer to a wrong guess beyond the limit is held back. */
const SLOWED_MS = 1_000;

/** Rests, unless the sender has gone. */
async function slowed({ raw: { socket } }: FastifyRequest): Promise<void> {
  const closing = new AbortController();
  const leave = (): void => closing.abort();
  socket.once('close', leave);
  await sleep(SLOWED_MS, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
  socket.off('close', leave);
}
