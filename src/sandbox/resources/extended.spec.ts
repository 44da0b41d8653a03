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

interface Reply {
  status: number;
  body: never;
}
type Ask = (as: string, method: string, path: string, body?: object) => Promise<Reply>;

/** `acme` with `app`: olga owns, wes writes, rita reads, otto is outside; everybody's password is `p`. */
async function start(profile: ProfileName = 'gitea'): Promise<{ ask: Ask; forge: Sandbox }> {
  const forge = await startSandbox({ profile, adminPassword: 'p' });
  sandbox = forge;
  const { world } = forge.parts;
  const [olga, wes, rita] = ['olga', 'wes', 'rita', 'otto'].map((login) =>
    makeUser(world, { login, password: 'p' }),
  ) as [never, never, never];
  const org = makeOrganization(world, { name: 'acme', owner: olga });
  makeTeam(world, { org, name: 'writers', permission: 'write', members: [wes], includesAllRepositories: true });
  makeTeam(world, { org, name: 'readers', permission: 'read', members: [rita], includesAllRepositories: true });
  makeRepository(world, olga, {
    owner: org,
    name: 'app',
    files: { 'README.md': '# app\n', 'docs/guide.md': 'Read.\n' },
  });
  const ask: Ask = async (as, method, path, body) => {
    const answer = await fetch(forge.apiUrl + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(as === '' ? {} : { authorization: `Basic ${Buffer.from(`${as}:p`).toString('base64')}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      body: (answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text) as never,
    };
  };
  return { ask, forge };
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

type Call = [as: string, method: string, path: string, body?: object];

describe('sandbox: what complete stories of the servers show', () => {
  it('lets everybody be assigned who may read (Gitea 1.27)', async () => {
    const { ask } = await start('gitea');

    const replies = [];
    for (const login of ['wes', 'rita', 'otto', 'nobody'])
      replies.push(await ask('wes', 'GET', `/repos/acme/app/assignees/${login}`));

    expect(replies.map(({ status }) => status)).toEqual([204, 204, 204, 404]);
  });

  it.each(['gitea', 'forgejo'] as const)('opens and lists pull requests as recorded (%s)', async (profile) => {
    const { ask } = await start(profile);
    const app = '/repos/acme/app';
    await ask('wes', 'POST', `${app}/contents/a.txt`, { content: base64('a'), new_branch: 'x', message: 'a' });
    const wish = { head: 'x', base: 'main', title: 'One' };

    const unknown = await ask('wes', 'POST', `${app}/pulls`, { ...wish, milestone: 99_999 });
    await ask('wes', 'POST', `${app}/pulls`, wish);
    const counts = [];
    for (const query of ['base_branch=main', 'base_branch=nope', 'state=weird', 'poster=wes', 'poster=rita'])
      counts.push(((await ask('wes', 'GET', `${app}/pulls?${query}`)).body as unknown[]).length);

    expect(unknown.status).toBe(404);
    // Forgejo knows no filter by base.
    expect(counts).toEqual([1, profile === 'gitea' ? 0 : 1, 1, 1, 0]);
  });

  it.each([
    ['gitea', { assignees: null, requested_reviewers: null, requested_reviewers_teams: null }],
    [
      'forgejo',
      { assignees: null, requested_reviewers: [], requested_reviewers_teams: [], additions: 1, changed_files: 1 },
    ],
  ] as const)('shows less of a pull request in a list (%s)', async (profile, expected) => {
    const { ask } = await start(profile);
    const app = '/repos/acme/app';
    await ask('wes', 'POST', `${app}/contents/a.txt`, { content: base64('a'), new_branch: 'x', message: 'a' });
    await ask('wes', 'POST', `${app}/pulls`, { head: 'x', base: 'main', title: 'One' });
    await ask('wes', 'POST', `${app}/pulls/1/merge`, { do: 'merge' });

    const { body: listed } = (await ask('wes', 'GET', `${app}/pulls`)) as { body: object[] };
    const { body: single } = (await ask('wes', 'GET', `${app}/pulls/1`)) as { body: object };

    expect(listed).toEqual([expect.objectContaining({ ...expected, merged: true, merged_by: null })]);
    const left = Object.keys(single).filter((key) => !(key in listed[0]!));
    expect(left).toEqual(profile === 'gitea' ? ['additions', 'deletions', 'changed_files'] : []);
    expect(single).toMatchObject({ merged_by: { login: 'wes' }, additions: 1 });
  });

  it.each([
    ['gitea', false],
    ['gitea@1.26', false],
    ['forgejo', true],
  ] as const)(
    'counts the review asked of a team of writers for a protected branch (%s: %s)',
    async (profile, expected) => {
      const { ask } = await start(profile);
      const app = '/repos/acme/app';
      const asked = async (branch: string): Promise<unknown> => {
        const file = { content: base64('a'), new_branch: branch, message: 'a' };
        await ask('wes', 'POST', `${app}/contents/${branch}.txt`, file);
        const { body } = await ask('wes', 'POST', `${app}/pulls`, { head: branch, base: 'main', title: branch });
        const { number } = body as { number: number };
        const path = `${app}/pulls/${number}/requested_reviewers`;
        return (await ask('wes', 'POST', path, { team_reviewers: ['writers'] })).body;
      };

      const unprotected = await asked('x');
      await ask('olga', 'POST', `${app}/branch_protections`, { rule_name: 'main' });
      const isProtected = await asked('y');

      expect(unprotected).toMatchObject([{ official: false, team: { name: 'writers' } }]);
      expect(isProtected).toMatchObject([{ official: expected, team: { name: 'writers' } }]);
    },
  );

  it.each([
    ['gitea', 404],
    ['forgejo', 403],
  ] as const)('turns a public-only token away from what is private (%s: %i)', async (profile, expected) => {
    const { ask, forge } = await start(profile);
    await ask('olga', 'PATCH', '/repos/acme/app', { private: true });
    const made = await ask('wes', 'POST', '/users/wes/tokens', {
      name: 't',
      scopes: ['public-only', 'read:repository'],
    });
    const { sha1 } = made.body as { sha1: string };

    const answer = await fetch(`${forge.apiUrl}/repos/acme/app`, { headers: { authorization: `token ${sha1}` } });

    expect(answer.status).toBe(expected);
  });
});

describe.each(['gitea', 'gitea@1.26', 'forgejo'] as const)(
  'sandbox: the due date of a pull request (%s)',
  (profile) => {
    it('is taken away by a writer, and a reader is refused', async () => {
      const { ask } = await start(profile);
      const app = '/repos/acme/app';
      await ask('wes', 'POST', `${app}/branches`, { new_branch_name: 'work', old_branch_name: 'main' });
      const file = { content: base64('A\n'), branch: 'work' };
      expect((await ask('wes', 'POST', `${app}/contents/a.txt`, file)).status).toBe(201);
      const wish = { base: 'main', head: 'work', title: 'Work', due_date: '2030-01-02T00:00:00Z' };
      expect((await ask('wes', 'POST', `${app}/pulls`, wish)).status).toBe(201);
      const change = (as: string, body: object): Promise<Reply> => ask(as, 'PATCH', `${app}/pulls/1`, body);
      const due = expect.stringMatching(/^2030-01-0/);

      expect(await change('wes', { title: 'Still due' })).toMatchObject({ status: 201, body: { due_date: due } });
      expect(await change('wes', { unset_due_date: false })).toMatchObject({ status: 201, body: { due_date: due } });
      expect(await change('rita', { unset_due_date: true })).toMatchObject({ status: 403 });
      expect(await ask('wes', 'GET', `${app}/pulls/1`)).toMatchObject({ body: { due_date: due } });
      expect(await change('wes', { unset_due_date: true })).toMatchObject({ status: 201, body: { due_date: null } });
      expect(await ask('wes', 'GET', `${app}/pulls/1`)).toMatchObject({ body: { due_date: null } });
    });
  },
);

describe.each(['gitea', 'gitea@1.26', 'forgejo'] as const)('sandbox: merges that wait for checks (%s)', (profile) => {
  it('are refused, planned, cancelled and made as on the recorded servers', async () => {
    const { ask } = await start(profile);
    const app = '/repos/acme/app';
    await ask('wes', 'POST', `${app}/contents/a.txt`, { content: base64('a'), new_branch: 'x', message: 'a' });
    const opened = await ask('wes', 'POST', `${app}/pulls`, { head: 'x', base: 'main', title: 'One' });
    const { sha } = (opened.body as { head: { sha: string } }).head;
    await ask('olga', 'POST', `${app}/branch_protections`, {
      rule_name: 'main',
      enable_push: true,
      enable_status_check: true,
      status_check_contexts: ['ci/build'],
    });
    const merge = `${app}/pulls/1/merge`;
    const planned = { do: 'squash', merge_when_checks_succeed: true };
    const status = (state: string): Call => ['wes', 'POST', `${app}/statuses/${sha}`, { context: 'ci/build', state }];
    const calls: ReadonlyArray<readonly [expected: number, call: Call]> = [
      [201, status('pending')],
      [405, ['wes', 'POST', merge, { do: 'squash' }]],
      [405, ['wes', 'POST', merge, { do: 'squash', force_merge: true }]],
      [405, ['rita', 'POST', merge, planned]],
      [201, ['wes', 'POST', merge, planned]],
      [409, ['wes', 'POST', merge, { ...planned, do: 'merge' }]],
      [404, ['wes', 'GET', `${app}/pulls/1/merge`]],
      [403, ['rita', 'DELETE', merge]],
      [204, ['wes', 'DELETE', merge]],
      [404, ['wes', 'DELETE', merge]],
      [404, ['wes', 'DELETE', `${app}/pulls/99/merge`]],
      [201, ['wes', 'POST', merge, { ...planned, delete_branch_after_merge: true, head_commit_id: sha }]],
      [201, status('failure')],
      [404, ['wes', 'GET', merge]],
      [201, status('success')],
      [204, ['wes', 'GET', merge]],
      [404, ['wes', 'GET', `${app}/branches/x`]],
      [405, ['wes', 'POST', merge, planned]],
    ];

    const seen: number[] = [];
    for (const [, call] of calls) seen.push((await ask(...call)).status);

    expect(seen).toEqual(calls.map(([expected]) => expected));
    expect((await ask('wes', 'GET', `${app}/pulls/1`)).body).toMatchObject({
      merged: true,
      merged_by: { login: 'wes' },
      head: { ref: 'refs/pull/1/head' },
    });
    const timeline = (await ask('wes', 'GET', `${app}/issues/1/timeline`)).body as Array<{ type: string }>;
    expect(timeline.map(({ type }) => type).filter((type) => /merge/.test(type))).toEqual([
      'pull_scheduled_merge',
      'pull_cancel_scheduled_merge',
      'pull_scheduled_merge',
    ]);
  });

  it('are made by force by an administrator of the repository', async () => {
    const { ask } = await start(profile);
    const app = '/repos/acme/app';
    await ask('wes', 'POST', `${app}/contents/a.txt`, { content: base64('a'), new_branch: 'x', message: 'a' });
    await ask('wes', 'POST', `${app}/pulls`, { head: 'x', base: 'main', title: 'One' });
    await ask('olga', 'POST', `${app}/branch_protections`, {
      rule_name: 'main',
      enable_status_check: true,
      status_check_contexts: ['ci/build'],
    });
    const force = { do: 'rebase', force_merge: true };

    const replies = [
      await ask('olga', 'POST', `${app}/pulls/1/merge`, { ...force, head_commit_id: 'ab'.repeat(20) }),
      await ask('olga', 'POST', `${app}/pulls/1/merge`, force),
    ];

    expect(replies.map(({ status }) => status)).toEqual([409, 200]);
  });
});

type Case = [
  situation: string,
  as: string,
  method: string,
  path: string,
  body: object | undefined,
  status: number,
  answer?: unknown,
];

async function check(ask: Ask, cases: Case[]): Promise<void> {
  for (const [situation, as, method, path, body, status, answer] of cases) {
    const reply = await ask(as, method, path, body);
    expect({ situation, status: reply.status }).toEqual({ situation, status });
    if (answer === null) expect(reply.body).toBeNull();
    else if (answer !== undefined) expect(reply.body).toMatchObject(answer as object);
  }
}

describe('sandbox/resources, extended operations', () => {
  it.each([
    ['gitea', 204],
    ['forgejo', 200],
  ] as const)('takes reactions to issues and comments, each once (%s)', async (profile, takenBack) => {
    const { ask } = await start(profile);
    const issue = '/repos/acme/app/issues/1';
    await ask('otto', 'POST', '/repos/acme/app/issues', { title: 'One' });
    const { id } = (await ask('rita', 'POST', `${issue}/comments`, { body: 'hello' })).body as { id: number };
    const comment = `/repos/acme/app/issues/comments/${id}`;

    await check(ask, [
      ['nobody yet', 'rita', 'GET', '/repos/acme/app/issues/1/reactions', undefined, 200, null],
      ['to an issue', 'rita', 'POST', '/repos/acme/app/issues/1/reactions', { content: '+1' }, 201, { content: '+1' }],
      ['the same again', 'rita', 'POST', '/repos/acme/app/issues/1/reactions', { content: '+1' }, 200],
      ['of another', 'otto', 'POST', '/repos/acme/app/issues/1/reactions', { content: '+1' }, 201],
      ['one that is none', 'rita', 'POST', '/repos/acme/app/issues/1/reactions', { content: 'octopus' }, 403],
      ['of nobody', '', 'POST', '/repos/acme/app/issues/1/reactions', { content: '+1' }, 401],
      ['taken back', 'otto', 'DELETE', '/repos/acme/app/issues/1/reactions', { content: '+1' }, takenBack],
      ['taken back again', 'otto', 'DELETE', '/repos/acme/app/issues/1/reactions', { content: '+1' }, takenBack],
      [
        'those that stay',
        'wes',
        'GET',
        '/repos/acme/app/issues/1/reactions',
        undefined,
        200,
        [{ user: { login: 'rita' } }],
      ],
      ['to a comment', 'wes', 'POST', `${comment}/reactions`, { content: 'eyes' }, 201],
      [
        'of a comment',
        'rita',
        'GET',
        `${comment}/reactions`,
        undefined,
        200,
        [{ content: 'eyes', user: { login: 'wes' } }],
      ],
      ['off it', 'wes', 'DELETE', `${comment}/reactions`, { content: 'eyes' }, takenBack],
      ['off, seen', 'rita', 'GET', `${comment}/reactions`, undefined, 200, null],
      ['to no comment', 'wes', 'POST', '/repos/acme/app/issues/comments/999/reactions', { content: 'eyes' }, 404],
    ]);
  });

  it('makes, fills and ends organizations', async () => {
    const { ask } = await start();

    await check(ask, [
      [
        'anybody may make one',
        'otto',
        'POST',
        '/orgs',
        { username: 'otto-inc', full_name: 'Otto' },
        201,
        { name: 'otto-inc', visibility: 'public' },
      ],
      ['a name that is taken', 'otto', 'POST', '/orgs', { username: 'WES' }, 422],
      ['a name that is none', 'otto', 'POST', '/orgs', { username: 'a b' }, 422],
      [
        'who made it owns it',
        'otto',
        'GET',
        '/orgs/otto-inc/teams',
        undefined,
        200,
        [{ name: 'Owners', permission: 'owner' }],
      ],
      [
        'a repository of it',
        'otto',
        'POST',
        '/orgs/otto-inc/repos',
        { name: 'one', auto_init: true },
        201,
        { full_name: 'otto-inc/one', empty: false },
      ],
      ['a member without the right to make repositories', 'wes', 'POST', '/orgs/acme/repos', { name: 'x' }, 403],
      ['what is mine', 'otto', 'GET', '/user/orgs', undefined, 200, [{ name: 'otto-inc' }]],
      ['it still has a repository', 'otto', 'DELETE', '/orgs/otto-inc', undefined, 500],
      ['only owners end repositories', 'rita', 'DELETE', '/repos/acme/app', undefined, 403],
      ['the repository ends', 'otto', 'DELETE', '/repos/otto-inc/one', undefined, 204],
      ['then the organization', 'otto', 'DELETE', '/orgs/otto-inc', undefined, 204],
      ['it is gone', 'otto', 'GET', '/orgs/otto-inc', undefined, 404],
    ]);
  });

  it('makes teams whose rights are by unit', async () => {
    const { ask } = await start();
    const made = (await ask('olga', 'POST', '/orgs/acme/teams', {
      name: 'triage',
      permission: 'read',
      units_map: { 'repo.issues': 'write', 'repo.code': 'read' },
      includes_all_repositories: true,
    })) as { status: number; body: { id: number; units_map: object } };
    const team = `/teams/${made.body.id}`;

    expect(made).toMatchObject({
      status: 201,
      body: { name: 'triage', permission: 'none', units_map: { 'repo.issues': 'write', 'repo.code': 'read' } },
    });
    await check(ask, [
      ['no units', 'olga', 'POST', '/orgs/acme/teams', { name: 'bare', permission: 'read' }, 500],
      ['a name that is there', 'olga', 'POST', '/orgs/acme/teams', { name: 'TRIAGE', permission: 'admin' }, 422],
      ['not an owner', 'wes', 'POST', '/orgs/acme/teams', { name: 'x', permission: 'admin' }, 403],
      ['before: otto may not label', 'otto', 'POST', '/repos/acme/app/issues', { title: 'one' }, 201],
      ['before: otto may not label', 'otto', 'POST', '/repos/acme/app/issues/1/labels', { labels: [] }, 403],
      ['otto joins', 'olga', 'PUT', `${team}/members/otto`, undefined, 204],
      ['then may label', 'otto', 'POST', '/repos/acme/app/issues/1/labels', { labels: [] }, 200],
      ['but not push', 'otto', 'POST', '/repos/acme/app/branches', { new_branch_name: 'x' }, 403],
      ['who is in it', 'wes', 'GET', `${team}/members`, undefined, 200, [{ login: 'otto' }]],
      ['what it reaches', 'wes', 'GET', `${team}/repos`, undefined, 200, [{ full_name: 'acme/app' }]],
      ['members see members', 'wes', 'GET', '/orgs/acme/members/otto', undefined, 204],
      ['otto leaves', 'olga', 'DELETE', `${team}/members/otto`, undefined, 204],
      ['otto is no member', 'wes', 'GET', '/orgs/acme/members/otto', undefined, 404],
      ['strangers are sent away', 'otto', 'GET', '/orgs/acme/members/wes', undefined, 303],
      ['strangers see no team', 'otto', 'GET', `${team}/members`, undefined, 404],
    ]);
  });

  it('makes accounts that first need a new password, and ends them', async () => {
    const { ask } = await start();
    const nina = { username: 'nina', email: 'nina@example.org', password: 'p' };

    await check(ask, [
      ['no site admin', 'olga', 'POST', '/admin/users', nina, 403],
      ['made', 'admin', 'POST', '/admin/users', nina, 201, { login: 'nina' }],
      ['has to choose a password first', 'nina', 'GET', '/user', undefined, 403],
      ['the same again', 'admin', 'POST', '/admin/users', nina, 422],
      ['ends', 'admin', 'DELETE', '/admin/users/nina', undefined, 204],
      ['made without that', 'admin', 'POST', '/admin/users', { ...nina, must_change_password: false }, 201],
      ['comes in', 'nina', 'GET', '/user', undefined, 200, { login: 'nina' }],
      ['an edit without its name', 'admin', 'PATCH', '/admin/users/nina', { admin: true }, 422],
      ['not by herself', 'nina', 'PATCH', '/admin/users/nina', { source_id: 0, login_name: 'nina', admin: true }, 403],
      [
        'may everything',
        'admin',
        'PATCH',
        '/admin/users/nina',
        { source_id: 0, login_name: 'nina', admin: true },
        200,
        { is_admin: true },
      ],
      [
        'and nothing more',
        'admin',
        'PATCH',
        '/admin/users/nina',
        { source_id: 0, login_name: 'nina', admin: false },
        200,
        { is_admin: false },
      ],
      ['writes', 'nina', 'POST', '/repos/acme/app/issues', { title: 'hello' }, 201],
      ['owns', 'admin', 'POST', '/admin/users/nina/repos', { name: 'mine' }, 201],
      ['still owns', 'admin', 'DELETE', '/admin/users/nina', undefined, 422],
      ['ends with all', 'admin', 'DELETE', '/admin/users/nina?purge=true', undefined, 204],
      [
        'is shown as a ghost',
        'olga',
        'GET',
        '/repos/acme/app/issues/1',
        undefined,
        200,
        { user: { id: -1, login: 'Ghost' } },
      ],
      ['is no one', 'olga', 'GET', '/users/nina', undefined, 404],
    ]);
  });

  it('commits single files, only on top of what the caller saw', async () => {
    const { ask, forge } = await start();
    const at = '/repos/acme/app/contents/docs/new.md';
    const first = (await ask('wes', 'POST', at, { content: base64('one\n'), message: 'docs: new' })) as {
      status: number;
      body: { content: { sha: string } };
    };
    const { sha } = first.body.content;

    expect(first).toMatchObject({
      status: 201,
      body: { content: { path: 'docs/new.md', content: base64('one\n') }, commit: { message: 'docs: new\n' } },
    });
    await check(ask, [
      ['again', 'wes', 'POST', at, { content: base64('two\n') }, 422],
      ['no base64', 'wes', 'POST', '/repos/acme/app/contents/x', { content: '*' }, 422],
      ['a reader', 'rita', 'POST', '/repos/acme/app/contents/x', { content: '' }, 403],
      ['without the sha', 'wes', 'PUT', at, { content: base64('two\n') }, 422],
      ['another sha', 'wes', 'PUT', at, { content: base64('two\n'), sha: '0'.repeat(40) }, 422],
      [
        'on a new branch',
        'wes',
        'PUT',
        at,
        { content: base64('two\n'), sha, new_branch: 'topic' },
        200,
        { content: { content: base64('two\n') } },
      ],
      ['the old branch is as it was', 'wes', 'GET', at, undefined, 200, { content: base64('one\n') }],
      ['no such branch', 'wes', 'PUT', at, { content: '', sha, branch: 'nope' }, 404],
      ['deleting what changed', 'wes', 'DELETE', at, { sha: '0'.repeat(40) }, 400],
      ['deleting', 'wes', 'DELETE', at, { sha }, 200, { content: null }],
      ['gone', 'wes', 'DELETE', at, { sha }, 404],
      [
        'the root',
        '',
        'GET',
        '/repos/acme/app/contents',
        undefined,
        200,
        [
          { name: 'README.md', type: 'file', content: null },
          { name: 'docs', type: 'dir' },
        ],
      ],
    ]);
    expect(forge.parts.world.feed.filter(({ opType }) => opType === 'commit_repo').length).toBeGreaterThan(2);
  });

  it('lists, makes and deletes tags', async () => {
    const { ask } = await start();

    await check(ask, [
      ['a light one', 'wes', 'POST', '/repos/acme/app/tags', { tag_name: 'v1' }, 201, { name: 'v1' }],
      [
        'an annotated one',
        'wes',
        'POST',
        '/repos/acme/app/tags',
        { tag_name: 'v2/rc', message: 'second' },
        201,
        { message: 'second\n' },
      ],
      ['again', 'wes', 'POST', '/repos/acme/app/tags', { tag_name: 'v1' }, 409],
      ['no target', 'wes', 'POST', '/repos/acme/app/tags', { tag_name: 'v3', target: 'nope' }, 404],
      ['no name for a ref', 'wes', 'POST', '/repos/acme/app/tags', { tag_name: 'a b' }, 422],
      ['by name', '', 'GET', '/repos/acme/app/tags/v2%2Frc', undefined, 200, { name: 'v2/rc' }],
      ['all', '', 'GET', '/repos/acme/app/tags', undefined, 200, [{}, {}]],
      ['no release yet', '', 'GET', '/repos/acme/app/releases/latest', undefined, 404],
      ['a release on it', 'wes', 'POST', '/repos/acme/app/releases', { tag_name: 'v1' }, 201],
      ['is the latest', '', 'GET', '/repos/acme/app/releases/latest', undefined, 200, { tag_name: 'v1' }],
      ['has a number', '', 'GET', '/repos/acme/app/releases/1', undefined, 200, { tag_name: 'v1' }],
      ['holds it', 'wes', 'DELETE', '/repos/acme/app/tags/v1', undefined, 409],
      ['the other goes', 'wes', 'DELETE', '/repos/acme/app/tags/v2%2Frc', undefined, 204],
      ['is gone', 'wes', 'GET', '/repos/acme/app/tags/v2%2Frc', undefined, 404],
    ]);
  });

  it('tells tags and contents in the form of each server', async () => {
    const { ask } = await start('forgejo');

    const tag = await ask('wes', 'POST', '/repos/acme/app/tags', { tag_name: 'v1', message: 'first' });
    const file = await ask('wes', 'GET', '/repos/acme/app/contents/README.md');

    expect(tag.body).toMatchObject({ message: 'first', archive_download_count: { zip: 0, tar_gz: 0 } });
    expect(file.body).toMatchObject({ last_commit_when: expect.any(String) });
    expect(file.body).not.toHaveProperty('last_author_date');
  });

  it('assigns, searches and locks', async () => {
    const { ask } = await start();
    await ask('wes', 'POST', '/repos/acme/app/labels', { name: 'bug', color: 'ff0000' });
    await ask('wes', 'POST', '/repos/acme/app/issues', { title: 'Crash', assignees: ['wes'], labels: [1] });
    await ask('otto', 'POST', '/repos/acme/app/issues', { title: 'Wish' });

    await check(ask, [
      ['its labels', '', 'GET', '/repos/acme/app/issues/1/labels', undefined, 200, [{ name: 'bug' }]],
      [
        'who may be assigned',
        'wes',
        'GET',
        '/repos/acme/app/assignees',
        undefined,
        200,
        [{ login: 'olga' }, { login: 'wes' }],
      ],
      ['wes may', '', 'GET', '/repos/acme/app/assignees/wes', undefined, 204],
      ['otto may, for he may read', '', 'GET', '/repos/acme/app/assignees/otto', undefined, 204],
      ['nobody may not', '', 'GET', '/repos/acme/app/assignees/nobody-here', undefined, 404],
      [
        'one off',
        'wes',
        'DELETE',
        '/repos/acme/app/issues/1/assignees',
        { assignees: ['wes'] },
        200,
        { assignees: null },
      ],
      ['without the right', 'otto', 'DELETE', '/repos/acme/app/issues/1/assignees', { assignees: ['wes'] }, 403],
      ['by label', '', 'GET', '/repos/issues/search?labels=bug,nope', undefined, 200, [{ title: 'Crash' }]],
      ['by words', '', 'GET', '/repos/issues/search?q=wish&owner=acme', undefined, 200, [{ title: 'Wish' }]],
      ['of nobody', '', 'GET', '/repos/issues/search?owner=otto', undefined, 200, []],
      ['locked', 'olga', 'PUT', '/repos/acme/app/issues/1/lock', {}, 204],
      ['no word', 'otto', 'POST', '/repos/acme/app/issues/1/comments', { body: 'x' }, 403],
      ['unlocked', 'olga', 'DELETE', '/repos/acme/app/issues/1/lock', undefined, 204],
      ['a word', 'otto', 'POST', '/repos/acme/app/issues/1/comments', { body: 'x' }, 201],
    ]);
  });

  it('changes labels of organizations, variables of repositories, collaborators', async () => {
    const { ask } = await start();

    await check(ask, [
      [
        'a label',
        'olga',
        'POST',
        '/orgs/acme/labels',
        { name: 'all', color: '00ff00', is_archived: true },
        201,
        { is_archived: true },
      ],
      [
        'changed; what is left out un-archives',
        'olga',
        'PATCH',
        '/orgs/acme/labels/1',
        { color: '0000ff' },
        200,
        { color: '0000ff', is_archived: false },
      ],
      ['listed', '', 'GET', '/orgs/acme/labels', undefined, 200, [{ name: 'all' }]],
      ['not by a writer', 'wes', 'PATCH', '/orgs/acme/labels/1', { color: '0000ff' }, 403],
      ['gone', 'olga', 'DELETE', '/orgs/acme/labels/1', undefined, 204],
      ['unknown', 'olga', 'PATCH', '/orgs/acme/labels/1', { color: '0000ff' }, 404],
      ['a variable', 'olga', 'POST', '/repos/acme/app/actions/variables/one', { value: '1', description: 'd' }, 201],
      [
        'changed; its description is cleared',
        'olga',
        'PUT',
        '/repos/acme/app/actions/variables/one',
        { value: '2' },
        204,
      ],
      ['read', 'olga', 'GET', '/repos/acme/app/actions/variables/one', undefined, 200, { data: '2', description: '' }],
      ['gone', 'olga', 'DELETE', '/repos/acme/app/actions/variables/one', undefined, 204],
      ['gone', 'olga', 'GET', '/repos/acme/app/actions/variables/one', undefined, 404],
      ['otto helps', 'olga', 'PUT', '/repos/acme/app/collaborators/otto', { permission: 'write' }, 204],
      ['and may', 'otto', 'POST', '/repos/acme/app/branches', { new_branch_name: 'x' }, 201],
      ['nobody helps', 'olga', 'PUT', '/repos/acme/app/collaborators/nobody', {}, 422],
    ]);
  });

  it('dismisses verdicts, lists statuses, tells the token in use', async () => {
    const { ask, forge } = await start();
    await ask('wes', 'POST', '/repos/acme/app/contents/x.md', { content: base64('x'), new_branch: 'topic' });
    await ask('wes', 'POST', '/repos/acme/app/pulls', { head: 'topic', base: 'main', title: 'x' });
    await ask('olga', 'POST', '/repos/acme/app/pulls/1/reviews', { event: 'REQUEST_CHANGES', body: 'no' });
    for (const state of ['pending', 'success'])
      await ask('wes', 'POST', '/repos/acme/app/statuses/main', { state, context: 'ci' });
    const token = (await ask('wes', 'POST', '/users/wes/tokens', { name: 't', scopes: ['read:issue'] })) as {
      body: never;
      status: number;
    };
    const own = await fetch(`${forge.apiUrl}/token`, {
      headers: { authorization: `token ${(token.body as { sha1: string }).sha1}` },
    });

    await check(ask, [
      ['all pull requests', '', 'GET', '/repos/acme/app/pulls', undefined, 200, [{ title: 'x' }]],
      ['not by the author', 'wes', 'POST', '/repos/acme/app/pulls/1/reviews/1/dismissals', { message: 'done' }, 403],
      [
        'dismissed',
        'olga',
        'POST',
        '/repos/acme/app/pulls/1/reviews/1/dismissals',
        { message: 'done' },
        200,
        { dismissed: true, state: 'REQUEST_CHANGES' },
      ],
      [
        'every status',
        '',
        'GET',
        '/repos/acme/app/commits/main/statuses',
        undefined,
        200,
        [{ status: 'success' }, { status: 'pending' }],
      ],
      ['every commit', '', 'GET', '/repos/acme/app/commits', undefined, 200],
      ['no token in use', 'wes', 'GET', '/token', undefined, 401],
    ]);
    const time = expect.stringMatching(/^20\d\d-/);
    expect(await own.json()).toEqual({
      id: expect.any(Number),
      name: 't',
      scopes: ['read:issue'],
      created_at: time,
      last_used_at: time,
      user: { id: 3, login: 'wes' },
    });
  });

  it.each<[ProfileName, number, number]>([
    ['gitea', 2, 4],
    ['gitea@1.26', 0, 2],
  ])('runs jobs again on %s', async (profile, attempt, jobs) => {
    const { ask, forge } = await start(profile);
    const { performAct } = await import('../acts/perform-act.js');
    const plan = [{ name: 'build' }, { name: 'test', needs: ['build'] }];
    await performAct(forge.parts, { as: 'wes', act: 'workflow.run', params: { repo: 'acme/app', jobs: plan } });

    await check(ask, [
      ['a reader', 'rita', 'POST', '/repos/acme/app/actions/runs/1/rerun', undefined, 403],
      ['all of it', 'wes', 'POST', '/repos/acme/app/actions/runs/1/rerun', undefined, 201],
      ['not done yet', 'wes', 'POST', '/repos/acme/app/actions/runs/1/jobs/1/rerun', undefined, 400],
      ['its jobs', '', 'GET', '/repos/acme/app/actions/runs/1/jobs', undefined, 200, { total_count: 2 }],
      [
        'the run',
        '',
        'GET',
        '/repos/acme/app/actions/runs/1',
        undefined,
        200,
        { status: 'queued', run_attempt: attempt },
      ],
    ]);
    expect(forge.parts.world.jobs.size).toBe(jobs);
  });

  it('gives one comment by its number, to who may read the repository', async () => {
    const { ask } = await start();
    await ask('wes', 'POST', '/repos/acme/app/issues', { title: 'One' });
    const made = (await ask('wes', 'POST', '/repos/acme/app/issues/1/comments', { body: 'Hear, hear' })).body as {
      id: number;
    };
    const comment = `/repos/acme/app/issues/comments/${made.id}`;
    const none = `/repos/acme/app/issues/comments/${made.id + 1}`;

    await check(ask, [
      ['a reader', 'rita', 'GET', comment, undefined, 200, { id: made.id, body: 'Hear, hear', user: { login: 'wes' } }],
      ['no such comment', 'rita', 'GET', none, undefined, 404],
    ]);
  });
});
