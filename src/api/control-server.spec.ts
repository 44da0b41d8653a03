import { describe, expect, it } from '@jest/globals';
import { UserError } from '../core/errors.js';
import { silentLogger } from '../core/logger.js';
import { Secret } from '../core/secret.js';
import { silentSecurityLog } from '../core/security-log.js';
import { Metrics } from '../observability/metrics.js';
import { buildControlServer } from './control-server.js';
import type { Control } from './operations/index.js';

const TOKEN = 'canary-control-token-of-32-bytes!!';

function serve(operations: Partial<Control['operations']> | null, place: 'socket' | 'tcp' = 'socket') {
  return buildControlServer({
    service: () => operations && ({ operations } as Control),
    metrics: new Metrics(),
    logger: silentLogger,
    security: silentSecurityLog,
    now: () => new Date(),
    place,
    token: new Secret(TOKEN),
    hosts: ['127.0.0.1:9090', 'localhost:9090'],
  });
}

describe('api/control-server', () => {
  it.each([
    [
      'an unknown field in an order => 400',
      { method: 'POST' as const, url: '/v1/pause', payload: { organisation: 'acme' } },
      400,
    ],
    ['a limit out of range => 400', { method: 'GET' as const, url: '/v1/runs?limit=100000' }, 400],
    ['a NUL in an id => 400', { method: 'GET' as const, url: '/v1/runs/a%00b' }, 400],
    ['a NUL in a question => 400', { method: 'GET' as const, url: '/v1/deliveries?org=a%00b' }, 400],
    ['a NUL in an order => 400', { method: 'POST' as const, url: '/v1/pause', payload: { org: 'a\0b' } }, 400],
    ['a run that is not there => 404', { method: 'GET' as const, url: '/v1/runs/nope' }, 404],
    ['an organization that is not there => 404', { method: 'GET' as const, url: '/v1/deliveries?org=nope' }, 404],
    ['a rule that is not there => 404', { method: 'GET' as const, url: '/v1/orgs/acme/rules/nope' }, 404],
  ])('%s', async (_situation, request, status) => {
    const server = serve({
      run: async () => {
        throw new UserError('NOT_FOUND', 'there is no run nope');
      },
      deliveries: async () => {
        throw new UserError('NO_SUCH_ORG', 'the config has no organization nope');
      },
      rule: async () => {
        throw new UserError('NO_SUCH_RULE', 'there is no rule or policy nope in acme');
      },
    });

    expect((await server.inject(request)).statusCode).toBe(status);
  });

  it('asks for an explanation with what was given, and nothing else', async () => {
    const asked: unknown[] = [];
    const server = serve({ explain: async (query) => (asked.push(query), { about: 'event', rules: [] } as never) });

    expect((await server.inject({ url: '/v1/explain?id=e1&rule=labels' })).json()).toEqual({
      about: 'event',
      rules: [],
    });
    expect((await server.inject({ url: '/v1/explain?rule=labels' })).statusCode).toBe(400);
    expect((await server.inject({ url: '/v1/explain?id=e1&org=acme' })).statusCode).toBe(400);
    expect(asked).toEqual([{ id: 'e1', rule: 'labels', full: false }]);
  });

  it('says that it is starting while there is no service yet', async () => {
    const answer = await serve(null).inject({ url: '/v1/status' });

    expect(answer.statusCode).toBe(503);
    expect(answer.json()).toMatchObject({ error: 'NOT_READY' });
  });

  it('tells a fault of ours without its words', async () => {
    const server = serve({
      status: async () => {
        throw new Error('canary: connection string postgres://user:password@host');
      },
    });

    const answer = await server.inject({ url: '/v1/status' });

    expect(answer.statusCode).toBe(500);
    expect(answer.payload).not.toContain('canary');
  });

  it.each([
    ['no token => 401', {}, 401],
    ['a wrong token => 401', { authorization: 'Bearer nope' }, 401],
    ['the token in another scheme => 401', { authorization: `Basic ${TOKEN}` }, 401],
    ['the right token => 200', { authorization: `Bearer ${TOKEN}` }, 200],
    [
      'the right token under another host name (rebinding) => 421',
      { authorization: `Bearer ${TOKEN}`, host: 'evil.example:9090' },
      421,
    ],
  ])('on TCP, %s', async (_situation, headers, status) => {
    const server = serve({ retry: async () => ({ retried: true }) }, 'tcp');

    const answer = await server.inject({
      method: 'POST',
      url: '/v1/intents/1/retry',
      headers: { host: '127.0.0.1:9090', ...headers },
      payload: {},
    });

    expect(answer.statusCode).toBe(status);
    expect(answer.payload).not.toContain(TOKEN);
  });
});
