import { userInfo } from 'node:os';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { equalSecret } from '../core/equal-secret.js';
import { UserError } from '../core/errors.js';
import { OPERATOR_SCOPES, operatorState } from '../core/operator-scopes.js';
import type { ControlCaller, Operator } from '../core/operators.js';
import type { Secret } from '../core/secret.js';
import type { SecurityLog } from '../core/security-log.js';
import { missingScope, type NeededScope } from './operations/admission.js';
import { hashOperatorToken, isOperatorToken } from './operator-token.js';

export interface ControlAccessOptions {
  /**
   * `socket`: only its owner and root reach it, since its folder lets nobody else in. `command`: this process calls itself, after it opened the
   * store. `tcp`: anybody may call, so each caller needs a token.
   */
  readonly place: 'socket' | 'command' | 'tcp';
  /** Host names of the TCP form, with their port. */
  readonly hosts: readonly string[];
  readonly configToken: Secret | null;
  readonly operatorOf: (tokenHash: string) => Promise<Operator | null>;
  readonly now: () => Date;
  readonly security: SecurityLog;
}

interface Refusal {
  readonly status: 401 | 403 | 421;
  readonly error: string;
  readonly message: string;
  readonly class: 'authentication_failed' | 'unknown_operator' | 'power_refused';
  readonly reason: string;
  readonly operator?: string;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a caller of the route must have. */
    scope?: NeededScope;
  }
}

const WRONG_HOST = { status: 421, error: 'WRONG_HOST' } as const;
const UNKNOWN = { status: 401, class: 'unknown_operator' } as const;
const ALL = [...OPERATOR_SCOPES];
const CONFIG_TOKEN: ControlCaller = {
  kind: 'config-token',
  name: 'config-token',
  login: null,
  scopes: ALL,
  grants: null,
};

/**
 * Identifies the caller of each request before its body is read, and refuses what the caller has no scope for. No header names a caller: the name
 * comes from the token, or from the owner of the socket where there is no token.
 */
export class ControlAccess {
  private readonly callers = new WeakMap<FastifyRequest, ControlCaller>();
  private readonly local: ControlCaller;

  constructor(private readonly options: ControlAccessOptions) {
    const kind = options.place === 'command' ? 'command' : 'socket';
    this.local = ownerCaller(kind);
  }

  /** Guard every route of a server. Call it before the first route. */
  guard(server: FastifyInstance): void {
    server.addHook('onRoute', ({ method, path, config }) => {
      if (!config?.scope) throw new Error(`the route ${[method].flat().join(', ')} ${path} has no scope`);
    });
    server.addHook('onRequest', async (request, reply) => {
      const callerOrRefusal = await this.identify(request);
      const refusal = 'error' in callerOrRefusal ? callerOrRefusal : this.forbids(callerOrRefusal, request);
      if (refusal) return this.refuse(refusal, request, reply);
      if (!('error' in callerOrRefusal)) this.callers.set(request, callerOrRefusal);
      return undefined;
    });
  }

  callerOf(request: FastifyRequest): ControlCaller {
    const caller = this.callers.get(request);
    if (!caller) throw new UserError('UNAUTHORIZED', 'the request has no caller');
    return caller;
  }

  private async identify({ headers }: FastifyRequest): Promise<ControlCaller | Refusal> {
    const { place, hosts, configToken, operatorOf, now } = this.options;
    // A page in someone's browser reaches 127.0.0.1 under another name (DNS rebinding); its Host gives it away.
    if (place === 'tcp' && !hosts.includes((headers.host ?? '').toLowerCase()))
      return {
        ...unauthorized('wrong_host', 'this control API answers to the host and port of control.listen alone'),
        ...WRONG_HOST,
      };
    if (headers.authorization === undefined) {
      if (place !== 'tcp') return this.local;
      return unauthorized('no_token', 'the control API needs a token (Authorization: Bearer …)');
    }
    const token = /^Bearer ([\x21-\x7e]{1,512})$/.exec(headers.authorization)?.[1];
    if (token === undefined)
      return unauthorized('malformed', 'the Authorization header is not of the form Bearer TOKEN');
    if (configToken && equalSecret(token, configToken.reveal())) return CONFIG_TOKEN;
    if (!isOperatorToken(token)) return unauthorized('wrong_token', 'the control token is wrong');
    const operator = await operatorOf(hashOperatorToken(token));
    if (!operator)
      return { ...UNKNOWN, error: 'UNKNOWN_OPERATOR', message: 'no operator has this token', reason: 'unknown' };
    const { name, login, scopes } = operator;
    const state = operatorState(operator, now());
    if (state === 'active') return { kind: 'operator', name, login, scopes, grants: null };
    const when = (operator.revokedAt ?? operator.expiresAt).toISOString();
    const [error, happened] =
      state === 'expired' ? ['OPERATOR_EXPIRED', 'expired'] : ['OPERATOR_REVOKED', 'was revoked'];
    const message = `the token of ${name} ${happened} at ${when}: ask the bot's owner for a new one`;
    return { ...UNKNOWN, error, message, reason: state, operator: name };
  }

  /** The operation asks the same once more; here it is asked before a body is read. */
  private forbids(caller: ControlCaller, { routeOptions, is404 }: FastifyRequest): Refusal | null {
    if (is404) return null;
    const { scope } = routeOptions.config;
    const missing = missingScope(caller, scope ?? null);
    return (
      missing && { ...missing, status: 403, class: 'power_refused', reason: scope ?? 'no_scope', operator: caller.name }
    );
  }

  private refuse(
    { status, error, message, class: name, reason, operator }: Refusal,
    request: FastifyRequest,
    reply: FastifyReply,
  ): FastifyReply {
    this.options.security.record({
      class: name,
      place: this.options.place,
      reason,
      operator,
      method: request.method,
      path: request.routeOptions.url,
      address: request.socket.remoteAddress,
    });
    return reply.code(status).send({ error, message });
  }
}

/** The user that this process runs as: it has the store, and so every right. */
export function ownerCaller(kind: 'socket' | 'command'): ControlCaller {
  return { kind, name: `${kind}:${ownUser()}`, login: null, scopes: ALL, grants: null };
}

function unauthorized(reason: string, message: string): Refusal {
  return { status: 401, error: 'UNAUTHORIZED', message, class: 'authentication_failed', reason };
}

/** The system's name for the user of this process, which owns the socket. A user without a name has its number. */
function ownUser(): string {
  try {
    return userInfo()
      .username.replace(/[^\x21-\x7e]/g, '?')
      .slice(0, 64);
  } catch {
    return `uid-${process.getuid?.() ?? '?'}`;
  }
}
