import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { changeWithSets, idsWithSets } from '../../builders/set-files.js';
import { until } from '../../services/until.js';
import { acmeConfig } from '../support/acme-config.js';
import { aForge, type Forge } from '../support/a-forge.js';
import { aPlace, type Place } from '../support/a-place.js';
import { startBot, type Bot } from '../support/bot.js';
import { requireBuild } from '../support/built.js';
import { forgehand } from '../support/forgehand.js';

const FOLDER = 'config/rules/organization';
const SECRET = 'the secret of the hook';
const EVENTS = [
  'create',
  'push',
  'issues',
  'pull_request',
  'pull_request_review',
  'issue_comment',
  'repository',
  'release',
  'status',
  'workflow_run',
];

const texts = new Map(
  readdirSync(FOLDER)
    .filter((name) => !name.endsWith('.test.yaml'))
    .map((name) => [name, readFileSync(join(FOLDER, name), 'utf8')]),
);

/** As they stand in the folder and in the built-in sets, but for the waits: schedules come each minute, and releases are told a second after a merge. */
function hurried(text: string): string {
  return changeWithSets(text, hurry);
}

function hurry(text: string): string {
  return text.replace(/cron: "[^"]*", jitter: 20m/g, 'cron: "* * * * *"').replace('window: 2m', 'window: 1s');
}

const allIds = [...texts.values()].flatMap(idsWithSets);

interface Issue {
  readonly state: string;
  readonly labels: ReadonlyArray<{ readonly name: string }>;
  readonly milestone: { readonly title: string } | null;
  readonly assignees: ReadonlyArray<{ readonly login: string }> | null;
}

interface Pull extends Issue {
  readonly merged: boolean;
  readonly merged_by: { readonly login: string } | null;
  readonly requested_reviewers: ReadonlyArray<{ readonly login: string }> | null;
}

/** One organization that lives with the shipped rules: nobody helps them along, and checks end after the approval. */
describe('the shipped rules as a set', () => {
  let forge: Forge;
  let place: Place;
  let bot: Bot;

  const app = '/repos/acme/app';
  const issue = async (number: number): Promise<Issue> => (await forge.get<Issue>(`${app}/issues/${number}`))!;
  const pull = async (number: number): Promise<Pull> => (await forge.get<Pull>(`${app}/pulls/${number}`))!;
  const labels = async (number: number): Promise<string[]> =>
    (await issue(number)).labels.map(({ name }) => name).sort();
  const say = (number: number, body: string, as = 'olga'): Promise<unknown> =>
    forge.act('comment.create', { repo: 'acme/app', number, body }, as);
  const site = async (method: string, path: string, body: object): Promise<void> => {
    const { apiUrl, admin } = forge.sandbox;
    const authorization = `Basic ${Buffer.from(`${admin.login}:${admin.password}`).toString('base64')}`;
    const answer = await fetch(apiUrl + path, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  };

  /** Ann opens a pull request from a branch of its own name; its number and nothing else is the same on each server. */
  const open = async (branch: string, base: string, files: Record<string, string>): Promise<void> => {
    await forge.act('push', { repo: 'acme/app', branch, from: base, commits: [{ message: branch, files }] }, 'ann');
    await forge.act('pull.open', { repo: 'acme/app', head: branch, base, title: `Words of ${branch}` }, 'ann');
  };

  /** Effects that a rule made, by what the bot said about them. */
  const effective = (): Set<string> =>
    new Set(
      bot.child.stdout.split('\n').flatMap((line) => {
        if (!line.includes('intent.attempted')) return [];
        const { state, rule } = JSON.parse(line) as { state: string; rule: string };
        return state === 'done' ? [rule] : [];
      }),
    );

  beforeAll(async () => {
    requireBuild();
    forge = await aForge();
    for (const user of ['ann', 'ben', 'cy']) await forge.control('POST', '/_sandbox/given', { user });
    await forge.control('POST', '/_sandbox/given', {
      team: 'writers',
      org: 'acme',
      permission: 'write',
      members: ['ann', 'ben', 'cy'],
      units: ['repo.code', 'repo.issues', 'repo.pulls', 'repo.releases'],
      includes_all_repositories: true,
    });
    place = aPlace({
      config: acmeConfig(forge.apiUrl, {
        forge: { rate_per_s: 200, settle_s: 1 },
        org: {
          mirror_hosts: ['mirror.example.org'],
          powers: ['protection.ensure', 'repository_settings.ensure', 'topics.ensure'],
          secrets: { mirror_token: { env: 'MIRROR_TOKEN' } },
        },
        queue: { sweep_s: 0.5 },
      }),
      files: Object.fromEntries([...texts].map(([name, text]) => [`rules/${name}`, hurried(text)])),
      env: { FORGE_TOKEN: forge.botToken, HOOK_SECRET: SECRET, MIRROR_TOKEN: 'mirror token' },
    });
    bot = await startBot(place);
    await forge.control('POST', '/_sandbox/hooks', {
      org: 'acme',
      url: `${bot.url}/webhooks/acme`,
      secret: SECRET,
      events: EVENTS,
    });
    await forge.act('repository.create', { repo: 'acme/app' });
    await site('PUT', `${app}/topics`, { topics: ['product'] });
    await forge.act('push', { repo: 'acme/app', commits: [{ message: 'begin', files: { 'a.txt': 'a\n' } }] });
    await forge.act('branch.create', { repo: 'acme/app', branch: 'release/1.3' });
    await forge.act('release.publish', { repo: 'acme/app', tag: 'v1.3.0', name: '1.3' });
    await site('POST', `${app}/milestones`, { title: '1.3' });
  });

  afterAll(async () => {
    if (bot?.child.isAlive) await bot.kill();
    await forge?.close();
    place?.remove();
  });

  it('gives a new repository its labels, mirror, settings and, once a person agreed, its protections', async () => {
    await until(async () => (await forge.get<unknown[]>(`${app}/labels`))?.length === 13);
    await until(async () => (await forge.get<unknown[]>(`${app}/push_mirrors`))?.length === 1);
    await until(async () => (await forge.get<{ topics: string[] }>(`${app}/topics`))!.topics.includes('house-rules'));
    const run = (...args: string[]) => forgehand(place, ...args, '--config', place.configFile);
    const planned = await run('plan', '--policy', 'product-protections', '--json');
    expect(planned).toMatchObject({ code: 4, stderr: '' });
    const { hash } = JSON.parse(planned.stdout) as { hash: string };
    for (const command of ['approve', 'apply']) expect(await run(command, hash)).toMatchObject({ code: 0 });

    await until(async () => (await forge.get<unknown[]>(`${app}/branch_protections`))?.length === 2);
  });

  it('merges what is approved and labelled once its checks are green, and tells it in the notes of the next release', async () => {
    await open('docs', 'main', { 'docs/a.md': '# a\n' });
    await until(async () => (await labels(1)).join() === 'area/docs,size/S');
    await until(async () => ((await pull(1)).requested_reviewers ?? []).length === 1);
    const ci = { repo: 'acme/app', branch: 'docs', jobs: [{ name: 'build', result: 'failure' }] };
    await forge.act('workflow.run', ci);
    await forge.act('pull.review', { repo: 'acme/app', number: 1, verdict: 'approve', body: 'Fine.' }, 'ben');
    await forge.act('issue.label', { repo: 'acme/app', number: 1, labels: ['merge/ready'] });
    await until(() => bot.child.stdout.includes('the statuses of'));
    expect((await pull(1)).merged).toBe(false);

    await say(1, '/retest');
    await until(() => effective().has('command-retest'));
    await forge.act('job.claim', { repo: 'acme/app' });
    await forge.act('job.finish', { repo: 'acme/app', result: 'success' });

    await until(async () => (await pull(1)).merged);
    expect((await pull(1)).merged_by?.login).toBe('bot');
    interface Release {
      readonly draft: boolean;
      readonly tag_name: string;
      readonly body: string;
    }
    const releases = async (): Promise<Release[]> => (await forge.get<Release[]>(`${app}/releases`)) ?? [];
    await until(async () => (await releases()).some(({ draft }) => draft));
    expect((await releases()).find(({ draft }) => draft)).toMatchObject({
      tag_name: 'v1.4.0',
      body: expect.stringContaining('Words of docs'),
    });

    await forge.act('release.publish', { repo: 'acme/app', tag: 'v1.3.1', name: '1.3.1' });
    await until(async () =>
      (await releases()).some(({ tag_name, body }) => tag_name === 'v1.3.1' && body.includes('Words of docs')),
    );
  });

  it('takes a label that a command asked for as well, and puts what is merged into a release line on its milestone', async () => {
    await open('fix', 'release/1.3', { 'fix.txt': 'fix\n' });
    await forge.act('status.set', { repo: 'acme/app', ref: 'fix', state: 'pending' });
    await forge.act('pull.review', { repo: 'acme/app', number: 2, verdict: 'approve', body: 'Fine.' }, 'ben');
    await say(2, '/label merge/ready');
    await until(async () => (await labels(2)).includes('merge/ready'));
    await forge.act('status.set', { repo: 'acme/app', ref: 'fix', state: 'success' });

    await until(async () => (await pull(2)).merged);
    await until(async () => (await issue(2)).milestone?.title === '1.3');
  });

  it('does what comments ask for', async () => {
    await open('more', 'main', { 'more.txt': 'more\n' });
    await forge.act('status.set', { repo: 'acme/app', ref: 'more', state: 'success' });
    await say(3, '/label kind/bug no-notes');
    await until(async () => (await labels(3)).includes('kind/bug'));
    await say(3, '/unlabel no-notes');
    await until(async () => !(await labels(3)).includes('no-notes'));
    await say(3, '/milestone 1.3');
    await until(async () => (await issue(3)).milestone?.title === '1.3');
    await say(3, '/assign @cy');
    await until(async () => (await issue(3)).assignees?.[0]?.login === 'cy');
    await say(3, '/merge');
    await forge.act('pull.review', { repo: 'acme/app', number: 3, verdict: 'approve', body: 'Fine.' }, 'ben');
    await until(async () => (await pull(3)).merged);
  });

  it('warns of stale issues, lets them go when somebody speaks, and closes the others', async () => {
    const day = 24 * 3600;
    const { world } = forge.sandbox.parts;
    const age = (number: number, days: number): void => {
      const found = [...world.issues.values()].find((one) => String(one.number) === String(number));
      if (!found) throw new Error(`no issue ${number}`);
      found.updatedAt -= days * day;
    };
    await forge.act('issue.open', { repo: 'acme/app', title: 'Nobody speaks' });
    await forge.act('issue.open', { repo: 'acme/app', title: 'Nobody ever spoke', labels: ['stale'] });
    age(4, 61);
    age(5, 15);

    await until(async () => (await issue(5)).state === 'closed');
    await until(async () => (await labels(4)).includes('stale'));
    await say(4, 'It still matters.', 'ann');
    await until(async () => !(await labels(4)).includes('stale'));
    // The forge shows an effect before the log does.
    await until(() => effective().has('stale-not'));
  });

  it('has the forge merge what a comment queues, once the checks succeed, and takes that back', async () => {
    await site('POST', `${app}/branches`, { new_branch_name: 'next', old_branch_name: 'main' });
    await site('POST', `${app}/branch_protections`, {
      rule_name: 'next',
      enable_status_check: true,
      status_check_contexts: ['ci'],
    });
    await open('queued', 'next', { 'queued.txt': 'queued\n' });
    const plans = async (): Promise<string[]> =>
      (await forge.get<Array<{ type: string }>>(`${app}/issues/6/timeline`))!
        .map(({ type }) => type)
        .filter((type) => type.endsWith('scheduled_merge'));
    await forge.act('pull.review', { repo: 'acme/app', number: 6, verdict: 'approve', body: 'Fine.' }, 'ben');
    await say(6, '/queue');
    await until(async () => (await plans()).length === 1);
    await say(6, '/dequeue');
    await until(async () => (await plans()).length === 2);
    await say(6, '/queue');
    await until(async () => (await plans()).length === 3);
    expect((await pull(6)).merged).toBe(false);
    await forge.act('status.set', { repo: 'acme/app', ref: 'queued', context: 'ci', state: 'success' });

    await until(async () => (await pull(6)).merged);
    expect(await plans()).toEqual(['pull_scheduled_merge', 'pull_cancel_scheduled_merge', 'pull_scheduled_merge']);
    // The forge shows an effect before the log does.
    await until(() => effective().has('command-queue') && effective().has('command-dequeue'));
  });

  it('had an effect by each of its rules and policies', () => {
    expect(allIds.filter((id) => !effective().has(id))).toEqual([]);
  });
});
