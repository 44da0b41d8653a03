import { afterEach, describe, expect, it } from '@jest/globals';
import { connectForge } from '../../src/forge/connected-forges.js';
import { listAll, type ForgeClient } from '../../src/forge/forge-client.js';
import { createForgeClient } from '../../src/forge/http/create-forge-client.js';
import { Secret } from '../../src/core/secret.js';
import { makeOrganization } from '../../src/sandbox/resources/organization.js';
import { archiveRepository, renameRepository } from '../../src/sandbox/resources/repository-edit.js';
import { makeRepository } from '../../src/sandbox/resources/repository.js';
import { makeUser } from '../../src/sandbox/resources/user.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';

const open: Sandbox[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((sandbox) => sandbox.close()));
});

const at = { owner: 'acme', repo: 'app' };

/** A sandbox with `acme/app`, and our client logged in as its site admin, who owns the organization. */
async function connected(profile: 'gitea' | 'forgejo' | 'core') {
  const sandbox = await startSandbox({ profile });
  open.push(sandbox);
  const { world, admin } = sandbox.parts;
  const org = makeOrganization(world, { name: 'acme', owner: admin });
  makeUser(world, { login: 'wes', password: 'wes:pass' });
  const app = makeRepository(world, admin, {
    owner: org,
    name: 'app',
    files: { 'README.md': '# app\n', 'docs/a b.md': 'x' },
  });
  const client = createForgeClient({
    baseUrl: sandbox.apiUrl,
    auth: { type: 'basic', username: admin.login, password: new Secret(sandbox.admin.password) },
    ratePerS: 1000,
  });
  return { sandbox, client, world, org, app, admin };
}

const kindOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'done',
    (error: { kind?: string }) => error.kind ?? String(error),
  );

async function listedLabels(client: ForgeClient): Promise<(string | null | undefined)[]> {
  return (await listAll(client, 'listLabels', at, { limit: 7 })).map((label) => label.name);
}

describe('integration/forge-client-on-sandbox', () => {
  it.each(['gitea', 'core'] as const)('makes the nine writing calls on %s', async (profile) => {
    const { client, world, org, app } = await connected(profile);

    const branch = await client.createBranch({ ...at, body: { new_branch_name: 'feature/a#b%' } });
    const read = await client.getBranch({ ...at, branch: 'feature/a#b%' });
    const repository = await client.adminCreateRepo({ username: 'wes', body: { name: 'tools', auto_init: true } });
    const settings = await client.updateUserSettings({ body: { full_name: 'The bot' } });
    const label = await client.createLabel({ ...at, body: { name: 'bug', color: '#FF0000' } });
    const milestone = await client.createMilestone({ ...at, body: { title: '1.4' } });
    await client.createUserVariable({ variablename: 'last', body: { value: new Secret('v') } });

    expect(branch.name).toBe('feature/a#b%');
    expect(read.commit?.id).toBe(branch.commit?.id);
    expect(repository).toMatchObject({ full_name: 'wes/tools', id: expect.stringMatching(/^\d+$/) });
    expect(settings.full_name).toBe('The bot');
    expect(label).toMatchObject({ name: 'bug', color: 'ff0000', id: expect.stringMatching(/^\d+$/) });
    expect(milestone.title).toBe('1.4');
    expect(await kindOf(client.updateOrgVariable({ org: org.login, variablename: 'NONE', body: { value: 'x' } }))).toBe(
      'refused',
    );
    expect(await kindOf(client.updateRelease({ ...at, id: 999, body: { name: 'x' } }))).toBe('refused');
    expect(await kindOf(client.createPushMirror({ ...at, body: { remote_address: 'nonsense', interval: '8h' } }))).toBe(
      'refused',
    );
    expect([world, app].every(Boolean)).toBe(true);
  });

  it.each(['gitea', 'core'] as const)('makes the eleven reading calls on %s', async (profile) => {
    const { client, admin } = await connected(profile);

    expect(await client.listOrgHooks({ org: 'acme' })).toEqual([]);
    const files = await client.getFiles({ ...at, body: { files: ['docs/a b.md', 'none', 'README.md'] } });
    expect(files.map((file) => file?.path ?? null)).toEqual(['docs/a b.md', null, 'README.md']);
    expect(Array.isArray(await client.listOrgFeed({ org: 'acme' }))).toBe(true);
    expect(await kindOf(client.getPackage({ owner: 'acme', type: 'generic', name: 'a/b', version: '1' }))).toBe(
      'refused',
    );
    expect(await kindOf(client.getBranchProtection({ ...at, name: 'release/*' }))).toBe('refused');
    expect((await client.listMyJobs({})).jobs ?? []).toEqual([]);
    expect(await kindOf(client.listJobsOfAttempt({ ...at, run: 1, attempt: 1 }))).toBe('refused');
    expect((await client.listActionTasks(at)).workflow_runs ?? []).toEqual([]);
    expect(await client.listTokens({ username: admin.login })).toEqual([]);
    expect(await client.listPushMirrors(at)).toEqual([]);
  });

  it('gets to know each profile', async () => {
    const [gitea, forgejo, core] = [await connected('gitea'), await connected('forgejo'), await connected('core')];
    const probe = ['getFilesByQuery', 'listJobsOfAttempt', 'listLabels', 'listMilestones', 'getOrgVariable'] as const;

    const learned = await Promise.all(
      [gitea, forgejo, core].map(
        async ({ client, admin }) => (await connectForge(client, { username: admin.login, probe })).capabilities,
      ),
    );

    expect(learned.map(({ product }) => product)).toEqual(['gitea', 'forgejo', 'unknown']);
    expect(learned.map(({ self }) => self?.id === null)).toEqual([false, false, true]);
    expect(learned.map((capabilities) => probe.filter((name) => !capabilities.offers(name)))).toEqual([
      [],
      ['getFilesByQuery', 'listJobsOfAttempt'],
      ['getFilesByQuery', 'listLabels', 'listMilestones', 'getOrgVariable'],
    ]);
  });

  it('reads long lists to the end, creates doubles where the forge lets it, and finds both', async () => {
    const { client } = await connected('gitea');
    for (let number = 0; number < 25; number += 1)
      await client.createLabel({ ...at, body: { name: `l${String(number).padStart(2, '0')}`, color: '#abc' } });
    await client.createLabel({ ...at, body: { name: 'l07', color: '#abc' } });

    const names = await listedLabels(client);

    expect(names).toHaveLength(26);
    expect(names.filter((name) => name === 'l07')).toHaveLength(2);
  });

  it('finds a renamed repository again by its number, and writes nothing meanwhile', async () => {
    const { client, world, admin, app } = await connected('gitea');
    const before = await client.getRepo(at);
    renameRepository(world, admin, app, 'application');

    const write = await client
      .createLabel({ ...at, body: { name: 'bug', color: '#f00' } })
      .catch((error: unknown) => error);
    const now = await client.getRepoById({ id: before.id ?? '' });

    expect(write).toMatchObject({
      kind: 'moved',
      facts: { status: 301, location: '/api/v1/repos/acme/application/labels' },
    });
    expect(now.full_name).toBe('acme/application');
    expect(await client.listLabels({ owner: 'acme', repo: 'application' })).toEqual([]);
  });

  it('tells an archived repository by the words of the forge', async () => {
    const { client, world, app } = await connected('gitea');
    archiveRepository(world, app, true);

    await expect(client.createBranch({ ...at, body: { new_branch_name: 'x' } })).rejects.toMatchObject({
      kind: 'refused',
      facts: { status: 423, forgeMessage: expect.stringContaining('archived') },
    });
  });
});
