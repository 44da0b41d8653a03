import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { basic } from '../../../src/cli/real-forge/forge-api.js';
import { gitPush } from './git-push.js';

const AUTHORIZATION = basic('wes', 'secret');

/** git's own server program behind HTTP, for whoever has the password. */
function gitServer(root: string): Server {
  return createServer((request, response) => void serve(root, request, response));
}

async function serve(root: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.headers.authorization !== AUTHORIZATION) {
    response.writeHead(401).end();
    return;
  }
  const { pathname, search } = new URL(request.url ?? '/', 'http://x');
  const backend = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env.PATH ?? '',
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      REMOTE_USER: 'wes',
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method ?? 'GET',
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      ...(request.headers['content-encoding'] ? { HTTP_CONTENT_ENCODING: request.headers['content-encoding'] } : {}),
    },
  });
  request.pipe(backend.stdin);
  const chunks: Buffer[] = [];
  for await (const chunk of backend.stdout as AsyncIterable<Buffer>) chunks.push(chunk);
  const answer = Buffer.concat(chunks);
  const cut = answer.indexOf('\r\n\r\n');
  const headers = answer
    .subarray(0, cut)
    .toString()
    .split('\r\n')
    .map((line) => line.split(': ') as [string, string]);
  const status = headers.find(([name]) => name === 'Status')?.[1];
  response.writeHead(
    Number(status?.slice(0, 3) ?? 200),
    Object.fromEntries(headers.filter(([name]) => name !== 'Status')),
  );
  response.end(answer.subarray(cut + 4));
}

describe('contract/real/git-push', () => {
  const root = mkdtempSync(join(tmpdir(), 'forgehand-bare-'));
  const bare = join(root, 'acme/app.git');
  const git = (...args: string[]): string =>
    execFileSync('git', ['--git-dir', bare, ...args], { encoding: 'utf8' }).trim();
  const server = gitServer(root);
  let remote: string;

  beforeAll(async () => {
    execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch', 'main', bare]);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    remote = `http://127.0.0.1:${(server.address() as AddressInfo).port}/acme/app.git`;
  });
  afterAll(() => {
    server.close();
    rmSync(root, { recursive: true, force: true });
  });

  const push = (branch: string, from: string, files: Record<string, string>, removed: string[] = []): Promise<void> =>
    gitPush({
      remote,
      authorization: AUTHORIZATION,
      author: 'wes',
      branch,
      from,
      commits: [{ message: `feat: ${branch}`, files, removed }],
    });

  it('pushes to an empty repository, then branches from the default one, then from a named one', async () => {
    await push('main', '', { 'src/a.ts': 'a\n', 'docs/x.md': 'x\n' });
    await push('feature/one', '', { 'src/new.ts': 'n\n' }, ['docs/x.md']);
    await push('feature/two', 'feature/one', { 'src/a.ts': 'b\n' });
    await gitPush({
      remote,
      authorization: AUTHORIZATION,
      author: 'wes',
      branch: 'nothing-new',
      from: 'main',
      commits: [],
    });

    expect(git('ls-tree', '-r', '--name-only', 'feature/one').split('\n')).toEqual(['src/a.ts', 'src/new.ts']);
    expect(git('log', '--format=%an %s', 'feature/two').split('\n')).toEqual([
      'wes feat: feature/two',
      'wes feat: feature/one',
      'wes feat: main',
    ]);
    expect(git('rev-parse', 'nothing-new')).toBe(git('rev-parse', 'main'));
  });

  it('leaves no clone behind and keeps the password off its messages when it is refused', async () => {
    const refused = gitPush({
      remote,
      authorization: basic('wes', 'wrong-word'),
      author: 'wes',
      branch: 'x',
      from: '',
      commits: [],
    });
    const message = await refused.then(
      () => 'pushed',
      (error: Error) => error.message,
    );

    expect(message).toContain('git');
    expect(message).not.toContain('wrong-word');
    expect(message).not.toContain(basic('wes', 'wrong-word').slice(6));
    expect(existsSync(join(bare, 'refs/heads/x'))).toBe(false);
  });
});
