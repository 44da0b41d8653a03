import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { stringifyJson } from '../core/json.js';
import { limitedServer, SANDBOX_LIMITS } from '../platform/limited-server.js';
import { operationOf } from '../forge/operations.js';
import { type Answer, noContent, Refusal } from './answer.js';
import { authenticate, checkScope, impersonate, queryToken } from './auth.js';
import type { ControlRouter } from './control/router.js';
import { injectFault, type LetGo } from './faults/inject-fault.js';
import type { CallFaults } from './faults/call-faults.js';
import type { Call } from './handler.js';
import type { Ledger, LedgerEntry } from './ledger.js';
import type { Profile } from './profiles.js';
import type { Router } from './routing.js';
import { answerWeb } from './web/web-routes.js';
import type { World } from './world.js';
import type { RawRequest } from './raw-request.js';

export const API_PREFIX = '/api/v1';
const MAX_BODY_BYTES = 64 * 1024 * 1024;
const JSON_TYPE = 'application/json;charset=utf-8';
const TEXT_TYPE = 'text/plain; charset=utf-8';
const QUERY_TOKEN_WARNING =
  'a token in the query is deprecated: it ends up in logs; send an Authorization header instead';

interface ServerParts {
  world: World;
  profile: Profile;
  router: Router;
  ledger: Ledger;
  control: ControlRouter;
  faults: CallFaults;
  /** Told of effects that come after their caller was let go. */
  letGo: LetGo;
  /** Called for faults of our own code, never for refusals. */
  onFault: (error: unknown) => void;
}

/** More than a real server would take is read to its end and refused. */
const TOO_LARGE: Answer = { status: 413, text: 'the body is too large\n' };

export function createForgeServer(parts: ServerParts): Server {
  return limitedServer(SANDBOX_LIMITS, (request, response) => {
    void serve(parts, request, response);
  });
}

async function serve(parts: ServerParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = request.url ?? '/';
  const isApi = url.startsWith(`${API_PREFIX}/`) || url === API_PREFIX;
  const entry = isApi ? parts.ledger.open(request.method ?? 'GET', url, request.headers.host ?? null) : null;
  let isRead = false;
  if (entry) response.once('close', () => parts.ledger.ended(entry, response.writableFinished ? 'answered' : 'gone'));
  try {
    const raw = await readRequest(request);
    isRead = true;
    if (entry) parts.ledger.keepBody(entry, raw.body);
    const answer = raw.isTooLarge
      ? TOO_LARGE
      : entry
        ? await parts.ledger.during(entry, () => answerApi(parts, raw, entry))
        : await answerOther(parts, raw);
    if (entry && answer.wire?.kind !== 'reset') {
      entry.status = answer.status;
      parts.ledger.handed(entry);
    }
    send(response, answer, request.method === 'HEAD');
  } catch (error) {
    // Otherwise the connection broke while the body came: there is nobody left to answer.
    if (isRead) parts.onFault(error);
    response.destroy();
  }
}

async function readRequest(request: IncomingMessage): Promise<RawRequest> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  const [path = '/', ...rest] = (request.url ?? '/').split('?');
  const rawQuery = rest.join('?');
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );
  return {
    method: request.method ?? 'GET',
    path,
    rawQuery,
    query: new URLSearchParams(rawQuery),
    headers,
    body: Buffer.concat(chunks),
    isTooLarge: size > MAX_BODY_BYTES,
  };
}

async function answerOther(parts: ServerParts, raw: RawRequest): Promise<Answer> {
  if (raw.path.startsWith('/_sandbox')) return parts.control.answer(raw);
  const { world, profile } = parts;
  return answerWeb(world, profile, raw, baseUrlOf(raw, world)) ?? { status: 404, text: 'not found\n' };
}

async function answerApi(parts: ServerParts, raw: RawRequest, entry: LedgerEntry): Promise<Answer> {
  const { world, profile } = parts;
  if (raw.method === 'HEAD' && !profile.head) return { status: 405 };
  const method = raw.method === 'HEAD' ? 'GET' : raw.method;
  const match = parts.router.find(method, raw.path.slice(API_PREFIX.length));
  if (match.kind === 'no such route')
    return { status: 404, text: '404 page not found\n', headers: { 'content-type': TEXT_TYPE } };
  if (match.kind === 'method not allowed') return { status: 405 };
  entry.operation = match.route.name;
  const baseUrl = baseUrlOf(raw, world);
  let isAdmin = false;
  try {
    const signed = authenticate(world, raw.headers.authorization, raw.query);
    const caller = impersonate(world, signed, raw.headers.sudo ?? raw.query.get('sudo'));
    isAdmin = caller.user?.isAdmin ?? false;
    entry.caller = caller.user?.login ?? null;
    checkScope(caller.token, method, match.route.scope);
    const call: Call = {
      world,
      profile,
      caller,
      operation: match.route.name,
      method,
      params: match.params,
      query: raw.query,
      rawPath: raw.path,
      rawQuery: raw.rawQuery,
      bodyText: raw.body.toString('utf8'),
      contentType: raw.headers['content-type'] ?? null,
      view: { world, profile, baseUrl, viewer: caller.user },
    };
    const isWrite = method !== 'GET' && !operationOf(match.route.name).readOnly;
    const fate = parts.faults.meet({ operation: match.route.name, isWrite, caller: entry.caller });
    entry.fault = fate.name;
    const perform = async (): Promise<Answer> => {
      try {
        return withWarning((await match.route.handler(call)) ?? noContent(), raw);
      } catch (error) {
        return failed(error, parts, baseUrl, isAdmin);
      }
    };
    return await injectFault(fate, raw.path, perform, parts.letGo);
  } catch (error) {
    return failed(error, parts, baseUrl, isAdmin);
  }
}

function failed(error: unknown, { profile, onFault }: ServerParts, baseUrl: string, isAdmin: boolean): Answer {
  if (error instanceof Refusal) return refused(error, profile, baseUrl, isAdmin);
  onFault(error);
  return { status: 500, json: { message: '', url: baseUrl + profile.docsPath } };
}

/** Links follow the Host of the request, as real servers do; an odd one counts as none. */
function baseUrlOf(raw: RawRequest, world: World): string {
  const url = `http://${raw.headers.host ?? ''}`;
  return URL.canParse(url) && /^http:\/\/[\w.:[\]-]+$/.test(url) ? url : world.rootUrl;
}

function withWarning(answer: Answer, raw: RawRequest): Answer {
  if (queryToken(raw.query) === undefined || raw.headers.authorization) return answer;
  return { ...answer, headers: { ...answer.headers, 'x-gitea-warning': QUERY_TOKEN_WARNING } };
}

/** `{message, url}`; the message of a 500 is for site admins only. */
function refused(refusal: Refusal, profile: Profile, baseUrl: string, isAdmin: boolean): Answer {
  const { status, extra } = refusal;
  const headers = extra?.headers ? { headers: extra.headers } : {};
  if (extra?.body === null) return { status, ...headers };
  if (typeof extra?.body === 'string') return { status, text: extra.body, ...headers };
  if (extra?.body !== undefined) return { status, json: extra.body, ...headers };
  if (status === 404 && refusal.message === '') return { status, json: plainNotFound(profile, baseUrl), ...headers };
  const message = status === 500 && !isAdmin ? '' : refusal.message;
  return { status, json: { message, url: baseUrl + profile.docsPath }, ...headers };
}

function plainNotFound({ notFound, docsPath }: Profile, baseUrl: string): object {
  const body = { message: notFound.message, url: baseUrl + docsPath };
  if (notFound.errors === 'none') return body;
  return notFound.errors === 'null in front' ? { errors: null, ...body } : { ...body, errors: [] };
}

function send(response: ServerResponse, answer: Answer, headOnly: boolean): void {
  if (answer.wire?.kind === 'reset') {
    response.socket?.resetAndDestroy();
    return;
  }
  const headers = { ...answer.headers };
  let body = '';
  if (answer.text !== undefined) {
    headers['content-type'] ??= TEXT_TYPE;
    body = answer.text;
  } else if (answer.json !== undefined) {
    headers['content-type'] ??= JSON_TYPE;
    body = `${stringifyJson(answer.json)}\n`;
  }
  const { wire } = answer;
  if (wire?.kind === 'cut' && wire.framed) body = body.slice(0, body.length >> 1);
  if (answer.status !== 204) headers['content-length'] = String(Buffer.byteLength(body));
  if (answer.cookies && answer.cookies.length > 0) response.setHeader('set-cookie', answer.cookies);
  response.writeHead(answer.status, headers);
  if (wire?.kind === 'cut' && !wire.framed) response.write(body.slice(0, body.length >> 1), () => response.destroy());
  else if (wire?.kind === 'drip' && body !== '') drip(response, Buffer.from(body), wire.ms);
  else response.end(headOnly ? '' : body);
}

/** Byte by byte, the last one when the time is over. */
function drip(response: ServerResponse, body: Buffer, ms: number): void {
  let sent = 0;
  const timer = setInterval(() => {
    if (response.destroyed) return clearInterval(timer);
    response.write(body.subarray(sent, ++sent));
    if (sent < body.length) return;
    clearInterval(timer);
    response.end();
  }, ms / body.length);
}
