import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { Secret } from '../../core/secret.js';
import { callReason, ForgeError } from '../../core/errors.js';
import { parseJson, type JsonObject } from '../../core/json.js';
import { operations } from '../../forge/operations.js';
import type { LookupScope } from './lookup-reader.port.js';
import { FakeForge } from '../../../test/fakes/fake-forge.js';
import { ForgeLookupReader } from './forge-lookup-reader.js';

const APP = { id: '7', owner: 'acme', name: 'app', full_name: 'acme/app' };
const CANARY = 'canary-credential-3a7f';

const story = parseJson(
  readFileSync(new URL('../../../test/recordings/gitea-1.27/exchanges/pull-lifecycle.json', import.meta.url), 'utf8'),
) as unknown as { steps: { title: string; response: Recorded }[] };

interface Recorded {
  status: number;
  body: JsonObject & { head: JsonObject };
}

function recorded(title: string): Recorded {
  const step = story.steps.find((one) => one.title === title);
  if (!step) throw new Error(`no step ${title}`);
  return step.response;
}

/** What servers say of a commit that no pull request was merged as. */
async function refuseUnknown(): Promise<never> {
  const { status } = recorded('commit → pull request, unknown');
  const operation = 'getPullOfCommit';
  throw new ForgeError('refused', callReason('forge.refused', { operation, status }), { operation, status });
}

describe('actions/lookups/forge-lookup-reader', () => {
  let forge: FakeForge;
  let reader: ForgeLookupReader;

  beforeEach(() => {
    forge = new FakeForge();
    forge.addRepository('app');
    reader = new ForgeLookupReader({ get: (name) => (name === 'main' ? forge : null) });
  });

  function read(use: string, params: JsonObject = {}, scope: Partial<LookupScope> = {}) {
    return reader.read(
      { as: 'it', use, params, onMissing: 'none' },
      { forge: 'main', org: 'acme', repo: APP, ...scope },
    );
  }

  it('answers what the forge tells', async () => {
    expect(await read('branch.get', { branch: 'main' })).toEqual({
      value: { name: 'main', commit: { id: 'a'.repeat(40) } },
    });
  });

  it('says missing for 404', async () => {
    expect(await read('branch.get', { branch: 'nope' })).toEqual({ missing: true });
  });

  it('reads lists to their end', async () => {
    for (let n = 0; n < 8; n += 1)
      forge.repositories.get('acme/app')?.mirrors.push({ remote_name: `m${n}`, remote_address: `https://m${n}` });

    const answer = await read('push_mirrors.list');

    expect((answer as { value: unknown[] }).value).toHaveLength(8);
  });

  it('lists milestones that are closed, too', async () => {
    forge.repositories
      .get('acme/app')
      ?.milestones.push({ id: '1', title: 'a', state: 'closed' }, { id: '2', title: 'b', state: 'open' });

    expect(((await read('milestones.list')) as { value: unknown[] }).value).toHaveLength(2);
    expect(((await read('milestones.list', { state: 'open' })) as { value: unknown[] }).value).toHaveLength(1);
  });

  it.each([
    ['issues.list', { state: 'Open' }, 'state must be open, closed or all, this is "Open"'],
    ['issues.list', { type: 'issue' }, 'type must be issues or pulls, this is "issue"'],
    ['issues.list', { before: 'yesterday' }, 'before must be a time'],
    ['milestones.list', { state: 'opened' }, 'state must be open, closed or all, this is "opened"'],
    ['jobs.mine', { status: 'failed' }, 'status must be pending'],
    ['feed.list', { date: '30.7.2026' }, 'date must be a day'],
  ])('refuses a filter that servers would drop: %s %j', async (use, params, why) => {
    expect(await read(use, params)).toEqual({ failed: expect.stringContaining(why) });
    expect(forge.calls).toEqual([]);
  });

  it('lists so many of the newest issues as the rule says, after comparing labels, and reads no page more', async () => {
    const issues = Array.from({ length: 120 }, (_, n) => ({ number: n + 1, labels: n % 2 ? [{ name: 'stale' }] : [] }));
    forge.answer('listIssues', async ({ page }) => issues.slice((Number(page) - 1) * 50, Number(page) * 50) as never);

    const answer = (await read('issues.list', { labels: ['stale'], limit: 30 })) as { value: JsonObject[] };

    expect(answer.value.map(({ number }) => number)).toEqual(Array.from({ length: 30 }, (_, n) => (n + 1) * 2));
    expect(forge.calls).toEqual(['listIssues', 'listIssues']);
  });

  it('finds the pull requests of a commit, those that were merged as it too', async () => {
    const [head, merge] = ['a'.repeat(40), 'b'.repeat(40)];
    const pulls = [
      { number: '1', state: 'open', merged: false, head: { sha: head }, merge_commit_sha: merge },
      { number: '2', state: 'open', merged: false, head: { sha: merge } },
      { number: '3', state: 'closed', merged: true, head: { sha: 'c'.repeat(40) }, merge_commit_sha: merge },
      { number: '4', state: 'open', head: null },
    ];
    forge.answer('listPulls', async ({ state, page }) =>
      Number(page ?? 1) > 1 ? [] : (pulls.filter((one) => state === 'all' || one.state === state) as never),
    );
    forge.answer('getPullOfCommit', refuseUnknown);
    const numbers = async (params: JsonObject): Promise<unknown[]> => {
      const answer = (await read('pull_requests.of_commit', params)) as { value: JsonObject[] };
      return answer.value.map(({ number }) => number);
    };

    expect(await numbers({ sha: head })).toEqual(['1']);
    expect(await numbers({ sha: merge })).toEqual(['2']);
    expect(await numbers({ sha: merge, state: 'all' })).toEqual(['2', '3']);
    expect(await numbers({ sha: 'd'.repeat(40), state: 'all' })).toEqual([]);
  });

  describe('pull_requests.of_commit, as recorded', () => {
    const merge = String(recorded('commit → pull request, merge commit').body.merge_commit_sha);
    let asked: JsonObject[];

    beforeEach(() => {
      asked = [];
      forge.answer('listPulls', async (args) => {
        asked.push(args as JsonObject);
        const title = args['sort'] === 'recentupdate' ? 'list closed' : 'list, state unknown';
        return Number(args['page']) > 1 ? [] : operations.listPulls.result.parse(recorded(title).body);
      });
      forge.answer('getPullOfCommit', async ({ sha }) => {
        if (sha === merge)
          return operations.getPullOfCommit.result.parse(recorded('commit → pull request, merge commit').body);
        return refuseUnknown();
      });
    });

    const numbers = async (params: JsonObject): Promise<unknown[]> => {
      const answer = (await read('pull_requests.of_commit', params)) as { value: JsonObject[] };
      return answer.value.map(({ number }) => number);
    };

    it('asks for the one that was merged as the commit, and reads the list no further than to what changed since', async () => {
      expect(await numbers({ sha: merge, state: 'closed' })).toEqual([1]);
      expect(asked).toEqual([expect.objectContaining({ page: 1, state: 'closed', sort: 'recentupdate' })]);
    });

    it('reads the whole list for a commit that no merge made', async () => {
      const head = String(recorded('three as it is').body.head.sha);

      expect(await numbers({ sha: head, state: 'all' })).toEqual([6]);
      expect(await numbers({ sha: head })).toEqual([6]);
      expect(asked.map(({ sort }) => sort)).not.toContain('recentupdate');
    });

    it('reads the whole list where the forge has no such read', async () => {
      forge.failNext('getPullOfCommit', 'not-offered', { status: 404 });

      expect(await numbers({ sha: merge, state: 'all' })).toEqual([1]);
      expect(asked.map(({ sort }) => sort)).not.toContain('recentupdate');
    });
  });

  it('decodes files once: text, missing, binary', async () => {
    forge.repositories.get('acme/app')?.files.set('a.md', '# ü\n');
    forge.answer('getFiles', async () => [
      { path: 'a.md', encoding: 'base64', content: Buffer.from('# ü\n').toString('base64') },
      null,
      { path: 'x.bin', encoding: 'base64', content: Buffer.from([0xff, 0xfe, 0]).toString('base64') },
      { path: 'big', encoding: null, content: null, size: 99_999_999 },
    ]);

    expect(await read('files.read', { files: ['a.md', 'nope', 'x.bin', 'big'] })).toEqual({
      value: [
        { path: 'a.md', encoding: 'utf-8', content: '# ü\n' },
        null,
        { path: 'x.bin', encoding: null, content: null },
        { path: 'big', encoding: null, content: null, size: 99_999_999 },
      ],
    });
  });

  it('reads files one by one where the forge cannot give several', async () => {
    forge.repositories.get('acme/app')?.files.set('a.md', 'one');
    forge.failNext('getFiles', 'not-offered', { status: 404 });

    expect(await read('files.read', { files: ['a.md', 'nope'] })).toMatchObject({
      value: [{ path: 'a.md', content: 'one' }, null],
    });
  });

  it.each<[string, JsonObject, string, unknown]>([
    [
      'hooks.list',
      {},
      'listOrgHooks',
      [
        {
          id: '1',
          active: true,
          authorization_header: new Secret(CANARY),
          config: { url: 'https://bot', secret: CANARY },
        },
      ],
    ],
    [
      'tokens.list',
      { username: 'forgehand' },
      'listTokens',
      [{ id: '1', name: 't', sha1: CANARY, token_last_eight: new Secret(CANARY) }],
    ],
    ['org_variable.get', { name: 'x' }, 'getOrgVariable', { name: 'X', data: CANARY, description: 'd' }],
  ])('%s tells nothing of a credential', async (use, params, operation, told) => {
    forge.answer(operation as 'listOrgHooks', async (args) =>
      Array.isArray(told) && Number(args['page'] ?? 1) > 1 ? [] : told,
    );

    const answer = await read(use, params);

    expect(JSON.stringify(answer)).not.toContain('canary');
    expect(JSON.stringify(answer)).not.toContain('[secret]');
    expect(answer).toHaveProperty('value');
  });

  it('fails with a reason where asking is useless', async () => {
    forge.failNext('getBranch', 'refused', { status: 403 });

    expect(await read('branch.get', { branch: 'main' })).toEqual({ failed: expect.stringContaining('getBranch') });
    expect(await read('branch.get', {})).toEqual({ failed: 'branch.get: branch is not given' });
    expect(await read('branch.get', { branch: 5 })).toEqual({ failed: 'branch.get: branch must be of type string' });
    expect(await read('branch.get', { branch: 'main', x: 1 })).toEqual({
      failed: 'branch.get: there is no parameter x',
    });
    expect(await read('branch.get', { branch: 'main' }, { repo: null })).toEqual({
      failed: expect.stringContaining('needs a repository'),
    });
    expect(await read('nope.get')).toEqual({ failed: 'there is no lookup nope.get' });
    expect(await read('branch.get', { branch: 'main' }, { forge: 'gone' })).toEqual({
      failed: expect.stringContaining('no longer in the config'),
    });
  });

  it.each(['not-sent', 'unknown', 'rate-limited'] as const)(
    'throws when the forge cannot be asked now: %s',
    async (kind) => {
      forge.failNext('getBranch', kind);

      await expect(read('branch.get', { branch: 'main' })).rejects.toMatchObject({ kind });
    },
  );

  it('takes whole numbers of every kind for an integer', async () => {
    const asked: unknown[] = [];
    forge.answer('listActionTasks', async ({ limit }) => (asked.push(limit), { workflow_runs: [], total_count: 0 }));

    for (const limit of [5, 5n, '5']) await read('tasks.list', { limit });

    expect(asked).toEqual([5, 5, 5]);
  });
});
