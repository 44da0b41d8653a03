import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Secret } from '../../src/core/secret.js';
import { connectForge } from '../../src/forge/connected-forges.js';
import { createForgeClient } from '../../src/forge/http/create-forge-client.js';
import type { ProfileName } from '../../src/sandbox/profiles.js';
import { makeOrganization } from '../../src/sandbox/resources/organization.js';
import { makeRepository } from '../../src/sandbox/resources/repository.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import { EffectRig } from '../builders/effect-rig.js';
import { saying } from '../builders/reasons.js';

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
  const { world, admin } = sandbox.parts;
  const org = makeOrganization(world, { name: 'acme', owner: admin });
  makeRepository(world, admin, { owner: org, name: 'app', files: { 'README.md': '# app\n' } });
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
  return connectForge(client);
}

const place = { owner: 'acme', repo: 'app' };
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

  it('ends an effect on such a branch, makes no branch in its place, and holds nothing back', async () => {
    const { client, capabilities } = await behind('apache', 'gitea');
    const rig = new EffectRig({ access: { client, offers: (name) => capabilities.offers(name) } });
    const { id } = await client.getRepo(place);
    rig.named.push(id ?? '');
    const repo = { id: id ?? '', name: 'app', owner: 'acme', full_name: 'acme/app', private: false };
    const branch = (name: string) =>
      rig.plan('branch.create', { new_branch_name: name, old_ref_name: 'main' }, { repo });
    const [lost, other] = [await branch('rel/v9'), await branch('plain')];

    expect(await rig.work(lost)).toMatchObject({ state: 'refused', reason: saying(expect.stringContaining('%2F')) });
    expect((await rig.work(other)).state).toBe('done');

    expect((await client.listBranches(place)).map(({ name }) => name).sort()).toEqual(['main', 'plain']);
  });

  it('still learns that a forge has no such operation', async () => {
    const { client, capabilities } = await behind('apache', 'core');

    await expect(client.getContents({ ...place, filepath: 'a/b' })).rejects.toMatchObject({ kind: 'not-offered' });
    expect(capabilities.offers('getContents')).toBe(false);
  });
});
