import { afterEach, describe, expect, it } from '@jest/globals';
import { parseJson } from '../core/json.js';
import { userNamed } from './control/read.js';
import { type Sandbox, type SandboxOptions, startSandbox } from './start-sandbox.js';
import { makeOrganization } from './resources/organization.js';
import { archiveRepository, renameRepository } from './resources/repository-edit.js';
import { makeRepository } from './resources/repository.js';
import { makeTeam } from './resources/team.js';
import { makeToken } from './resources/token.js';
import { makeUser, renameOwner } from './resources/user.js';

let open: Sandbox[] = [];

afterEach(async () => {
  await Promise.all(open.map((sandbox) => sandbox.close()));
  open = [];
});

/** `acme` with an open and a private repository; olga owns, wes writes, otto is outside. */
async function aSandbox(options: SandboxOptions = {}) {
  const sandbox = await startSandbox(options);
  open.push(sandbox);
  const { world, admin } = sandbox.parts;
  const person = (login: string) => makeUser(world, { login, password: `${login}:pass` });
  const [olga, wes] = [person('olga'), person('wes')];
  person('otto');
  const org = makeOrganization(world, { name: 'acme', owner: olga });
  makeTeam(world, { org, name: 'writers', permission: 'write', members: [wes], includesAllRepositories: true });
  const files = { 'README.md': '# app\n' };
  const app = makeRepository(world, admin, { owner: org, name: 'app', files });
  const hidden = makeRepository(world, admin, { owner: org, name: 'hidden', private: true, files });
  const ask = (method: string, path: string, authorization?: string, body?: string) =>
    fetch(sandbox.apiUrl + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(authorization ? { authorization } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body }),
    });
  const token = (login: string, ...scopes: string[]) =>
    makeToken(world, userNamed(sandbox.parts, login), scopes.join(), scopes).value;
  return { ...sandbox, world, org, app, hidden, ask, token };
}

const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

describe('sandbox/start-sandbox', () => {
  it('listens on the loopback address, on a port of its own, with new credentials each time', async () => {
    const [first, second] = [await aSandbox(), await aSandbox()];

    expect(first.url).toBe(`http://127.0.0.1:${first.port}`);
    expect(second.port).not.toBe(first.port);
    expect(second.admin.password).not.toBe(first.admin.password);
    expect(second.controlToken).not.toBe(first.controlToken);
  });

  it('rejects a start on a taken port', async () => {
    const { port } = await aSandbox();

    await expect(startSandbox({ port })).rejects.toThrow(/EADDRINUSE/);
  });

  it.each(['token', 'Token', 'TOKEN', 'bearer', 'Bearer'])('takes a token with the scheme %s', async (scheme) => {
    const { ask, token } = await aSandbox();

    expect(await (await ask('GET', '/user', `${scheme} ${token('wes', 'all')}`)).json()).toMatchObject({
      login: 'wes',
    });
  });

  it('takes Basic with a password, a token as password, a token as user name, and a token in the query with a warning', async () => {
    const { ask, token } = await aSandbox();
    const value = token('wes', 'all');

    const answers = [
      await ask('GET', '/user', basic('WES', 'wes:pass')),
      await ask('GET', '/user', basic('anybody', value)),
      await ask('GET', '/user', basic(value, '')),
      await ask('GET', '/user', basic(value, 'x-oauth-basic')),
      await ask('GET', `/user?access_token=${value}`),
    ];

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(answers.map(({ headers }) => headers.has('x-gitea-warning'))).toEqual([false, false, false, false, true]);
  });

  it.each([['token nope'], [basic('wes', 'nope')], [basic('nobody', 'wes:pass')], ['Basic %%%']])(
    'refuses %s even where nobody is needed',
    async (authorization) => {
      const { ask } = await aSandbox();

      const answer = await ask('GET', '/repos/acme/app/branches/main', authorization);

      expect([answer.status, await answer.json()]).toMatchObject([
        401,
        { message: 'invalid username, password or token' },
      ]);
    },
  );

  it('checks scope, then sight, then public-only, then login, then role, then archived, then body', async () => {
    const { ask, token, world, app, hidden } = await aSandbox();
    const post = async (repo: string, authorization?: string, body = '{}') =>
      (await ask('POST', `/repos/acme/${repo}/branches`, authorization, body)).status;
    archiveRepository(world, app, true);

    expect(await post('hidden', `token ${token('otto', 'write:issue')}`)).toBe(403);
    expect(await post('hidden', `token ${token('otto', 'all')}`)).toBe(404);
    expect(await post('hidden')).toBe(404);
    expect(await post('hidden', `token ${token('wes', 'public-only', 'write:repository')}`)).toBe(404);
    expect(await post('app')).toBe(401);
    expect(await post('app', `token ${token('otto', 'write:repository')}`)).toBe(403);
    expect(await post('app', `token ${token('wes', 'write:repository')}`)).toBe(423);
    archiveRepository(world, app, false);
    expect(await post('app', basic('wes', 'wes:pass'))).toBe(422);
    expect(await post('app', basic('wes', 'wes:pass'), '{"new_branch_name":"b"}')).toBe(201);
    expect(hidden.git.branches.size).toBe(1);
  });

  it('answers plain text for an unknown route, nothing for a wrong method, and HEAD without a body', async () => {
    const { ask } = await aSandbox();

    const [unknown, wrong, head] = [
      await ask('GET', '/no/such/route'),
      await ask('DELETE', '/version'),
      await ask('HEAD', '/repos/acme/app/branches/main'),
    ];

    expect([unknown.status, unknown.headers.get('content-type'), await unknown.text()]).toEqual([
      404,
      'text/plain; charset=utf-8',
      '404 page not found\n',
    ]);
    expect([wrong.status, await wrong.text()]).toEqual([405, '']);
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('refuses HEAD where the server is too old for it', async () => {
    const { ask } = await aSandbox({ profile: 'gitea@1.26' });

    expect((await ask('HEAD', '/version')).status).toBe(405);
  });

  it('finds a branch with slashes raw, escaped, doubled and trailing', async () => {
    const { ask } = await aSandbox();
    await ask('POST', '/repos/acme/app/branches', basic('wes', 'wes:pass'), '{"new_branch_name":"feature/a#b%c"}');

    for (const path of [
      '/repos/acme/app/branches/feature/a%23b%25c',
      '/repos/acme/app/branches/feature%2Fa%23b%25c',
      '/repos//ACME/App/branches/feature%2Fa%23b%25c/',
    ]) {
      expect(await (await ask('GET', path)).json()).toMatchObject({ name: 'feature/a#b%c' });
    }
  });

  it('sends on from an old name: 301 for a repository, 307 for an owner, relative, with the query', async () => {
    const { ask, world, org, app, parts } = await aSandbox();
    renameRepository(world, parts.admin, app, 'app2');

    const repository = await ask('POST', '/repos/acme/app/labels?x=1', undefined, '{}');
    renameOwner(world, org, 'acme2');
    const owner = await ask('GET', '/repos/acme/app2/branches');

    expect([repository.status, repository.headers.get('location'), await repository.text()]).toEqual([
      301,
      '/api/v1/repos/acme/app2/labels?x=1',
      '',
    ]);
    expect([owner.status, owner.headers.get('location')]).toEqual([307, '/api/v1/repos/acme2/app2/branches']);
  });

  it('ends the sending on when somebody takes the old name', async () => {
    const { ask, world, org, app, parts } = await aSandbox();
    renameRepository(world, parts.admin, app, 'app2');
    makeRepository(world, parts.admin, { owner: org, name: 'app' });

    expect((await ask('GET', '/repos/acme/app')).status).toBe(200);
  });

  it('lets a site admin act as another and nobody else', async () => {
    const { ask, admin } = await aSandbox();

    expect(await (await ask('GET', '/user?sudo=wes', basic(admin.login, admin.password))).json()).toMatchObject({
      login: 'wes',
    });
    expect((await ask('GET', '/user?sudo=wes', basic('olga', 'olga:pass'))).status).toBe(403);
    expect((await ask('GET', '/user?sudo=none', basic(admin.login, admin.password))).status).toBe(404);
  });

  it('hides the message of a fault from everybody but site admins', async () => {
    const { ask, admin } = await aSandbox();
    const message = async (authorization: string) => {
      const answer = await ask(
        'POST',
        '/repos/acme/app/branches',
        authorization,
        '{"new_branch_name":"x","old_ref_name":"nope"}',
      );
      return [answer.status, ((await answer.json()) as { message: string }).message];
    };

    expect(await message(basic('wes', 'wes:pass'))).toEqual([500, '']);
    expect(await message(basic(admin.login, admin.password))).toEqual([500, expect.stringContaining('nope')]);
  });

  it('keeps ids beyond 2^53 exact in answers and in the ledger', async () => {
    const { ask, controlToken, url } = await aSandbox({ firstId: 9007199254740993n });
    await ask(
      'POST',
      '/repos/acme/app/branches',
      basic('wes', 'wes:pass'),
      '{"new_branch_name":"b","other":9007199254740993}',
    );
    const self = await (await ask('GET', '/user', basic('wes', 'wes:pass'))).text();

    const ledger = await (
      await fetch(`${url}/_sandbox/ledger`, { headers: { authorization: `Bearer ${controlToken}` } })
    ).text();

    expect(self).toContain('"id":9007199254740995,');
    expect(parseJson(ledger)).toMatchObject({
      entries: [
        {
          n: 1,
          method: 'POST',
          path: '/api/v1/repos/acme/app/branches',
          operation: 'createBranch',
          caller: 'wes',
          body: '{"new_branch_name":"b","other":9007199254740993}',
          applied: [{ kind: 'branch', what: 'created' }],
          status: 201,
        },
        { n: 2, operation: 'getSelf', applied: [], status: 200 },
      ],
    });
  });

  it('opens the control routes to the control token and to site admins only', async () => {
    const { url, admin, controlToken } = await aSandbox();
    const status = async (authorization: string) =>
      (await fetch(`${url}/_sandbox/ledger`, { headers: { authorization } })).status;

    expect(await status(`Bearer ${controlToken}`)).toBe(200);
    expect(await status(basic(admin.login, admin.password))).toBe(200);
    expect(await status(basic('olga', 'olga:pass'))).toBe(401);
    expect(await status(`Bearer ${controlToken}x`)).toBe(401);
  });

  it('never tells a token of the query in the ledger', async () => {
    const { ask, parts, token } = await aSandbox();
    const value = token('wes', 'all');
    await ask('GET', `/user?token=${value}&x=1`);

    expect(JSON.stringify(parts.ledger.entries)).not.toContain(value);
  });
});
