import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { AnyAction } from '../../src/actions/define-action.js';
import { actions } from '../../src/actions/index.js';
import { ensure } from '../../src/actions/look-compare-write.js';
import { Secret } from '../../src/core/secret.js';
import { connectForge } from '../../src/forge/connected-forges.js';
import { createForgeClient } from '../../src/forge/http/create-forge-client.js';
import type { ProfileName } from '../../src/sandbox/profiles.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';

let sandbox: Sandbox | undefined;
let proxy: Server | undefined;
afterEach(async () => {
  proxy?.closeAllConnections();
  await new Promise((resolve) => (proxy ? proxy.close(resolve) : resolve(null)));
  await sandbox?.close();
  [sandbox, proxy] = [undefined, undefined];
});

/** A proxy as people have it: one that refuses `%2F` with a page, or one that hands on the slash. */
async function behind(kind: 'apache' | 'nginx', profile: ProfileName) {
  sandbox = await startSandbox({ profile, adminPassword: 'p' });
  const { port } = sandbox;
  proxy = createServer((incoming, outgoing) => {
    const url = incoming.url ?? '';
    if (kind === 'apache' && /%2f/i.test(url))
      return void outgoing.writeHead(404, { 'content-type': 'text/html' }).end('<html><h1>Not Found</h1></html>');
    const path = url.replaceAll(/%2f/gi, '/');
    const onward = request({ port, path, method: incoming.method, headers: incoming.headers }, (reply) => {
      outgoing.writeHead(reply.statusCode ?? 500, reply.headers);
      reply.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => proxy?.listen(0, '127.0.0.1', resolve));
  const client = createForgeClient({
    baseUrl: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/api/v1`,
    auth: { type: 'basic', username: 'admin', password: new Secret('p') },
    ratePerS: 1000,
  });
  await client.adminCreateRepo({ username: 'admin', body: { name: 'app', auto_init: true } });
  return connectForge(client);
}

const place = { owner: 'admin', repo: 'app' };
const LOST = { kind: 'refused', facts: { detail: 'slash' } };

describe('a proxy that loses the slash of a name', () => {
  it.each<['apache' | 'nginx', ProfileName]>([
    ['apache', 'gitea'],
    ['apache', 'forgejo'],
    ['nginx', 'forgejo'],
  ])('%s before %s: the object is refused with the reason, and the operation stays', async (kind, profile) => {
    const { client, capabilities } = await behind(kind, profile);
    const read = () => client.getBranchProtection({ ...place, name: 'rel/v9' });

    // The forge has it; nobody asked for one without a slash yet.
    await expect(read()).rejects.toMatchObject(LOST);
    expect(capabilities.offers('getBranchProtection')).toBe(true);
    await expect(client.getBranchProtection({ ...place, name: 'main' })).rejects.toMatchObject({
      kind: 'refused',
      facts: { status: 404 },
    });
  });

  it('ends an effect on such a branch, and makes no branch in its place', async () => {
    const { client } = await behind('apache', 'gitea');

    const effect = ensure(
      actions.get('branch.create') as AnyAction,
      {
        target: { kind: 'repository', owner: 'admin', name: 'app' },
        forge: client,
        recall: () => Promise.resolve(null),
        lastMade: () => Promise.resolve(null),
        remember: () => undefined,
        mark: null,
      } as never,
      { new_branch_name: 'rel/v9', old_ref_name: 'main' } as never,
    );

    await expect(effect).rejects.toMatchObject(LOST);
    expect((await client.listBranches(place)).map(({ name }) => name)).toEqual(['main']);
  });

  it('still learns that a forge has no such operation', async () => {
    const { client, capabilities } = await behind('apache', 'core');

    await expect(client.getContents({ ...place, filepath: 'a/b' })).rejects.toMatchObject({ kind: 'not-offered' });
    expect(capabilities.offers('getContents')).toBe(false);
  });
});
