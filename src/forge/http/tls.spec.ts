import { readFileSync } from 'node:fs';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import tls, { type SecureVersion, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from '@jest/globals';
import { answer, startScriptedServer, until, type ScriptedServer } from '../../../test/fakes/scripted-server.js';
import { ForgeError } from '../../core/errors.js';
import { Secret } from '../../core/secret.js';
import { createForgeClient } from './create-forge-client.js';

const TLS = 'test/fixtures/tls';
const CA = `${TLS}/ca.pem`;
const certificate = (name: string): { cert: Buffer; key: Buffer } => ({
  cert: readFileSync(`${TLS}/${name}.pem`),
  key: readFileSync(`${TLS}/${name}.key`),
});

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

async function tlsForge(
  name: string,
  more: { maxVersion?: SecureVersion; minVersion?: SecureVersion; ciphers?: string } = {},
): Promise<ScriptedServer> {
  const server = await startScriptedServer(answer(201, '{"id":1,"name":"bug"}'), { ...certificate(name), ...more });
  closing.push(() => server.close());
  return server;
}

const auth = { type: 'token', token: new Secret('t0ken') } as const;
const aLabel = { owner: 'acme', repo: 'app', body: { name: 'bug', color: '#ff0000' } };

async function failureOf(call: Promise<unknown>): Promise<ForgeError> {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ForgeError);
  return error as ForgeError;
}

/** A proxy that tunnels as told and remembers what it was asked. */
async function proxy(
  onConnect: (asked: string, auth: string | undefined, client: net.Socket) => void,
): Promise<{ url: string; seen: string[] }> {
  const seen: string[] = [];
  const sockets = new Set<net.Socket>();
  const server = http.createServer((request, reply) => {
    seen.push(`${request.method} ${request.url} ${request.headers['proxy-authorization'] ?? ''}`);
    const target = new URL(request.url ?? '');
    request.pipe(
      http.request(
        {
          host: target.hostname,
          port: target.port,
          path: target.pathname,
          method: request.method,
          headers: request.headers,
        },
        (got) => {
          reply.writeHead(got.statusCode ?? 502, got.headers);
          got.pipe(reply);
        },
      ),
    );
  });
  server.on('connection', (socket) => (sockets.add(socket), socket.on('error', () => undefined)));
  server.on('connect', (request, client: net.Socket) => {
    seen.push(`CONNECT ${request.url}`);
    onConnect(request.url ?? '', request.headers['proxy-authorization'], client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => new Promise((resolve) => (server.close(resolve), sockets.forEach((socket) => socket.destroy()))));
  return { url: `127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const tunnel = (asked: string, _auth: string | undefined, client: net.Socket): void => {
  const [host, port] = asked.split(':');
  const forge = net.connect(Number(port), host, () => {
    client.write('HTTP/1.1 200 OK\r\n\r\n');
    forge.pipe(client).pipe(forge);
  });
  forge.on('error', () => client.destroy());
};

describe('forge/http/tls', () => {
  it('trusts a private authority when told to, for fresh and kept connections', async () => {
    const server = await tlsForge('good');
    const client = createForgeClient({ baseUrl: `${server.url}/api/v1`, auth, caFile: CA });

    await expect(client.createLabel(aLabel)).resolves.toMatchObject({ id: '1' });
    await expect(client.createLabel(aLabel)).resolves.toMatchObject({ id: '1' });
  });

  it.each([
    ['an unknown authority', 'good', null, {}],
    ['a self-signed certificate', 'self-signed', CA, {}],
    ['an expired certificate', 'expired', CA, {}],
    ['a certificate for another host', 'wrong-host', CA, {}],
    ['an old protocol', 'good', CA, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }],
  ] as [string, string, string | null, object][])(
    'sends nothing to a server with %s',
    async (_, name, caFile, more) => {
      const server = await tlsForge(name, more);
      const client = createForgeClient({ baseUrl: `${server.url}/api/v1`, auth, caFile });

      const ofWrite = await failureOf(client.createLabel(aLabel));
      const ofRead = await failureOf(client.getSelf({}));

      expect([ofWrite.kind, ofRead.kind]).toEqual(['not-sent', 'not-sent']);
      expect(server.connections()).toBeGreaterThan(0);
      expect(server.seen).toEqual([]);
    },
  );

  it.each([
    ['an unknown authority', 'good', null, {}],
    ['a self-signed certificate', 'self-signed', CA, {}],
    ['an expired certificate', 'expired', CA, {}],
    ['a certificate for another host', 'wrong-host', CA, {}],
    ['TLS 1.0', 'good', CA, { minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' }],
    ['TLS 1.1', 'good', CA, { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }],
    ['no certificate at all', null, CA, { maxVersion: 'TLSv1.2', ciphers: 'aNULL:@SECLEVEL=0' }],
    ['no TLS', null, CA, null],
  ] as [string, string | null, string | null, tls.TlsOptions | null][])(
    'gives no byte of a credential to a server with %s, nor of anything else',
    async (_, name, caFile, more) => {
      const wire: Buffer[] = [];
      const opened: Buffer[] = [];
      let handshakes = 0;
      const hear = (socket: TLSSocket): void =>
        void socket.on('error', () => undefined).on('data', (bytes: Buffer) => void opened.push(bytes));
      const secure =
        more &&
        tls
          .createServer({ ...(name === null ? {} : certificate(name)), ...more }, hear)
          .on('tlsClientError', () => undefined);
      const sockets = new Set<net.Socket>();
      const server = net.createServer((socket) => {
        sockets.add(socket.on('error', () => undefined));
        handshakes += 1;
        if (!secure) return void socket.on('data', (bytes: Buffer) => void wire.push(bytes));
        // The server that speaks TLS sits behind, so that every byte passes here.
        const behind = net
          .connect((secure.address() as AddressInfo).port, '127.0.0.1')
          .on('error', () => socket.destroy());
        sockets.add(behind);
        socket.on('data', (bytes: Buffer) => void wire.push(bytes));
        socket.pipe(behind).pipe(socket);
      });
      for (const each of [server, ...(secure ? [secure] : [])]) {
        await new Promise<void>((resolve) => each.listen(0, '127.0.0.1', resolve));
        closing.push(
          () =>
            new Promise((resolve) => (each.close(() => resolve(null)), sockets.forEach((socket) => socket.destroy()))),
        );
      }
      const baseUrl = `https://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`;
      const methods = [auth, { type: 'basic', username: 'me', password: new Secret('t0ken') }] as const;
      const failures: ForgeError[] = [];

      for (const method of methods) {
        // A server that never answers the greeting is left after its time.
        const client = createForgeClient({ baseUrl, auth: method, caFile, deadlineMs: more ? 60_000 : 200 });
        failures.push(await failureOf(client.createLabel(aLabel)), await failureOf(client.getSelf({})));
      }

      const seen = Buffer.concat(wire).toString('latin1');
      const forms = ['t0ken', Buffer.from('me:t0ken').toString('base64'), 'authorization', 'Authorization', '/api/v1'];
      expect(failures.map(({ kind }) => kind)).toEqual(Array.from({ length: 4 }, () => 'not-sent'));
      expect(handshakes).toBeGreaterThanOrEqual(4);
      expect(seen.length).toBeGreaterThan(0);
      expect(forms.filter((form) => seen.includes(form))).toEqual([]);
      expect(Buffer.concat(opened).toString('latin1')).toBe('');
    },
  );

  it('sends nothing to a server that does not speak TLS', async () => {
    const server = await startScriptedServer(answer(201, '{}'));
    closing.push(() => server.close());
    const client = createForgeClient({ baseUrl: `${server.url.replace('http:', 'https:')}/api/v1`, auth });

    expect((await failureOf(client.createLabel(aLabel))).kind).toBe('not-sent');
    expect(server.seen).toEqual([]);
  });

  it('says not-sent when the handshake never ends', async () => {
    const silent = net.createServer();
    const sockets: net.Socket[] = [];
    silent.on('connection', (socket) => sockets.push(socket.resume().on('error', () => undefined)));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    closing.push(
      () => new Promise((resolve) => (silent.close(resolve), sockets.forEach((socket) => socket.destroy()))),
    );
    const client = createForgeClient({
      baseUrl: `https://127.0.0.1:${(silent.address() as AddressInfo).port}/api/v1`,
      auth,
      deadlineMs: 1_000,
    });

    const error = await failureOf(client.createLabel(aLabel));

    expect(error).toMatchObject({ kind: 'not-sent', facts: { detail: 'deadline' } });
    await until(() => sockets.every((socket) => socket.destroyed || socket.readableEnded));
  });

  it.each([['nowhere.pem'], [`${TLS}/good.key`]])('refuses the CA file %s', (caFile) => {
    expect(() => createForgeClient({ baseUrl: 'https://forge.test/api/v1', auth, caFile })).toThrow(/ca_file/);
  });

  it('goes through a proxy by a tunnel, with the credentials of the proxy', async () => {
    const server = await tlsForge('good');
    let shown: string | undefined;
    const between = await proxy(
      (asked, credentials, client) => ((shown = credentials), tunnel(asked, credentials, client)),
    );
    const client = createForgeClient({
      baseUrl: `${server.url}/api/v1`,
      auth,
      caFile: CA,
      proxy: `http://me:pr0xy@${between.url}`,
    });

    await expect(client.createLabel(aLabel)).resolves.toMatchObject({ id: '1' });

    expect(between.seen).toEqual([`CONNECT 127.0.0.1:${server.port}`]);
    expect(shown).toBe(`Basic ${Buffer.from('me:pr0xy').toString('base64')}`);
    expect(server.seen[0]?.headers['proxy-authorization']).toBeUndefined();
  });

  it('checks the certificate of the forge behind a proxy too', async () => {
    const server = await tlsForge('wrong-host');
    const between = await proxy(tunnel);
    const client = createForgeClient({
      baseUrl: `${server.url}/api/v1`,
      auth,
      caFile: CA,
      proxy: `http://${between.url}`,
    });

    expect((await failureOf(client.createLabel(aLabel))).kind).toBe('not-sent');
    expect(server.seen).toEqual([]);
  });

  it('says not-sent when the proxy refuses the tunnel', async () => {
    const between = await proxy((_, __, client) =>
      client.end('HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>'),
    );
    const client = createForgeClient({ baseUrl: 'https://forge.test/api/v1', auth, proxy: `http://${between.url}` });

    const error = await failureOf(client.createLabel(aLabel));

    expect(error).toMatchObject({ kind: 'not-sent', facts: { detail: 'proxy' } });
  });

  it('lets a proxy go that never answers', async () => {
    const held: net.Socket[] = [];
    const between = await proxy((_, __, client) => void held.push(client.on('error', () => undefined)));
    const client = createForgeClient({
      baseUrl: 'https://forge.test/api/v1',
      auth,
      proxy: `http://${between.url}`,
      deadlineMs: 1_000,
    });

    const error = await failureOf(client.createLabel(aLabel));

    expect(error).toMatchObject({ kind: 'not-sent', facts: { detail: 'deadline' } });
    await until(
      () => held.length > 0 && held.every((socket) => socket.destroyed || socket.readableEnded || socket.closed),
    );
  });

  it('takes plain calls through a proxy, and none of the environment', async () => {
    const server = await startScriptedServer(answer(201, '{"id":1,"name":"bug"}'));
    closing.push(() => server.close());
    const between = await proxy(tunnel);
    const through = createForgeClient({ baseUrl: `${server.url}/api/v1`, auth, proxy: `http://${between.url}` });
    const direct = createForgeClient({ baseUrl: `${server.url}/api/v1`, auth });
    const before = process.env['http_proxy'];
    process.env['http_proxy'] = `http://${between.url}`;

    try {
      await through.createLabel(aLabel);
      await direct.createLabel(aLabel);
    } finally {
      if (before === undefined) delete process.env['http_proxy'];
      else process.env['http_proxy'] = before;
    }

    expect(between.seen).toEqual([`POST ${server.url}/api/v1/repos/acme/app/labels `]);
    expect(server.seen).toHaveLength(2);
  });
});
