import { Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AddressInfo } from 'node:net';
import { ActStore } from '../api/act-store.port.js';
import { limitedFastify } from '../platform/limited-fastify.js';
import type { Control } from '../api/operations/index.js';
import { SessionStore } from '../api/session-store.port.js';
import { AppConfig, type ConsoleConfig } from '../config/app-config.js';
import { CurrentControl } from '../api/current-control.js';
import { liveActivity } from './live/live-activity.js';
import type { AnyPage } from './page.js';
import { PAGES } from './pages/index.js';
import { listenAddress } from '../config/safe-address.js';
import { TrustedProxies } from '../platform/client-address.js';
import { Clock } from '../core/clock.js';
import { stringifyJson } from '../core/json.js';
import { Logger } from '../core/logger.js';
import { SecurityLog } from '../core/security-log.js';
import { filledQueryOf, type Http, type Visit } from './http/answers.js';
import { AssetFiles } from './http/assets.js';
import { Cookies } from './http/cookies.js';
import { isCsrfToken } from './http/csrf.js';
import { addLoginRoutes } from './http/login-routes.js';
import { Origins } from './http/origins.js';
import { addPageRoutes, askToLogIn, csrfHeaderOf, isCall, sendError } from './http/page-routes.js';
import { csrfIn, MOST_UNPROVED_BYTES, readJson, readText } from './http/read-form.js';
import { nonceOf, useSecurityHeaders } from './http/security-headers.js';
import { LiveHub } from './live/hub.js';
import { addLiveRoute } from './live/live-routes.js';
import type { ActivityRow } from '../insight/activity.js';
import { PersonLogin } from './login/login.port.js';
import { sessionsPage } from './pages/sessions.page.js';
import { Sessions } from './sessions/sessions.js';
import { UserError } from '../core/errors.js';

const SWEEP_MS = 60_000;
/** What is sent without a session. */
const BEGINS_SESSION: ReadonlySet<string> = new Set(['/login/link', '/login/token']);

const FORM_TYPE = 'application/x-www-form-urlencoded';
const BODIES: ReadonlyMap<string, (text: string) => unknown> = new Map([
  [FORM_TYPE, (text: string): unknown => Object.fromEntries(new URLSearchParams(text))],
  ['application/json', readJson],
]);

/** The pages of the Console, on a listener of their own. */
@Injectable()
export class ConsoleServer {
  private readonly server: FastifyInstance;
  private readonly sessions: Sessions;
  private readonly hub: LiveHub<ActivityRow>;
  private readonly visits = new WeakMap<FastifyRequest, Visit>();
  private sweeping: NodeJS.Timeout | undefined;

  constructor(
    private readonly config: AppConfig,
    private readonly control: CurrentControl,
    store: SessionStore,
    acts: ActStore,
    private readonly login: PersonLogin,
    private readonly security: SecurityLog,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    const service = (): Control | null => control.service;
    this.sessions = new Sessions({ config: config.console, control: service, store, acts, login, clock, logger });
    this.hub = new LiveHub({
      source: liveActivity(
        service,
        PAGES.flatMap(({ timeline = [] }) => timeline),
      ),
      visibilitiesOf: (tokens) => this.sessions.visibilitiesOf(tokens),
      clock,
      logger,
    });
    const proxies = new TrustedProxies(config.server.trustedProxies);
    this.server = limitedFastify('console', {
      trustProxy: (address: string) => proxies.trusts(address),
      // Event streams stay open until the browser goes: a stop does not wait for that.
      forceCloseConnections: true,
      routerOptions: { maxParamLength: 300 },
    });
  }

  /** @returns the address for people @throws Error when it cannot listen */
  async listen(): Promise<string> {
    const { clock, logger } = this;
    const config = this.config.console;
    const { host, port } = listenAddress(config.listen);
    const pages = [...PAGES, sessionsPage(this.sessions)];
    const assets = new AssetFiles();
    // The port may be any free one: what depends on it is put right before the first request comes.
    const http: Http = { ...originsOn(config, port), assets, nav: navOf(pages), now: () => clock.now() };
    await useSecurityHeaders(this.server);
    this.guard(http);
    this.addRoutes(http, pages);
    await this.sessions.endForeign();
    await this.server.listen({ host, port });
    Object.assign(http, originsOn(config, (this.server.server.address() as AddressInfo).port));
    this.sweeping = setInterval(() => void this.sweep(), SWEEP_MS).unref();
    logger.info({ url: http.origins.url }, 'console.listening');
    return http.origins.url;
  }

  async close(): Promise<void> {
    clearInterval(this.sweeping);
    this.hub.closeAll();
    await this.server.close();
  }

  /** What is asked of every request, before anything of its body is read: name, origin and, for what is sent to a page, the session. */
  private guard(http: Http): void {
    const { security } = this;
    this.server.addHook('onRequest', async (request, reply) => {
      const { headers, method, ip } = request;
      const [path = '/'] = request.url.split('?');
      const refuse = (status: number, reason: string, message: string) => {
        security.record({
          class: 'authentication_failed',
          place: 'console',
          way: 'request',
          reason,
          method,
          path,
          address: ip,
        });
        return reply.code(status).type('text/plain; charset=utf-8').send(`${message}\n`);
      };
      if (!http.origins.isOurHost(headers.host))
        return refuse(421, 'wrong_host', `The Console does not answer under this name. Open ${http.origins.url}`);
      const isWrite = method !== 'GET' && method !== 'HEAD';
      if ((isWrite && !http.origins.isFromOurPages(headers)) || http.origins.isForeignFetch(headers))
        return refuse(403, 'foreign_origin', 'This request does not come from a page of the Console.');
      const token = http.cookies.read(headers.cookie, 'session');
      const visit: Visit = { path, query: filledQueryOf(request), nonce: nonceOf(reply), token, who: null };
      this.visits.set(request, visit);
      if (!isWrite || BEGINS_SESSION.has(path)) return undefined;
      const who = await this.sessions.find(token, { fresh: false });
      if (!who || token === null) return askToLogIn(request, reply);
      this.visits.set(request, { ...visit, who });
      if (isCall(request) && !isCsrfToken(csrfHeaderOf(request), token)) return askToLogIn(request, reply);
      return undefined;
    });
  }

  private addRoutes(http: Http, pages: readonly AnyPage[]): void {
    const { server, sessions, login, security, clock, logger } = this;
    const config = this.config.console;
    const control = (): Control | null => this.control.service;
    const isProxied = config.publicUrl !== null;
    const visitOf = (request: FastifyRequest): Visit => this.visitOf(request);
    server.setReplySerializer((payload) => stringifyJson(payload));
    server.removeAllContentTypeParsers();
    const wants = (request: FastifyRequest): string | null =>
      BEGINS_SESSION.has(visitOf(request).path) || isCall(request) ? null : visitOf(request).token;
    for (const [type, read] of BODIES)
      server.addContentTypeParser(type, (request, payload, done) => {
        readText(payload, {
          most: request.routeOptions.bodyLimit ?? MOST_UNPROVED_BYTES,
          token: wants(request),
          field: type === FORM_TYPE ? csrfIn : null,
        })
          .then(read)
          .then(
            (body) => done(null, body),
            (error: unknown) => done(error as Error),
          );
      });
    server.setErrorHandler((error, request, reply) => sendError(http, reply, this.visitOf(request), error, logger));
    server.setNotFoundHandler((request, reply) =>
      sendError(
        http,
        reply,
        this.visitOf(request),
        new UserError('NOT_FOUND', 'the address may be mistyped, or its object was deleted'),
        logger,
      ),
    );
    server.get<{ Params: { file: string } }>('/assets/:file', (request, reply) => {
      const asset = http.assets.get(request.params.file);
      if (!asset) return reply.callNotFound();
      return reply.header('cache-control', 'public, max-age=31536000, immutable').type(asset.type).send(asset.body);
    });
    server.get('/favicon.ico', (_request, reply) => reply.code(204).send());
    addLoginRoutes(server, { http, sessions, control, login, clock, security, isProxied, visitOf });
    addLiveRoute(server, { hub: this.hub, sessions, visitOf });
    addPageRoutes(server, { http, pages, sessions, control, logger, visitOf });
  }

  private visitOf(request: FastifyRequest): Visit {
    return this.visits.get(request) ?? { path: '/', query: {}, nonce: '', token: null, who: null };
  }

  private async sweep(): Promise<void> {
    try {
      await this.sessions.sweep();
    } catch (error) {
      this.logger.warn({ error }, 'console.sweep-failed');
    }
  }
}

function originsOn(config: ConsoleConfig, port: number): { origins: Origins; cookies: Cookies } {
  const origins = new Origins(config, port);
  return { origins, cookies: new Cookies(origins.isSecure, port) };
}

function navOf(pages: readonly AnyPage[]): Array<{ label: string; path: string }> {
  return pages
    .flatMap(({ nav, path }) => (nav ? [{ ...nav, path }] : []))
    .sort((a, b) => a.order - b.order)
    .map(({ label, path }) => ({ label, path }));
}
