import { aConfig } from '../../test/builders/a-config.js';
import { ShownOrgs } from './operations/shown-orgs.js';
import { userInfo } from 'node:os';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { FastifyInstance } from 'fastify';
import { InMemoryOperatorStore } from '../../test/fakes/in-memory-operator-store.js';
import { ManualClock } from '../../test/fakes/manual-clock.js';
import { silentLogger } from '../core/logger.js';
import type { OperatorScope } from '../core/operator-scopes.js';
import type { Operator } from '../core/operators.js';
import { Secret } from '../core/secret.js';
import type { SecurityEvent } from '../core/security-log.js';
import { Metrics } from '../observability/metrics.js';
import { buildControlServer } from './control-server.js';
import { LongCalls } from './long-calls.js';
import { OPERATIONS, type Control } from './operations/index.js';
import { hashOperatorToken, newOperatorToken } from './operator-token.js';

const CONFIG_TOKEN = 'canary-control-token-of-32-bytes!!';
const HOST = '127.0.0.1:9090';
const DAY_MS = 86_400_000;
const OWNER = `socket:${userInfo().username}`;

/** Orders of the control API, with the scope of each and the name of the caller that the service was given. */
const ORDERS: ReadonlyArray<readonly [string, string, object, OperatorScope]> = [
  ['pause', '/v1/pause', { org: 'acme' }, 'operate'],
  ['resume', '/v1/resume', { org: 'acme' }, 'operate'],
  ['approve', '/v1/approvals/i1', {}, 'approve'],
  ['decidePlan', '/v1/plans/abcdef/approve', {}, 'approve'],
  ['resolve', '/v1/intents/i1/resolve', { exists: true }, 'operate'],
  ['plan', '/v1/plans', { org: 'acme' }, 'operate'],
  ['applyPlan', '/v1/plans/abcdef/apply', {}, 'operate'],
  ['release', '/v1/quarantined/e1/release', {}, 'operate'],
  ['retry', '/v1/intents/i1/retry', {}, 'operate'],
  ['replay', '/v1/deliveries/d1/replay', {}, 'operate'],
  ['promote', '/v1/promote', { rule: 'r1', to: 'live' }, 'operate'],
  ['runSchedule', '/v1/orgs/acme/schedules/nightly/run', {}, 'operate'],
  ['runJob', '/v1/housekeeping/audit.seal/run', {}, 'operate'],
  ['restore', '/v1/archive/restore', { file: '/a' }, 'operate'],
  ['installHook', '/v1/orgs/acme/hook', {}, 'operate'],
];

/** The control API of version 0.1.0, which command lines of that version call. A path that is given up stays here, as an alias, for one version. */
const ROUTES: ReadonlyArray<readonly ['GET' | 'POST', string, OperatorScope | 'owner']> = [
  ['GET', '/metrics', 'read'],
  ['GET', '/v1/status', 'read'],
  ['GET', '/v1/doctor', 'read'],
  ['GET', '/v1/deliveries', 'read'],
  ['GET', '/v1/gaps', 'read'],
  ['GET', '/v1/runs', 'read'],
  ['GET', '/v1/runs/:id', 'read'],
  ['GET', '/v1/shadow', 'read'],
  ['GET', '/v1/explain', 'read'],
  ['GET', '/v1/history', 'read'],
  ['GET', '/v1/history/:id', 'read'],
  ['GET', '/v1/plans', 'read'],
  ['GET', '/v1/plans/:hash', 'read'],
  ['GET', '/v1/findings', 'read'],
  ['GET', '/v1/audit', 'read'],
  ['GET', '/v1/approvals', 'read'],
  ['GET', '/v1/housekeeping', 'read'],
  ['GET', '/v1/operators', 'read'],
  ['POST', '/v1/orgs/:org/hook', 'operate'],
  ['POST', '/v1/deliveries/:id/replay', 'operate'],
  ['POST', '/v1/intents/:id/retry', 'operate'],
  ['POST', '/v1/intents/:id/resolve', 'operate'],
  ['POST', '/v1/quarantined/:id/release', 'operate'],
  ['POST', '/v1/plans', 'operate'],
  ['POST', '/v1/plans/:hash/apply', 'operate'],
  ['POST', '/v1/pause', 'operate'],
  ['POST', '/v1/resume', 'operate'],
  ['POST', '/v1/promote', 'operate'],
  ['POST', '/v1/orgs/:org/schedules/:schedule/run', 'operate'],
  ['POST', '/v1/housekeeping/:job/run', 'operate'],
  ['POST', '/v1/archive/restore', 'operate'],
  ['POST', '/v1/plans/:hash/approve', 'approve'],
  ['POST', '/v1/approvals/:id', 'approve'],
  ['POST', '/v1/store/copy', 'owner'],
  ['POST', '/v1/operators', 'owner'],
  ['POST', '/v1/operators/:name/revoke', 'owner'],
];

describe('api/control-access', () => {
  let clock: ManualClock;
  let store: InMemoryOperatorStore;
  let callers: Array<[string, string]>;
  let security: SecurityEvent[];

  beforeEach(() => {
    clock = new ManualClock();
    store = new InMemoryOperatorStore();
    callers = [];
    security = [];
  });

  function serve(place: 'socket' | 'tcp' = 'tcp'): FastifyInstance {
    const operations = new Proxy({} as Control['operations'], {
      get: (_target, name) => async (_input: unknown, by: { name: string }) => {
        callers.push([String(name), by.name]);
        return {};
      },
    });
    const service = {
      operations,
      longCalls: new LongCalls({ monotonicMs: () => 0 }, silentLogger),
      knownNames: { of: async () => new Map() },
      shownOrgs: new ShownOrgs(aConfig({})),
      operatorOf: (hash: string) => store.byTokenHash(hash),
      isBusy: async () => false,
      readGauges: async () => {},
    };
    return buildControlServer({
      service: () => service,
      metrics: new Metrics(),
      logger: silentLogger,
      security: { record: (event) => void security.push(event) },
      now: () => clock.now(),
      place,
      token: new Secret(CONFIG_TOKEN),
      hosts: [HOST],
    });
  }

  async function operator(name: string, scopes: OperatorScope[], over: Partial<Operator> = {}): Promise<string> {
    const token = newOperatorToken();
    const now = clock.now();
    const expiresAt = new Date(now.getTime() + 90 * DAY_MS);
    await store.add(
      {
        id: `id-of-${name}`,
        name,
        login: null,
        scopes,
        madeBy: OWNER,
        madeAt: now,
        expiresAt,
        revokedBy: null,
        revokedAt: null,
        ...over,
      },
      hashOperatorToken(token),
    );
    return token;
  }

  const as = (token: string, more: Record<string, string> = {}) => ({
    host: HOST,
    authorization: `Bearer ${token}`,
    ...more,
  });

  it.each(ORDERS)(
    '%s is done in the name that belongs to the token, whatever a header says',
    async (order, url, payload) => {
      const token = await operator('ann', ['read', 'operate', 'approve']);
      const forged = {
        'x-forgehand-caller': 'the-head-of-security',
        'x-forwarded-user': 'root',
        'remote-user': 'root',
      };
      const server = serve();

      await server.inject({ method: 'POST', url, headers: as(token, forged), payload });
      await server.inject({ method: 'POST', url, headers: as(CONFIG_TOKEN, forged), payload });
      await serve('socket').inject({ method: 'POST', url, headers: forged, payload });

      expect(callers).toEqual([
        [order, 'ann'],
        [order, 'config-token'],
        [order, OWNER],
      ]);
    },
  );

  it.each(ORDERS)('%s takes its scope, and no other one will do', async (_order, url, payload, needed) => {
    const scopes = (['read', 'operate', 'approve'] as const).filter((scope) => scope !== needed);
    const token = await operator('ann', [...scopes]);
    const answer = await serve().inject({ method: 'POST', url, headers: as(token), payload });

    expect([answer.statusCode, answer.json()]).toEqual([403, expect.objectContaining({ error: 'SCOPE_MISSING' })]);
    expect(callers).toEqual([]);
    expect(security).toEqual([expect.objectContaining({ class: 'power_refused', reason: needed, operator: 'ann' })]);
  });

  it('lets a token that reads read every view', async () => {
    const token = await operator('ann', ['read']);
    const server = serve();
    const views = ROUTES.filter(([, , scope]) => scope === 'read');

    const statuses: number[] = [];
    for (const [, path] of views)
      statuses.push(
        (await server.inject({ method: 'GET', url: path.replace(/:\w+/, '1'), headers: as(token) })).statusCode,
      );

    expect(statuses).not.toContain(401);
    expect(statuses).not.toContain(403);
  });

  it('lets no operator make or revoke operators, whatever its scopes', async () => {
    const token = await operator('ann', ['read', 'operate', 'approve']);
    const server = serve();

    const add = await server.inject({
      method: 'POST',
      url: '/v1/operators',
      headers: as(token),
      payload: { name: 'bob', scopes: ['approve'], expiresS: 3600 },
    });
    const revoke = await server.inject({
      method: 'POST',
      url: '/v1/operators/ann/revoke',
      headers: as(token),
      payload: {},
    });

    expect([add.json(), revoke.json()]).toEqual([
      expect.objectContaining({ error: 'OWNER_ONLY' }),
      expect.objectContaining({ error: 'OWNER_ONLY' }),
    ]);
    expect(callers).toEqual([]);
  });

  it.each([
    [
      'a token that nobody has',
      async (): Promise<string> => newOperatorToken(),
      'UNKNOWN_OPERATOR',
      'unknown_operator',
      'unknown',
    ],
    [
      'a revoked token',
      (): Promise<string> => operator('ann', ['read'], { revokedAt: clock.now(), revokedBy: OWNER }),
      'OPERATOR_REVOKED',
      'unknown_operator',
      'revoked',
    ],
    [
      'an expired token',
      (): Promise<string> => operator('ann', ['read'], { expiresAt: clock.now() }),
      'OPERATOR_EXPIRED',
      'unknown_operator',
      'expired',
    ],
    [
      'the hash of a token in its place',
      async (): Promise<string> => hashOperatorToken(await operator('ann', ['read'])),
      'UNAUTHORIZED',
      'authentication_failed',
      'wrong_token',
    ],
    [
      'a guess of the shared token',
      async (): Promise<string> => `${CONFIG_TOKEN}x`,
      'UNAUTHORIZED',
      'authentication_failed',
      'wrong_token',
    ],
    ['an empty token', async (): Promise<string> => '', 'UNAUTHORIZED', 'authentication_failed', 'malformed'],
    [
      'two tokens',
      async (): Promise<string> => `${await operator('ann', ['read'])} ${CONFIG_TOKEN}`,
      'UNAUTHORIZED',
      'authentication_failed',
      'malformed',
    ],
  ] as const)(
    'refuses %s on TCP and on the socket, and the security log knows',
    async (_what, make, error, name, reason) => {
      const token = await make();

      for (const place of ['tcp', 'socket'] as const) {
        const answer = await serve(place).inject({ url: '/v1/status', headers: as(token) });

        expect([answer.statusCode, answer.json()]).toEqual([401, expect.objectContaining({ error })]);
        expect(answer.payload).not.toContain(CONFIG_TOKEN);
      }
      expect(callers).toEqual([]);
      expect(security).toEqual(
        ['tcp', 'socket'].map((place) => expect.objectContaining({ class: name, reason, place })),
      );
      expect(JSON.stringify(security)).not.toMatch(/fho_|canary/);
    },
  );

  it('refuses a token from the request after its revocation or its end', async () => {
    const token = await operator('ann', ['read']);
    const server = serve();
    const ask = async (): Promise<number> =>
      (await server.inject({ url: '/v1/status', headers: as(token) })).statusCode;

    const before = await ask();
    clock.advance(90 * DAY_MS);
    const late = await ask();
    const second = await operator('bob', ['read']);
    const bob = async (): Promise<number> =>
      (await server.inject({ url: '/v1/status', headers: as(second) })).statusCode;
    const known = await bob();
    await store.revoke('bob', OWNER, clock.now());

    expect([before, late, known, await bob()]).toEqual([200, 401, 200, 401]);
  });

  it('asks the store for a hash alone, never for a token', async () => {
    const token = await operator('ann', ['read']);
    const asked: string[] = [];
    const byTokenHash = store.byTokenHash.bind(store);
    store.byTokenHash = (hash) => (asked.push(hash), byTokenHash(hash));

    await serve().inject({ url: '/v1/status', headers: as(token) });
    await serve().inject({ url: '/v1/status', headers: as('no-operator-token') });

    expect(asked).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
  });

  it('writes a line for no token and for a wrong host name', async () => {
    const server = serve();

    const bare = await server.inject({ url: '/v1/status', headers: { host: HOST } });
    const rebound = await server.inject({
      url: '/v1/status',
      headers: { ...as(CONFIG_TOKEN), host: 'evil.example:9090' },
    });

    expect([bare.statusCode, rebound.statusCode]).toEqual([401, 421]);
    expect(security.map(({ reason }) => reason)).toEqual(['no_token', 'wrong_host']);
  });

  it('has every route that earlier command lines call, with its scope', () => {
    const server = serve();
    const earlier = ROUTES.filter(([method, url]) => server.hasRoute({ method, url }));
    const scopes = Object.values(OPERATIONS).map(({ route, scope }) => [...route.split(' '), scope]);

    expect(earlier).toEqual(ROUTES);
    expect(scopes).toEqual(expect.arrayContaining(ROUTES.filter(([, path]) => path !== '/metrics')));
  });

  it('refuses to be built with a route that has no scope', () => {
    const server = serve();

    expect(() => server.get('/v1/everything', () => ({}))).toThrow('the route GET /v1/everything has no scope');
  });
});
