import { inspect } from 'node:util';
import { afterEach, describe, expect, it } from '@jest/globals';
import { answer, startScriptedServer, type ScriptedServer, type Script } from '../../../test/fakes/scripted-server.js';
import { Secret } from '../../core/secret.js';
import type { ForgeClient } from '../forge-client.js';
import { createForgeClient } from './create-forge-client.js';
import type { AuthConfig } from '../../config/app-config.js';

const CANARIES = {
  token: 'canary-token-7Qx!',
  password: 'canary-password-ß/+',
  proxy: 'canary-proxy-pass',
  mirror: 'canary-mirror-pass',
  variable: 'canary variable value',
  hook: 'Bearer canary-hook-header',
  sha1: 'c0ffee00canary00sha1',
  lastEight: 'cnrylast',
};

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    encodeURIComponent(secret),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
    JSON.stringify(secret).slice(1, -1),
  ];
}

const forbidden = [...Object.values(CANARIES), `bot:${CANARIES.password}`].flatMap(formsOf);

/** Every way in which somebody could print a thing. */
function printed(thing: unknown): string {
  const error =
    thing instanceof Error
      ? `${thing.stack ?? ''} ${thing.message} ${String(thing.cause)} ${JSON.stringify(thing)} ${JSON.stringify(Object.entries(thing))}`
      : '';
  return [
    inspect(thing, { depth: Infinity, showHidden: true, getters: true }),
    inspect(thing, { depth: Infinity }),
    String(thing),
    error,
    safeJson(thing),
  ].join('\n');
}

function safeJson(thing: unknown): string {
  return JSON.stringify(thing, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)) ?? '';
}

const leaksIn = (text: string): string[] => forbidden.filter((form) => text.includes(form));

const open: ScriptedServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

const AUTHS: [string, AuthConfig][] = [
  ['token', { type: 'token', token: new Secret(CANARIES.token) }],
  ['basic', { type: 'basic', username: 'bot', password: new Secret(CANARIES.password) }],
];

/** Every text in a body, decoded. */
function tellingOf(body: string): string[] {
  const found: string[] = [];
  JSON.parse(
    body === '' ? 'null' : body,
    (_, value: unknown) => (typeof value === 'string' && found.push(value), value),
  );
  return found;
}

/** A forge (or a man between) that says back whatever it was told. */
const echoing =
  (status: number, headers: Record<string, string> = {}): Script =>
  (request, reply) => {
    const text = [
      request.headers['authorization'],
      request.body,
      ...tellingOf(request.body),
      `https://me:${CANARIES.proxy}@mirror.test/x`,
    ].join(' ');
    reply.writeHead(status, {
      'content-type': 'application/json',
      location: `/x/${encodeURIComponent(String(request.headers['authorization']))}`,
      ...headers,
    });
    reply.end(JSON.stringify({ message: text, url: text }));
  };

const writes = (client: ForgeClient): Promise<unknown>[] => [
  client.createPushMirror({
    owner: 'acme',
    repo: 'app',
    body: { remote_address: 'https://mirror.test/x.git', remote_password: new Secret(CANARIES.mirror), interval: '8h' },
  }),
  client.updateOrgVariable({ org: 'acme', variablename: 'A', body: { value: CANARIES.variable } }),
  client.createUserVariable({
    variablename: 'A',
    body: { value: new Secret(CANARIES.variable), description: 7 as never },
  }),
  client.createOrgHook({
    org: 'acme',
    body: {
      type: 'gitea',
      config: { url: 'https://x.test', secret: CANARIES.mirror },
      authorization_header: CANARIES.hook,
    },
  }),
  client.getBranch({ owner: 'acme', repo: 'app', branch: '..' }),
];

describe('forge/http/credentials', () => {
  it.each(
    AUTHS.flatMap(([name, auth]) =>
      [200, 201, 301, 401, 404, 422, 429, 500, 503].map((status) => [name, auth, status] as const),
    ),
  )('%s credentials (%j) show in no error, log line or inspection after a reply of %i', async (_, auth, status) => {
    const server = await startScriptedServer(echoing(status));
    open.push(server);
    const lines: unknown[] = [];
    const logger = {
      debug: (facts: object, message: string) => lines.push(facts, message),
      warn: (facts: object, message: string) => lines.push(facts, message),
    };
    const client = createForgeClient({ baseUrl: `${server.url}/api/v1`, auth, logger, ratePerS: 1000 });

    const errors = await Promise.all(
      writes(client).map((call) =>
        call.then(
          () => null,
          (error: unknown) => error,
        ),
      ),
    );

    expect(errors.some((error) => error !== null)).toBe(true);
    expect(leaksIn([...errors, ...lines, client].map(printed).join('\n'))).toEqual([]);
  });

  it.each<[string, Script]>([
    ['a broken connection', (_, __, socket) => socket.destroy()],
    [
      'a cut body',
      (_, reply, socket) => (reply.writeHead(201, { 'content-length': '900' }), reply.write('{'), socket.end()),
    ],
    ['an endless answer', () => undefined],
    ['HTML', answer(502, '<html>')],
  ])('show in no error after %s', async (_, script) => {
    const server = await startScriptedServer(script);
    open.push(server);
    const client = createForgeClient({
      baseUrl: `${server.url}/api/v1`,
      auth: AUTHS[1]?.[1] as AuthConfig,
      deadlineMs: 100,
    });

    const errors = await Promise.all(
      writes(client).map((call) =>
        call.then(
          () => null,
          (error: unknown) => error,
        ),
      ),
    );

    expect(errors.every((error) => error !== null)).toBe(true);
    expect(leaksIn(errors.map(printed).join('\n'))).toEqual([]);
  });

  it('of a proxy show in no error either', async () => {
    const client = createForgeClient({
      baseUrl: 'https://forge.test/api/v1',
      auth: AUTHS[0]?.[1] as AuthConfig,
      proxy: `http://me:${CANARIES.proxy}@127.0.0.1:9`,
      deadlineMs: 2000,
    });

    const error = await client.getSelf({}).catch((reason: unknown) => reason);

    expect(error).toMatchObject({ kind: 'not-sent' });
    expect(leaksIn(printed(error) + printed(client))).toEqual([]);
  });

  it('that a forge hands out are held as Secret', async () => {
    const hooks = JSON.stringify([{ id: 1, authorization_header: CANARIES.hook }]);
    const tokens = JSON.stringify([{ id: 1, sha1: CANARIES.sha1, token_last_eight: CANARIES.lastEight }]);
    const variable = JSON.stringify({ name: 'A', data: CANARIES.variable });
    const server = await startScriptedServer((request, reply, socket) =>
      answer(200, request.url.includes('/hooks') ? hooks : request.url.includes('/tokens') ? tokens : variable)(
        request,
        reply,
        socket,
      ),
    );
    open.push(server);
    const client = createForgeClient({ baseUrl: `${server.url}/api/v1`, auth: AUTHS[0]?.[1] as AuthConfig });

    const answers = [
      await client.listOrgHooks({ org: 'acme' }),
      await client.listTokens({ username: 'bot' }),
      await client.getOrgVariable({ org: 'acme', variablename: 'A' }),
    ];

    expect(leaksIn(answers.map(printed).join('\n'))).toEqual([]);
  });
});
