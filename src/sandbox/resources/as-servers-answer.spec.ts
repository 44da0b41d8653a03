import { afterEach, describe, expect, it } from '@jest/globals';
import { makeOrganization } from './organization.js';
import { makeRepository } from './repository.js';
import { makeTeam } from './team.js';
import { makeUser } from './user.js';
import type { ProfileName } from '../profiles.js';
import { type Sandbox, startSandbox } from '../start-sandbox.js';

let sandbox: Sandbox | undefined;
afterEach(async () => {
  await sandbox?.close();
  sandbox = undefined;
});

type Ask = (as: string, method: string, path: string, body?: object) => Promise<{ status: number; body: never }>;

/** `acme` with `app` (issue 1, pull request 2) and `empty`, which has no commit: olga owns, wes writes; everybody's password is `p`. */
async function start(profile: ProfileName, timeZone = 'UTC'): Promise<Ask> {
  sandbox = await startSandbox({ profile, timeZone, adminPassword: 'p' });
  const { apiUrl, parts } = sandbox;
  const [olga, wes] = ['olga', 'wes'].map((login) => makeUser(parts.world, { login, password: 'p' })) as [never, never];
  const org = makeOrganization(parts.world, { name: 'acme', owner: olga });
  makeTeam(parts.world, { org, name: 'writers', permission: 'write', members: [wes], includesAllRepositories: true });
  makeRepository(parts.world, olga, { owner: org, name: 'app', files: { 'README.md': '# app\n' } });
  makeRepository(parts.world, olga, { owner: org, name: 'empty' });
  const ask: Ask = async (as, method, path, body) => {
    const answer = await fetch(apiUrl + path, {
      method,
      headers: {
        authorization: `Basic ${Buffer.from(`${as}:p`).toString('base64')}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get('content-type')?.includes('json') === true;
    return { status: answer.status, body: (isJson ? JSON.parse(text) : text) as never };
  };
  const app = '/repos/acme/app';
  await ask('olga', 'POST', `${app}/issues`, { title: 'one' });
  await ask('olga', 'POST', `${app}/contents/a.txt`, { content: 'YQ==', new_branch: 'topic', message: 'a' });
  await ask('olga', 'POST', `${app}/pulls`, { title: 'two', head: 'topic', base: 'main' });
  await ask('olga', 'POST', `${app}/issues/1/comments`, { body: 'hello' });
  return ask;
}

const PROFILES = ['gitea', 'gitea@1.26', 'forgejo'] as const;

describe('sandbox: lists without entries', () => {
  it.each(PROFILES)('are null where real servers build them entry by entry (%s)', async (profile) => {
    const ask = await start(profile);
    const sha = ((await ask('wes', 'GET', '/repos/acme/app/branches/main')).body as { commit: { id: string } }).commit
      .id;
    const bodies: unknown[] = [];
    for (const path of [
      '/repos/acme/empty/branches',
      '/repos/acme/empty/branches?page=9',
      '/repos/acme/app/branches?page=9',
      '/repos/acme/app/issues/1/timeline?page=2',
      '/repos/acme/app/issues/1/reactions',
      '/repos/acme/app/labels',
    ])
      bodies.push((await ask('wes', 'GET', path)).body);
    const status = await ask('wes', 'GET', `/repos/acme/app/commits/${sha}/status`);

    expect(bodies).toEqual([null, null, [], null, null, []]);
    expect(status).toMatchObject({
      status: 200,
      body: { state: profile === 'forgejo' ? '' : 'pending', total_count: 0, statuses: null },
    });
  });
});

describe('sandbox: parts of a repository that are switched off', () => {
  const app = '/repos/acme/app';
  const NO_ISSUES = { has_issues: false };
  const NO_PULLS = { has_pull_requests: false };
  const NEITHER = { ...NO_ISSUES, ...NO_PULLS };
  const NO_RELEASES = { has_releases: false };

  it.each<[ProfileName, object, string, string, string, object | undefined, number]>([
    ['gitea', NEITHER, 'olga', 'GET', 'labels', undefined, 200],
    ['gitea', NEITHER, 'wes', 'GET', 'labels', undefined, 200],
    ['gitea', NEITHER, 'olga', 'POST', 'labels', { name: 'a', color: '#ff0000' }, 201],
    ['gitea', NEITHER, 'wes', 'POST', 'labels', { name: 'a', color: '#ff0000' }, 403],
    ['gitea', NEITHER, 'olga', 'GET', 'issues/1', undefined, 404],
    ['gitea', NEITHER, 'olga', 'GET', 'issues', undefined, 404],
    ['gitea', NEITHER, 'olga', 'GET', 'pulls/2', undefined, 404],
    ['gitea', NO_ISSUES, 'olga', 'GET', 'issues?type=issues', undefined, 404],
    ['gitea', NO_ISSUES, 'olga', 'GET', 'issues/1', undefined, 404],
    ['gitea', NO_ISSUES, 'olga', 'GET', 'issues/1/timeline', undefined, 200],
    ['gitea', NO_ISSUES, 'olga', 'GET', 'issues/1/comments', undefined, 404],
    ['gitea', NO_ISSUES, 'olga', 'GET', 'issues/1/reactions', undefined, 403],
    ['gitea', NO_ISSUES, 'wes', 'POST', 'issues', { title: 'x' }, 403],
    ['gitea', NO_ISSUES, 'olga', 'GET', 'issues/2', undefined, 200],
    ['gitea', NO_PULLS, 'olga', 'GET', 'pulls', undefined, 404],
    ['gitea', NO_PULLS, 'olga', 'GET', 'issues?type=pulls', undefined, 404],
    ['gitea', NO_RELEASES, 'olga', 'GET', 'releases', undefined, 200],
    ['gitea', NO_RELEASES, 'wes', 'GET', 'releases', undefined, 403],
    ['gitea@1.26', NEITHER, 'olga', 'GET', 'issues/1', undefined, 404],
    ['forgejo', NO_RELEASES, 'olga', 'GET', 'releases', undefined, 404],
    ['forgejo', NEITHER, 'olga', 'GET', 'labels', undefined, 200],
    ['forgejo', NEITHER, 'olga', 'POST', 'labels', { name: 'a', color: '#ff0000' }, 404],
    ['forgejo', NO_ISSUES, 'olga', 'GET', 'issues/1', undefined, 404],
    ['forgejo', NO_ISSUES, 'olga', 'GET', 'issues/1/timeline', undefined, 404],
    ['forgejo', NO_ISSUES, 'olga', 'PATCH', 'issues/1', { title: 'x' }, 404],
    ['forgejo', { has_actions: false }, 'olga', 'GET', 'actions/variables', undefined, 404],
    ['gitea', { has_actions: false }, 'olga', 'GET', 'actions/variables', undefined, 200],
  ])('%s, %p: %s %s %s %p => %i', async (profile, settings, as, method, path, body, status) => {
    const ask = await start(profile);
    await ask('olga', 'PATCH', app, settings);

    expect((await ask(as, method, `${app}/${path}`, body)).status).toBe(status);
  });

  it('leaves issues out of a list of both kinds', async () => {
    const ask = await start('gitea');
    await ask('olga', 'PATCH', app, NO_ISSUES);

    const { body } = await ask('olga', 'GET', `${app}/issues`);

    expect((body as { number: number }[]).map(({ number }) => number)).toEqual([2]);
  });

  it('shows the contents of a repository without commits as an empty list on Forgejo', async () => {
    const ask = await start('forgejo');

    expect(await ask('olga', 'GET', '/repos/acme/empty/contents/README.md')).toEqual({ status: 200, body: [] });
  });

  it('has no pull requests in a repository without commits', async () => {
    const ask = await start('gitea');

    expect((await ask('olga', 'GET', '/repos/acme/empty/pulls')).status).toBe(404);
  });
});

describe('sandbox: due days of milestones', () => {
  it.each<[ProfileName, string, string, string]>([
    ['gitea', 'Europe/Berlin', '2027-01-31T23:59:59Z', '2027-01-31T23:59:59+01:00'],
    ['gitea@1.26', 'America/New_York', '2027-01-31T00:00:00Z', '2027-01-31T23:59:59-05:00'],
    ['gitea', 'Pacific/Auckland', '2027-01-31T23:00:00-05:00', '2027-01-31T23:59:59+13:00'],
    ['forgejo', 'Pacific/Auckland', '2027-01-31T12:00:00Z', '2027-02-01T01:00:00+13:00'],
  ])('%s in %s: an edit to %s shows %s', async (profile, zone, sent, shown) => {
    const ask = await start(profile, zone);
    const made = await ask('wes', 'POST', '/repos/acme/app/milestones', { title: 'm' });

    const { body } = await ask('wes', 'PATCH', `/repos/acme/app/milestones/${(made.body as { id: number }).id}`, {
      due_on: sent,
    });

    expect((body as { due_on: string }).due_on).toBe(shown);
  });
});

describe('sandbox: further answers of real servers', () => {
  it('makes the ignore file of any template that a server carries', async () => {
    const ask = await start('gitea');

    const made = await ask('admin', 'POST', '/admin/users/wes/repos', {
      name: 'tool',
      auto_init: true,
      gitignores: 'C,C++',
    });
    const file = await ask('wes', 'GET', '/repos/wes/tool/contents/.gitignore');

    expect([made.status, file.status]).toEqual([201, 200]);
    expect(Buffer.from((file.body as { content: string }).content, 'base64').toString()).toBe('# C\n# C++\n');
    const unknown = { name: 'other', auto_init: true, gitignores: 'NoSuchTemplate' };
    expect((await ask('admin', 'POST', '/admin/users/wes/repos', unknown)).status).toBe(500);
  });

  it.each(['GPL-3.0', 'CC0-1.0', 'Zlib', 'LGPL-2.1-only'])('makes the licence file of %s', async (license) => {
    const ask = await start('gitea');

    const made = await ask('admin', 'POST', '/admin/users/wes/repos', { name: 'tool', auto_init: true, license });

    expect([made.status, (await ask('wes', 'GET', '/repos/wes/tool/contents/LICENSE')).status]).toEqual([201, 200]);
  });

  it('shows the owners of an organization as a limited team (Gitea 1.27)', async () => {
    const ask = await start('gitea');

    const { body } = await ask('olga', 'GET', '/orgs/acme/teams');

    expect((body as { name: string; visibility: string }[]).map(({ name, visibility }) => [name, visibility])).toEqual([
      ['Owners', 'limited'],
      ['writers', 'private'],
    ]);
  });

  it('has no list of the jobs of a run on Forgejo', async () => {
    const ask = await start('forgejo');

    expect(await ask('olga', 'GET', '/repos/acme/app/actions/runs/2/jobs')).toMatchObject({
      status: 404,
      body: expect.stringContaining('404 page not found'),
    });
  });
});

describe('sandbox: lists of commits', () => {
  it.each(PROFILES)('begin at a commit, and leave out what another one has (%s)', async (profile) => {
    const ask = await start(profile);
    const titles = async (query: string): Promise<unknown> => {
      const { status, body } = await ask('wes', 'GET', `/repos/acme/app/commits?${query}`);
      return status === 200
        ? (body as Array<{ commit: { message: string } }>).map((one) => one.commit.message.trim())
        : status;
    };

    expect(await titles('sha=topic&not=main')).toEqual(['a']);
    expect(await titles('sha=main&not=topic&limit=1')).toEqual([]);
    expect(await titles('sha=topic&limit=1')).toEqual(['a']);
    expect(await titles('sha=topic&limit=1&page=2')).toHaveLength(1);
    expect(await titles('sha=nosuch')).toBe(profile === 'forgejo' ? 404 : 500);
    expect((await ask('wes', 'GET', '/repos/acme/empty/commits')).status).toBe(409);
  });
});
