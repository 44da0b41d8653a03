import { afterEach, describe, expect, it } from '@jest/globals';
import {
  answer,
  startScriptedServer,
  until,
  type Script,
  type ScriptedServer,
} from '../../../test/fakes/scripted-server.js';
import { ManualClock } from '../../../test/fakes/manual-clock.js';
import { ForgeError } from '../../core/errors.js';
import { Secret } from '../../core/secret.js';
import type { ForgeClient, ReplyInfo } from '../forge-client.js';
import { createForgeClient, type ForgeClientOptions } from './create-forge-client.js';

const open: ScriptedServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function forge(
  script: Script,
  options: Partial<ForgeClientOptions> = {},
): Promise<{ client: ForgeClient; server: ScriptedServer }> {
  const server = await startScriptedServer(script);
  open.push(server);
  const client = createForgeClient({
    baseUrl: `${server.url}/api/v1`,
    auth: { type: 'token', token: new Secret('t0ken') },
    ratePerS: 1000,
    ...options,
  });
  return { client, server };
}

async function failureOf(call: Promise<unknown>): Promise<ForgeError> {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ForgeError);
  return error as ForgeError;
}

const at = { owner: 'acme', repo: 'app' };
const aLabel = { ...at, body: { name: 'bug', color: '#ff0000' } };
const LABEL = '{"id":9007199254740993,"name":"bug","color":"ff0000"}';

describe('forge/http/create-forge-client', () => {
  it('sends what the table says and reads the answer through its schema', async () => {
    const { client, server } = await forge(answer(201, LABEL));

    const label = await client.createLabel(aLabel);

    expect(label.id).toBe('9007199254740993');
    expect(server.seen).toHaveLength(1);
    expect(server.seen[0]).toMatchObject({
      method: 'POST',
      url: '/api/v1/repos/acme/app/labels',
      body: '{"color":"#ff0000","name":"bug"}',
    });
    expect(server.seen[0]?.headers).toMatchObject({
      authorization: 'token t0ken',
      'content-type': 'application/json',
      accept: 'application/json',
      'accept-encoding': 'identity',
    });
  });

  it('authenticates with Basic', async () => {
    const { client, server } = await forge(answer(200, '{}'), {
      auth: { type: 'basic', username: 'bot', password: new Secret('pä:ss') },
    });

    await client.getSelf({});

    expect(server.seen[0]?.headers['authorization']).toBe(`Basic ${Buffer.from('bot:pä:ss').toString('base64')}`);
  });

  it('sends a token as password where servers want the Basic scheme', async () => {
    const { client, server } = await forge(answer(200, '[]'));

    await client.listTokens({ username: 'bot' });

    expect(server.seen[0]?.headers['authorization']).toBe(`Basic ${Buffer.from('bot:t0ken').toString('base64')}`);
  });

  it('writes ids in bodies as JSON numbers of all their digits and reveals secrets', async () => {
    const { client, server } = await forge((request, reply) =>
      answer(201, request.url.endsWith('/issues') ? '{"number":1}' : '')(request, reply, request as never),
    );

    await client.createIssue({ ...at, body: { title: 'x', milestone: '9007199254740993', labels: ['1', 2n] } });
    await client.createUserVariable({ variablename: 'A', body: { value: new Secret('v4lue') } });

    expect(server.seen.map((request) => request.body)).toEqual([
      '{"title":"x","labels":[1,2],"milestone":9007199254740993}',
      '{"value":"v4lue"}',
    ]);
  });

  it('escapes path segments on the wire', async () => {
    const { client, server } = await forge(answer(200, '{"name":"feature/a#b%"}'));

    await client.getBranch({ ...at, branch: 'feature/a#b%' });
    await client.getPackage({ owner: 'acme', type: 'npm', name: '@acme/tool', version: '1' });

    expect(server.seen.map((request) => request.url)).toEqual([
      '/api/v1/repos/acme/app/branches/feature%2Fa%23b%25',
      '/api/v1/packages/acme/npm/%40acme%2Ftool/1',
    ]);
  });

  it.each<[string, number, string, string]>([
    ['truncated JSON', 201, '{"id":1,"name":"bu', 'not-json'],
    ['HTML', 201, '<html></html>', 'not-json'],
    ['an empty body', 201, '', 'shape'],
    ['null', 201, 'null', 'shape'],
    ['an array', 201, '[{"id":1}]', 'shape'],
    ['text', 201, '"bug"', 'shape'],
    ['a field of the wrong type', 201, '{"id":"x","name":"bug"}', 'shape'],
    ['an empty object', 201, '{}', 'shape'],
    ['an error object', 201, '{"message":"label could not be saved","url":"u"}', 'shape'],
    ['bytes that are no text', 201, '\xff\xfe', 'not-json'],
    ['JSON too deep to be read', 201, `${'['.repeat(3_000_000)}`, 'not-json'],
  ])('takes %s after a write for an unknown outcome, never a success', async (_, status, body, detail) => {
    const { client } = await forge(answer(status, body.startsWith('\xff') ? Buffer.from(body, 'latin1') : body));

    const error = await failureOf(client.createLabel(aLabel));

    expect(error).toMatchObject({ kind: 'unknown', facts: { operation: 'createLabel', status, detail } });
  });

  it.each<[string, string]>([
    ['an object for a list', '{"data":[]}'],
    ['HTML', '<html></html>'],
    ['nothing', ''],
  ])('takes %s after a read for an error', async (_, body) => {
    const { client } = await forge(answer(200, body));

    expect((await failureOf(client.listLabels(at))).kind).toBe('unknown');
  });

  it('needs no body where the table says that none is due, but refuses HTML there too', async () => {
    const { client } = await forge((request, reply) => answer(204, '')(request, reply, request as never));
    const html = await forge(answer(200, '<html>login</html>', { 'content-type': 'text/html' }));

    await expect(
      client.updateOrgVariable({ org: 'acme', variablename: 'A', body: { value: 'x' } }),
    ).resolves.toBeUndefined();
    expect(
      (await failureOf(html.client.updateOrgVariable({ org: 'acme', variablename: 'A', body: { value: 'x' } }))).kind,
    ).toBe('unknown');
  });

  it('takes a change of protocol for no answer', async () => {
    const { client } = await forge(
      (_request, _reply, socket) => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n');
      },
      { deadlineMs: 1_000 },
    );

    expect(await failureOf(client.createLabel(aLabel))).toMatchObject({
      kind: 'unknown',
      facts: { detail: 'deadline' },
    });
  });

  it.each([[301], [302], [307], [308]])('follows no redirect %i, of a write or a read', async (status) => {
    const target = await startScriptedServer(answer(200, '[]'));
    open.push(target);
    const { client, server } = await forge(
      answer(status, '', { location: `${target.url}/api/v1/repos/acme/new/labels` }),
    );

    const ofWrite = await failureOf(client.createLabel(aLabel));
    const ofRead = await failureOf(client.listLabels(at));

    expect(ofWrite).toMatchObject({ kind: 'moved', facts: { status, location: '/api/v1/repos/acme/new/labels' } });
    expect(ofRead.kind).toBe('moved');
    expect(server.seen).toHaveLength(2);
    expect(target.connections()).toBe(0);
  });

  it('sends nothing when the body or the address does not fit, and says so without the value', async () => {
    const { client, server } = await forge(answer(201, LABEL));

    const body = await failureOf(client.createLabel({ ...at, body: { name: 'c4nary' } as never }));
    const path = await failureOf(client.getBranch({ ...at, branch: '..' }));

    expect(body).toMatchObject({ kind: 'refused', facts: { detail: 'argument' } });
    expect(body.message).toBe('create a label: not sent: body does not fit: color: expected string');
    expect(path.kind).toBe('refused');
    expect(server.connections()).toBe(0);
  });

  it('tells status, total and length of a list', async () => {
    const replies: ReplyInfo[] = [];
    const { client } = await forge((request, reply) =>
      request.url.includes('/tasks')
        ? answer(200, '{"total_count":7,"workflow_runs":[null,{"id":1}]}')(request, reply, request as never)
        : answer(200, '[null,{"id":1}]', { 'x-total-count': '12' })(request, reply, request as never),
    );

    const labels = await client.listLabels(at, { onReply: (info) => replies.push(info) });
    await client.listActionTasks(at, { onReply: (info) => replies.push(info) });

    expect(labels).toEqual([{ id: '1' }]);
    expect(replies).toEqual([
      { status: 200, totalCount: 12, listed: 2, date: expect.any(Date) },
      { status: 200, totalCount: 7, listed: 2, date: expect.any(Date) },
    ]);
  });

  it('ends an answer that never comes at the deadline, as unknown, with the socket destroyed', async () => {
    const { client, server } = await forge(() => undefined, { deadlineMs: 1_000 });

    const error = await failureOf(client.createLabel(aLabel));

    expect(error).toMatchObject({ kind: 'unknown', facts: { detail: 'deadline' } });
    await until(() => server.sockets.size === 0);
  });

  it('ends an answer that comes a byte at a time at the deadline too', async () => {
    const timers: NodeJS.Timeout[] = [];
    const { client, server } = await forge(
      (_, reply) => {
        reply.writeHead(201, { 'content-type': 'application/json' });
        timers.push(setInterval(() => reply.write(' '), 10));
      },
      { deadlineMs: 1_000 },
    );

    const error = await failureOf(client.createLabel(aLabel));

    timers.forEach((timer) => clearInterval(timer));
    expect(error).toMatchObject({ kind: 'unknown', facts: { detail: 'deadline' } });
    await until(() => server.sockets.size === 0);
  });

  it.each<[string, Script]>([
    [
      'cut in the middle of its announced length',
      (_, reply, socket) => (reply.writeHead(201, { 'content-length': '500' }), reply.write('{"id":1'), socket.end()),
    ],
    [
      'reset in the middle',
      (_, reply, socket) => (reply.writeHead(201), reply.write('{"id":1', () => socket.resetAndDestroy())),
    ],
    [
      'cut within a chunk',
      (_, reply, socket) => socket.end('HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n{"id":1}'),
    ],
    ['closed before a word', (_, _reply, socket) => socket.destroy()],
    ['not HTTP', (_, _reply, socket) => socket.end('hello\r\n\r\n')],
  ])('takes an answer %s for unknown', async (_, script) => {
    const { client, server } = await forge(script);

    const error = await failureOf(client.createLabel(aLabel));

    expect(error.kind).toBe('unknown');
    expect(server.seen).toHaveLength(1);
  });

  it.each<[string, Script]>([
    [
      'announced',
      (_, reply) => (
        reply.writeHead(200, { 'content-length': String(11 * 1024 * 1024) }),
        reply.end(Buffer.alloc(11 * 1024 * 1024, ' '))
      ),
    ],
    ['not announced', (_, reply) => (reply.writeHead(200), reply.end(Buffer.alloc(11 * 1024 * 1024, ' ')))],
  ])('stops reading above 10 MB, length %s', async (_, script) => {
    const { client, server } = await forge(script);

    const error = await failureOf(client.listLabels(at));

    expect(error).toMatchObject({ kind: 'unknown', facts: { detail: 'too-large' } });
    await until(() => server.sockets.size === 0);
  });

  it('says not-sent when nobody listens, when the name does not exist and when the call is stopped before', async () => {
    const { client, server } = await forge(answer(200, '{}'));
    await server.close();
    const nowhere = createForgeClient({
      baseUrl: 'http://forge.invalid/api/v1',
      auth: { type: 'token', token: new Secret('t0ken') },
    });

    const refused = await failureOf(client.createLabel(aLabel));
    const unknownName = await failureOf(nowhere.createLabel(aLabel));
    const stopped = await failureOf(client.createLabel(aLabel, { signal: AbortSignal.abort() }));

    expect(refused).toMatchObject({ kind: 'not-sent', facts: { detail: 'connection' } });
    expect(unknownName.kind).toBe('not-sent');
    expect(stopped).toMatchObject({ kind: 'not-sent', facts: { detail: 'stopped' } });
  });

  it('says unknown when a call under way is stopped', async () => {
    const stop = new AbortController();
    const { client, server } = await forge(() => stop.abort());

    const error = await failureOf(client.createLabel(aLabel, { signal: stop.signal }));

    expect(error).toMatchObject({ kind: 'unknown', facts: { detail: 'stopped' } });
    await until(() => server.sockets.size === 0);
  });

  it('obeys Retry-After: no further call before the time, then calls again', async () => {
    const clock = new ManualClock();
    let busy = true;
    const { client, server } = await forge(
      (request, reply) => answer(busy ? 429 : 200, '[]', { 'retry-after': '60' })(request, reply, request as never),
      {
        clock,
      },
    );

    const first = await failureOf(client.listLabels(at));
    busy = false;
    clock.advance(59_000);
    const second = await failureOf(client.createLabel(aLabel));
    clock.advance(1_000);

    expect(first).toMatchObject({ kind: 'rate-limited', facts: { retryAfterS: 60 } });
    expect(second).toMatchObject({ kind: 'rate-limited', facts: { retryAfterS: 1, detail: 'paused' } });
    expect(server.seen).toHaveLength(1);
    await expect(client.listLabels(at)).resolves.toEqual([]);
  });

  it('does not send what was being written down when another call was told to wait', async () => {
    const clock = new ManualClock();
    const { client, server } = await forge(
      (request, reply) => answer(429, '[]', { 'retry-after': '60' })(request, reply, request as never),
      { clock },
    );
    let toldToWait: Error | null = null;

    const error = await failureOf(
      client.createLabel(aLabel, {
        beforeSend: async () => {
          toldToWait = await failureOf(client.listLabels(at));
        },
      }),
    );

    expect(toldToWait).toMatchObject({ kind: 'rate-limited', facts: { status: 429 } });
    expect(error).toMatchObject({ kind: 'rate-limited', facts: { retryAfterS: 60, detail: 'paused' } });
    expect(server.seen).toHaveLength(1);
  });

  it('tells other processes of a pause once, and keeps those that they were asked for', async () => {
    const clock = new ManualClock();
    const told: number[] = [];
    let hears = (_seconds: number): void => undefined;
    const pauses = {
      publish: (seconds: number) => void told.push(seconds),
      subscribe: (listener: (seconds: number) => void) => void (hears = listener),
    };
    let busy = true;
    const { client, server } = await forge(
      (request, reply) => answer(busy ? 429 : 200, '[]', { 'retry-after': '60' })(request, reply, request as never),
      {
        clock,
        pauses,
      },
    );

    // Under way together, told the same.
    await Promise.all([failureOf(client.listLabels(at)), failureOf(client.listLabels(at))]);
    busy = false;
    clock.advance(60_000);
    await client.listLabels(at);
    hears(5);
    const held = await failureOf(client.createLabel(aLabel));
    clock.advance(5_000);
    await client.listLabels(at);

    hears(1e9);
    expect(await failureOf(client.listLabels(at))).toMatchObject({ facts: { retryAfterS: 900 } });
    expect(told).toEqual([60]);
    expect(held).toMatchObject({ kind: 'rate-limited', facts: { retryAfterS: 5, detail: 'paused' } });
    expect(server.seen.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET', 'GET']);
  });

  it('tells other processes of a pause again when a later answer makes it longer, by however little', async () => {
    const clock = new ManualClock();
    const told: number[] = [];
    const pauses = { publish: (seconds: number) => void told.push(seconds), subscribe: () => undefined };
    let answerSecond = (): void => undefined;
    const { client, server } = await forge(
      (request, reply) => {
        const refuse = (): void => answer(429, '[]', { 'retry-after': '3' })(request, reply, request as never);
        if (server.seen.length === 1) refuse();
        else answerSecond = refuse;
      },
      { clock, pauses },
    );

    const calls = [failureOf(client.listLabels(at)), failureOf(client.listLabels(at))];
    await Promise.race(calls);
    clock.advance(40);
    await until(() => server.seen.length === 2);
    answerSecond();
    await Promise.all(calls);

    expect(told).toEqual([3, 3]);
  });

  it('ends its pause in time however many ask meanwhile', async () => {
    const clock = new ManualClock();
    let busy = true;
    const { client, server } = await forge(
      (request, reply) => answer(busy ? 429 : 200, '[]', { 'retry-after': '3' })(request, reply, request as never),
      {
        clock,
      },
    );
    await failureOf(client.listLabels(at));
    busy = false;

    for (let asked = 0; asked < 30; asked += 1) {
      expect(await failureOf(client.listLabels(at))).toMatchObject({ facts: { detail: 'paused' } });
      clock.advance(100);
    }

    await expect(client.listLabels(at)).resolves.toEqual([]);
    expect(server.seen).toHaveLength(2);
  });

  it('waits a second after "too many" without a time, and says so to its caller', async () => {
    const clock = new ManualClock();
    let busy = true;
    const { client, server } = await forge(
      (request, reply) => answer(busy ? 429 : 200, '[]')(request, reply, request as never),
      { clock },
    );

    const first = await failureOf(client.listLabels(at));
    busy = false;
    const second = await failureOf(client.listLabels(at));
    clock.advance(1_000);

    expect(first).toMatchObject({ kind: 'rate-limited', facts: { status: 429, retryAfterS: 1 } });
    expect(second).toMatchObject({ facts: { retryAfterS: 1, detail: 'paused' } });
    await expect(client.listLabels(at)).resolves.toEqual([]);
    expect(server.seen).toHaveLength(2);
  });

  it('asks the caller right before it sends, and sends nothing when told not to', async () => {
    const { client, server } = await forge(answer(201, LABEL));

    const call = client.createLabel(aLabel, {
      beforeSend: () => {
        throw new Error('lease is over');
      },
    });

    await expect(call).rejects.toThrow('lease is over');
    expect(server.connections()).toBe(0);
  });

  it('never has more calls under way than its concurrency', async () => {
    const waiting: (() => void)[] = [];
    let most = 0;
    const { client } = await forge(
      (request, reply) => {
        waiting.push(() => answer(200, '[]')(request, reply, request as never));
        most = Math.max(most, waiting.length);
        if (waiting.length === 2) setTimeout(() => waiting.splice(0).forEach((go) => go()), 5);
      },
      { concurrency: 2 },
    );

    await Promise.all(Array.from({ length: 20 }, () => client.listLabels(at)));

    expect(most).toBe(2);
  });

  describe('a kept connection', () => {
    const script: Script = (request, reply, socket) =>
      answer(request.method === 'GET' ? 200 : 201, request.method === 'GET' ? '[]' : LABEL)(request, reply, socket);

    it('serves reads and writes, also many at once', async () => {
      const { client, server } = await forge(script, { concurrency: 8 });

      await client.listLabels(at);
      await client.createLabel(aLabel);
      expect(server.connections()).toBe(1);
      await Promise.all(Array.from({ length: 8 }, () => client.listLabels(at)));
      const before = server.connections();
      await Promise.all(Array.from({ length: 8 }, () => client.createLabel(aLabel)));

      expect(server.connections()).toBe(before);
    });

    it('is closed when nothing was asked on it for a second', async () => {
      const { client, server } = await forge(script);

      await client.listLabels(at);
      await until(() => server.sockets.size === 0);
      await client.createLabel(aLabel);

      expect(server.connections()).toBe(2);
    });

    it('that the server closes under a write makes its outcome unknown; the write is made once', async () => {
      const { client, server } = await forge((request, reply, socket) =>
        request.method === 'GET' ? script(request, reply, socket) : void socket.destroy(),
      );

      await client.listLabels(at);
      const error = await failureOf(client.createLabel(aLabel));

      expect(error).toMatchObject({ kind: 'unknown' });
      expect(server.connections()).toBe(1);
      expect(server.seen.map(({ method }) => method)).toEqual(['GET', 'POST']);
    });
  });

  it.each([
    ['ftp://forge.test/api/v1'],
    ['forge.test'],
    ['http://user:pass@forge.test/api/v1'],
    ['http://forge.test/api/v1?token=x'],
  ])('refuses the address %s', (baseUrl) => {
    expect(() => createForgeClient({ baseUrl, auth: { type: 'token', token: new Secret('t0ken') } })).toThrow(
      /address of the forge/,
    );
  });

  it.each([[''], ['a b'], ['a\r\nX-Evil: 1'], ['ü']])('refuses the token %j', (token) => {
    expect(() =>
      createForgeClient({ baseUrl: 'http://forge.test/api/v1', auth: { type: 'token', token: new Secret(token) } }),
    ).toThrow(/token of the forge/);
  });
});
