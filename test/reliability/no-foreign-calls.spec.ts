import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Secret } from '../../src/core/secret.js';
import { createForgeClient } from '../../src/forge/http/create-forge-client.js';
import { listAll, type ForgeClient } from '../../src/forge/forge-client.js';
import { EffectRig } from '../builders/effect-rig.js';
import { HOSTILE_TARGETS, MIRROR_HOSTS } from '../builders/hostile-mirror-targets.js';
import { startScriptedServer, type ScriptedServer } from '../fakes/scripted-server.js';
import { saying } from '../builders/reasons.js';

/**
 * What a forge (or whoever stands before it) writes into its answers never makes us call somebody else, and what a rule wants mirrored never
 * reaches the forge unless its host is listed: no connection, no call, no byte of a credential.
 */
const CANARY = 'canary-forge-token-5d1e';
const STATUSES = [301, 302, 303, 307, 308] as const;
const at = { owner: 'acme', repo: 'app' };

type Forms = Readonly<Record<string, (port: number) => string>>;

const FORMS: Forms = {
  'an address': (port) => `http://127.0.0.1:${port}/api/v1/repos/acme/app`,
  'an address with credentials of its own': (port) => `http://me:pass@127.0.0.1:${port}/api/v1/repos/acme/app`,
  'no scheme': (port) => `//127.0.0.1:${port}/api/v1/repos/acme/app`,
  backslashes: (port) => `\\\\127.0.0.1:${port}\\api`,
  'another spelling of the host': (port) => `http://2130706433:${port}/api/v1/repos/acme/app`,
  'a name that leads there': (port) => `http://localhost:${port}/api/v1/repos/acme/app`,
};

const CALLS: Readonly<Record<string, (client: ForgeClient) => Promise<unknown>>> = {
  'a read': (client) => client.getRepo(at),
  'a write': (client) => client.createLabel({ ...at, body: { name: 'a', color: '#ffffff' } }),
};

describe('reliability/no-foreign-calls', () => {
  let trap: ScriptedServer;
  let forge: ScriptedServer;
  let client: ForgeClient;
  let answer: { status: number; body: string; headers: Record<string, string> };

  beforeAll(async () => {
    trap = await startScriptedServer((_request, reply) => reply.end('{}'));
    forge = await startScriptedServer((_request, reply) =>
      reply.writeHead(answer.status, answer.headers).end(answer.body),
    );
    client = createForgeClient({
      baseUrl: `${forge.url}/api/v1`,
      auth: { type: 'token', token: new Secret(CANARY) },
      ratePerS: 1000,
    });
  });
  beforeEach(() => {
    forge.seen.length = 0;
    answer = { status: 200, body: '{}', headers: { 'content-type': 'application/json' } };
  });
  afterAll(async () => {
    // Nothing ever reached it, in any of the cases.
    const [connections, seen] = [trap.connections(), JSON.stringify(trap.seen)];
    await Promise.all([trap.close(), forge.close()]);
    if (connections > 0 || seen.includes(CANARY)) throw new Error(`the trap was called: ${seen}`);
  });

  const redirects = STATUSES.flatMap((status) =>
    Object.keys(FORMS).flatMap((form) => Object.keys(CALLS).map((call) => [status, form, call] as const)),
  );

  it('has sixty redirects', () => {
    expect(redirects).toHaveLength(60);
  });

  it.each(redirects)('follows no %i to %s, of %s', async (status, form, call) => {
    answer = { status, body: '', headers: { location: FORMS[form]?.(trap.port) ?? '' } };

    await expect(CALLS[call]?.(client)).rejects.toMatchObject({ name: 'ForgeError' });

    expect([forge.seen.length, trap.connections()]).toEqual([1, 0]);
  });

  it.each(Object.keys(FORMS))('asks for no next page at %s', async (form) => {
    const link = `<${FORMS[form]?.(trap.port) ?? ''}>; rel="next"`;
    answer = { status: 200, body: '[]', headers: { 'content-type': 'application/json', link, 'x-total-count': '0' } };

    expect(await listAll(client, 'listLabels', at)).toEqual([]);
    expect(forge.seen.length).toBeGreaterThan(0);
    expect(trap.connections()).toBe(0);
  });

  it.each(Object.keys(FORMS))('calls none of the addresses that an object tells as its own: %s', async (form) => {
    const address = FORMS[form]?.(trap.port) ?? '';
    answer.body = JSON.stringify({
      id: 7,
      name: 'app',
      full_name: 'acme/app',
      url: address,
      html_url: address,
      clone_url: address,
      owner: { login: 'acme', avatar_url: address },
    });

    expect(await client.getRepo(at)).toMatchObject({ url: address });
    expect(await client.getRepo(at)).toMatchObject({ id: '7' });
    expect(forge.seen.map(({ headers }) => headers.host)).toEqual([
      `127.0.0.1:${forge.port}`,
      `127.0.0.1:${forge.port}`,
    ]);
    expect(trap.connections()).toBe(0);
  });

  it('makes no call for any of the hostile mirror targets', async () => {
    const rig = new EffectRig();
    rig.settings.mirrorHosts = [...MIRROR_HOSTS];
    const states = new Set<string>();
    for (const address of HOSTILE_TARGETS)
      states.add((await rig.want('push_mirror.ensure', { remote_address: address, interval: '8h' })).state);

    expect(HOSTILE_TARGETS.length).toBeGreaterThanOrEqual(80);
    expect([...states]).toEqual(['refused']);
    expect(rig.forge.calls.filter((name) => name === 'createPushMirror')).toEqual([]);
  });

  it('goes by the list at the time of the call: a host that was taken off it meanwhile is not mirrored to', async () => {
    const rig = new EffectRig();
    const id = await rig.plan('push_mirror.ensure', {
      remote_address: 'https://mirror.example.org/acme/app.git',
      interval: '8h',
    });
    rig.settings.mirrorHosts = [];

    expect(await rig.work(id)).toMatchObject({
      state: 'refused',
      reason: saying(expect.stringContaining('mirror_hosts')),
    });
    expect(rig.forge.calls).not.toContain('createPushMirror');
  });
});
