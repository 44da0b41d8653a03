import { readFileSync, readdirSync } from 'node:fs';
import type { JsonObject } from '../../src/core/json.js';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PlanDecision, RunReport } from '../../src/api/operations/answers.js';
import type { Intent } from '../../src/core/run.js';
import type { FindingsPage } from '../../src/policies/finding-store.port.js';
import type { KeptPlan } from '../../src/policies/policy-plan.js';
import { startScriptedServer, type ScriptedServer } from '../fakes/scripted-server.js';
import { until } from '../services/until.js';
import { acmeConfig } from './support/acme-config.js';
import { aBot, type TestBot } from './support/a-bot.js';
import { aForge, type TestForge } from './support/a-forge.js';

const FOLDER = 'config/rules/examples';
const HOOK_SECRET = 'the secret of the hook';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** The rules as they stand in the folder; only the window of two minutes and the week of the digest are shorter here. */
const files = Object.fromEntries(
  readdirSync(FOLDER).map((name) => [
    `rules/${name}`,
    readFileSync(join(FOLDER, name), 'utf8').replace('window: 2m', 'window: 1s').replace("'168h'", "'0s'"),
  ]),
);

describe('integration/example-rules', () => {
  let forge: TestForge;
  let bot: TestBot;
  let chat: ScriptedServer;

  const runs = (rule: string): Promise<RunReport[]> => bot.reach.rows<RunReport>('/v1/runs', { rule, limit: 50 });
  /** The first run of a rule that came to an end; whatever end that is, so that a test tells it instead of waiting. */
  const ended = async (rule: string): Promise<RunReport> => {
    const isEnded = ({ run }: RunReport): boolean => !['open', 'gathering', 'coalesced'].includes(run.state);
    let found: RunReport | undefined;
    await until(async () => (found = (await runs(rule)).find(isEnded)) !== undefined);
    if (!found || found.run.state !== 'done')
      throw new Error(`${rule}: ${found?.run.state} ${found?.run.reason} ${JSON.stringify(found?.intents)}`);
    return found;
  };
  const waitingOf = async (rule: string): Promise<Intent[]> =>
    (await bot.reach.rows<Intent>('/v1/approvals')).filter((intent) => intent.rule === rule);
  const names = async (path: string, field = 'name'): Promise<unknown[]> =>
    (await forge.get<Array<Record<string, unknown>>>(path)).map((row) => row[field]).sort();

  beforeAll(async () => {
    chat = await startScriptedServer((_request, reply) => reply.end('ok'));
    forge = await aForge({ org: 'acme' });
    Object.assign(forge.sandbox.parts.world.userByName(forge.botLogin) ?? {}, { isAdmin: true });
    const port = await freePort();
    bot = await aBot({
      config: acmeConfig(forge, {
        org: {
          mirror_hosts: ['mirror.example.org'],
          notify_hosts: [chat.url],
          powers: ['backport', 'branch.delete', 'review.approve', 'repo.create_for_user', 'user_settings.update'],
          secrets: { mirror_token: { env: 'MIRROR_TOKEN' }, dev_chat: { env: 'DEV_CHAT' } },
        },
        server: { port, public_url: `http://127.0.0.1:${port}` },
      }),
      files,
      env: {
        FORGE_TOKEN: forge.botToken,
        HOOK: HOOK_SECRET,
        MIRROR_TOKEN: 'mirror token',
        DEV_CHAT: `${chat.url}/hooks/dev`,
      },
    });
    await forge.hook(`${bot.url}/webhooks/acme`, HOOK_SECRET, ['workflow_run']);
    for (const repo of ['acme/app', 'acme/requests']) await forge.act('repository.create', { repo });
  });

  afterAll(async () => {
    await bot?.close();
    await forge?.close();
    await chat?.close();
  });

  it('gives a new repository its furniture', async () => {
    await until(async () => (await runs('repo-baseline')).filter(({ run }) => run.state === 'done').length === 2);

    expect(await names('/repos/acme/app/labels')).toEqual(['kind/bug', 'kind/feature', 'needs/triage']);
    expect(await names('/repos/acme/app/milestones', 'title')).toEqual(['backlog']);
    expect(await names('/repos/acme/app/push_mirrors', 'remote_address')).toEqual([
      'https://mirror.example.org/acme/app.git',
    ]);
  });

  it('starts a release line when its image and the fence around its branch are there', async () => {
    await protect('release/*');
    await forge.act('package.upload', { owner: 'acme', type: 'container', name: 'app', version: 'v1.4.0' });
    await forge.act('push', {
      repo: 'acme/app',
      commits: [{ message: 'changes', files: { 'CHANGELOG.md': '# Changes\n\n## v1.4.0\n\n- logs in\n' } }],
    });
    await forge.act('release.publish', { repo: 'acme/app', tag: 'v1.4.0', name: '1.4' });
    await ended('release-train');

    expect(await names('/repos/acme/app/branches')).toContain('release/1.4');
    expect(await names('/repos/acme/app/milestones', 'title')).toContain('1.5');
    expect((await forge.get<{ body: string }>('/repos/acme/app/releases/tags/v1.4.0')).body).toContain('- logs in');
  });

  it('makes a requested repository when somebody has approved it', async () => {
    await forge.act('push', {
      repo: 'acme/requests',
      commits: [{ message: 'ask', files: { 'repos/sand.yml': 'owner: olga\nname: sand\n' } }],
    });
    let waiting: Intent[] = [];
    await until(async () => (waiting = await waitingOf('repo-request')).length > 0);
    expect(waiting).toMatchObject([
      { rule: 'repo-request', state: 'waiting', approval: 'wanted', itemKey: 'olga/sand' },
    ]);

    expect(await bot.reach.post(`/v1/approvals/${waiting[0]?.runId}`)).toEqual({ intents: [waiting[0]?.id] });
    const { intents } = await ended('repo-request');

    expect(intents.map(({ action, state }) => [action, state])).toEqual([
      ['repo.create_for_user', 'done'],
      ['org_variable.set', 'done'],
    ]);
    expect(intents[0]?.approvalBy).toBeDefined();
    expect(await forge.get('/repos/olga/sand')).toMatchObject({ full_name: 'olga/sand', private: true });
  });

  it('keeps a pull request up to date, and deletes its branch once it is merged', async () => {
    const repo = 'acme/app';
    const commit = (name: string, branch: string) => ({
      repo,
      branch,
      commits: [{ message: name, files: { [`${name}.txt`]: name } }],
    });
    await post('/repos/acme/app/labels', { name: 'merge/ready', color: '#00aa00' });
    await forge.act('branch.create', { repo, branch: 'topic' });
    await forge.act('push', commit('topic', 'topic'));
    await forge.act('pull.open', { repo, head: 'topic', base: 'main', title: 'Topic' });
    const [pull] = await forge.get<Array<{ number: number }>>('/repos/acme/app/pulls');
    const number = pull?.number ?? 0;
    await forge.act('issue.label', { repo, number, labels: ['merge/ready'] });
    await forge.act('push', commit('main', 'main'));
    // Earlier pushes found no pull request to update.
    let updates: RunReport[] = [];
    await until(async () => {
      updates = (await runs('keep-up-to-date')).filter(
        ({ run, intents }) => run.state !== 'open' && intents.length > 0,
      );
      return updates.length > 0;
    });
    expect(updates[0]?.intents.map(({ action, state }) => [action, state])).toEqual([
      ['pull_request.update_branch', 'done'],
    ]);

    await forge.act('pull.merge', { repo, number });
    await ended('delete-merged-branch');

    expect(await names('/repos/acme/app/branches')).not.toContain('topic');
    expect(await names('/repos/acme/app/branches')).toContain('main');
  });

  it('approves a patch of the update bot, at its head', async () => {
    const [repo, as] = ['acme/app', 'renovate-bot'];
    await forge.control('/_sandbox/given', { user: as });
    await forge.control('/_sandbox/accounts', { login: as, org: 'acme', team: 'Owners' });
    await post('/repos/acme/app/labels', { name: 'patch', color: '#00aa00' });
    await forge.act('branch.create', { as, repo, branch: 'update' });
    await forge.act('push', { as, repo, branch: 'update', commits: [{ message: 'up', files: { 'up.txt': 'up' } }] });
    await forge.act('pull.open', { as, repo, head: 'update', base: 'main', title: 'Update' });
    const pulls = await forge.get<Array<{ number: number; head: { sha: string } }>>('/repos/acme/app/pulls');
    const [number, sha] = [pulls[0]?.number ?? 0, pulls[0]?.head.sha];
    await forge.act('issue.label', { as, repo, number, labels: ['patch'] });
    await ended('approve-patches');

    const reviews = await forge.get<JsonObject[]>(`/repos/acme/app/pulls/${number}/reviews`);
    expect(reviews).toMatchObject([{ state: 'APPROVED', commit_id: sha, user: { login: forge.botLogin } }]);
    // No pull request is left open: another rule lists those that wait.
    await forge.act('pull.merge', { repo, number });
  });

  it('takes the temperature of red branches once for all tasks that end together', async () => {
    const jobs = [{ name: 'build' }, { name: 'test', result: 'failure' }, { name: 'lint', result: 'failure' }];
    await forge.act('workflow.run', { repo: 'acme/app', jobs });
    const { run } = await ended('ci-thermometer');
    const all = await runs('ci-thermometer');

    expect(Object.keys(run.lookups).sort()).toEqual(['culprits', 'mine', 'tasks']);
    expect(all.map((report) => report.run.state)).toContain('coalesced');
    expect(
      all
        .filter((report) => report.run.state === 'coalesced')
        .every((report) => report.run.coalescedInto !== undefined),
    ).toBe(true);
    expect(await names('/orgs/acme/actions/variables')).toContain('CI_RED_APP');
  });

  it('tells the chat once that a run failed', async () => {
    const { intents } = await ended('tell-failed-runs');

    expect(intents.map(({ action, state, code }) => [action, state, code])).toEqual([['notify', 'done', 'made.sent']]);
    expect(chat.seen.map(({ url }) => url)).toEqual(['/hooks/dev']);
    const { text } = JSON.parse(chat.seen[0]?.body ?? '{}') as { text: string };
    expect(text).toMatch(/ failed on main of acme\/app: http:\/\/[\w.:]+\/acme\/app\/actions\/runs\/\d+$/);
  });

  it('keeps an issue open while main is red, and closes it afterwards', async () => {
    await ended('red-main');
    const { state, body, number } = await issueOf('main is red');
    expect([state, body]).toEqual([
      'open',
      expect.stringMatching(/\n- \[[^\]]+\]\(http:\/\/[\w.:]+\/acme\/app\/actions\/runs\/\d+\)\n/),
    ]);

    await forge.act('workflow.run', { repo: 'acme/app', jobs: [{ name: 'build' }] });
    await until(async () => (await issueOf('main is red')).state === 'closed');

    expect((await issueOf('main is red')).number).toBe(number);
  });

  it('lists the pull requests that wait in one issue, opened and closed by the list', async () => {
    const [repo, title] = ['acme/app', 'Pull requests that wait'];
    // A schedule is fired once in a second.
    const digest = (): Promise<void> =>
      until(() =>
        bot.reach.post('/v1/orgs/acme/schedules/weekly-digest/run').then(
          () => true,
          () => false,
        ),
      );
    await forge.act('push', { repo, branch: 'slow', commits: [{ message: 'slow', files: { 'slow.txt': 'slow' } }] });
    await forge.act('pull.open', { repo, head: 'slow', base: 'main', title: 'Slow | @all' });
    const [pull] = await forge.get<Array<{ number: number }>>('/repos/acme/app/pulls');
    await digest();
    await until(async () => (await issueOf(title)).state === 'open');

    const { body, number } = await issueOf(title);
    expect(body).toMatch(
      new RegExp(`\n- \\[Slow \\\\\\| @\u200ball\\]\\(http://[\\w.:]+/acme/app//pulls/${pull?.number}\\)\n`),
    );
    await forge.act('pull.merge', { repo, number: pull?.number ?? 0 });
    await digest();
    await until(async () => (await issueOf(title)).state === 'closed');
    expect((await issueOf(title)).number).toBe(number);
  });

  it('audits mirrors and branches, and mends a missing mirror by an approved plan alone', async () => {
    await forge.act('repository.create', { repo: 'acme/docs' });
    await until(async () => (await names('/repos/acme/docs/push_mirrors', 'remote_address')).length === 1);
    // The policy looks at a new repository too, and may have done so before it had its mirror: nobody answers that.
    const made = (await runs('repo-baseline')).find(({ intents }) =>
      intents.some(({ target }) => 'name' in target && target.name === 'docs'),
    );
    await until(async () =>
      (await runs('mirror-and-branch-health')).some(({ run }) => isDeepStrictEqual(run.cause, made?.run.cause)),
    );
    for (const { runId } of await waitingOf('mirror-and-branch-health'))
      await bot.reach.post(`/v1/approvals/${runId}`, { deny: true });
    await asAdmin(
      'DELETE',
      `/repos/acme/docs/push_mirrors/${String((await names('/repos/acme/docs/push_mirrors', 'remote_name'))[0])}`,
    );
    await bot.reach.post('/v1/orgs/acme/schedules/mirror-and-branch-health/run');
    const { rows: findings } = await bot.reach.get<FindingsPage>('/v1/findings', {
      policy: 'mirror-and-branch-health',
    });
    const plans = await bot.reach.get<KeptPlan[]>('/v1/plans', { state: 'open' });
    const plan = plans.find(
      ({ policy, lines }) =>
        policy === 'mirror-and-branch-health' && lines.length === 1 && lines[0]?.repo?.name === 'acme/docs',
    );

    expect(findings.map(({ name, subjectName, severity }) => [name, subjectName, severity])).toContainEqual([
      'mirrored',
      'acme/docs',
      'medium',
    ]);
    expect(await names('/repos/acme/docs/push_mirrors', 'remote_address')).toEqual([]);
    expect(plan).toMatchObject({ needsApproval: true, madeBy: 'schedule' });

    const decision = await bot.reach.post<PlanDecision>(`/v1/plans/${plan?.hash}/approve`);
    expect(decision).toMatchObject({ decided: true, applied: { outcome: 'applied' } });
    await until(async () => (await names('/repos/acme/docs/push_mirrors', 'remote_address')).length === 1);
  });

  it('looks at its own footing and keeps its account', async () => {
    await bot.reach.post('/v1/orgs/acme/schedules/footing/run');
    let report: RunReport | undefined;
    await until(
      async () =>
        (report = (await runs('footing')).find(({ run }) => run.cause.kind === 'tick' && run.state !== 'open')) !==
        undefined,
    );
    const { rows: open } = await bot.reach.get<FindingsPage>('/v1/findings', { policy: 'footing' });

    expect(report?.intents.map(({ action }) => action).sort()).toEqual([
      'user_settings.update',
      'user_variable.create',
    ]);
    expect(report?.intents.every(({ state }) => ['done', 'unchanged'].includes(state))).toBe(true);
    expect(Object.keys(report?.run.lookups ?? {}).sort()).toEqual(['@bot', 'feed', 'hooks', 'tokens']);
    expect(open.map(({ name }) => name)).not.toContain('one_live_hook');
    expect(open.map(({ name }) => name)).not.toContain('deliveries_alive');
  });

  async function issueOf(title: string): Promise<{ number?: number; state?: string; body?: string }> {
    const all = await forge.get<Array<{ title: string; number: number; state: string; body: string }>>(
      '/repos/acme/app/issues?state=all&type=issues',
    );
    return all.find((issue) => issue.title === title) ?? {};
  }

  async function asAdmin(method: string, path: string): Promise<void> {
    const { apiUrl, admin } = forge.sandbox;
    const authorization = `Basic ${Buffer.from(`${admin.login}:${admin.password}`).toString('base64')}`;
    const answer = await fetch(`${apiUrl}${path}`, { method, headers: { authorization } });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  }

  const protect = (name: string): Promise<void> =>
    post('/repos/acme/app/branch_protections', { rule_name: name, required_approvals: 1, enable_push: true });

  async function post(path: string, body: object): Promise<void> {
    const { apiUrl, admin } = forge.sandbox;
    const authorization = `Basic ${Buffer.from(`${admin.login}:${admin.password}`).toString('base64')}`;
    const headers = { authorization, 'content-type': 'application/json' };
    const answer = await fetch(`${apiUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  }
});
