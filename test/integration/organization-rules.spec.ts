import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { changeWithSets } from '../builders/set-files.js';
import { makeLabel } from '../../src/sandbox/resources/label.js';
import { until } from '../services/until.js';
import { acmeConfig } from './support/acme-config.js';
import { aBot, type TestBot } from './support/a-bot.js';
import { aForge, type TestForge } from './support/a-forge.js';

const FOLDER = 'config/rules/organization';
const HOOK_SECRET = 'the secret of the hook';
const EVENTS = [
  'push',
  'create',
  'repository',
  'release',
  'issues',
  'pull_request',
  'pull_request_review',
  'issue_comment',
];

/** The rules as they stand in the folder and in the built-in sets; only the window of two minutes is shorter here. */
const files = Object.fromEntries(
  readdirSync(FOLDER).map((name) => [
    `rules/${name}`,
    changeWithSets(readFileSync(join(FOLDER, name), 'utf8'), (text) => text.replace('window: 2m', 'window: 1s')),
  ]),
);

interface Labelled {
  readonly labels: ReadonlyArray<{ readonly id: number; readonly name: string; readonly color: string }>;
}

describe('integration/organization-rules', () => {
  let forge: TestForge;
  let bot: TestBot;
  const labelsOf = async (number: number): Promise<string[]> =>
    (await forge.get<Labelled>(`/repos/acme/app/issues/${number}`)).labels.map(({ name }) => name).sort();

  beforeAll(async () => {
    forge = await aForge({ org: 'acme' });
    for (const user of ['ann', 'ben', 'cy']) await forge.control('/_sandbox/given', { user });
    await forge.act('repository.create', { repo: 'acme/app' });
    await forge.act('push', { repo: 'acme/app', commits: [{ message: 'begin', files: { 'a.txt': 'a\n' } }] });
    await forge.act('release.publish', { repo: 'acme/app', tag: 'v1.3.0', name: '1.3' });
    const { world, admin } = forge.sandbox.parts;
    const app = [...world.repos.values()].find(({ name }) => name === 'app');
    if (!app) throw new Error('no app');
    makeLabel(world, admin, { of: app, name: 'bug', color: 'ee0701' });
    await forge.act('issue.open', { repo: 'acme/app', title: 'It is slow', labels: ['bug'] });
    bot = await aBot({
      config: acmeConfig(forge, {
        org: {
          mirror_hosts: ['mirror.example.org'],
          powers: ['protection.ensure', 'repository_settings.ensure', 'topics.ensure'],
          secrets: { mirror_token: { env: 'MIRROR_TOKEN' } },
        },
      }),
      files,
      env: { FORGE_TOKEN: forge.botToken, HOOK: HOOK_SECRET, MIRROR_TOKEN: 'mirror token' },
    });
    await forge.control('/_sandbox/hooks', {
      org: 'acme',
      url: `${bot.url}/webhooks/acme`,
      secret: HOOK_SECRET,
      events: EVENTS,
    });
  });

  afterAll(async () => {
    await bot?.close();
    await forge?.close();
  });

  it('gives every repository the words, settings, topic and mirror of the house, and its issues keep their labels', async () => {
    await until(async () => (await forge.get<unknown[]>('/repos/acme/app/labels')).length === 13);
    await until(async () => (await forge.get<unknown[]>('/repos/acme/app/push_mirrors')).length === 1);
    await until(async () =>
      (await forge.get<{ topics: string[] }>('/repos/acme/app/topics')).topics.includes('house-rules'),
    );
    await until(
      async () =>
        (await forge.get<{ default_delete_branch_after_merge: boolean }>('/repos/acme/app'))
          .default_delete_branch_after_merge,
    );

    expect((await forge.get<Labelled>('/repos/acme/app/issues/1')).labels).toMatchObject([
      { name: 'kind/bug', color: 'd73a4a' },
    ]);
  });

  it('labels a pull request by its paths and size, and tells it in the draft of the next release when it is merged', async () => {
    await forge.act('push', {
      repo: 'acme/app',
      branch: 'words',
      commits: [{ message: 'words', files: { 'docs/a.md': '# a\n' } }],
    });
    await forge.act('pull.open', { repo: 'acme/app', head: 'words', title: 'Words, fixes #1 for @ann' });
    await until(async () => (await labelsOf(2)).length === 2);
    expect(await labelsOf(2)).toEqual(['area/docs', 'size/S']);

    await forge.act('pull.merge', { repo: 'acme/app', number: 2 });
    const drafts = async () =>
      (await forge.get<Array<{ draft: boolean; tag_name: string; body: string }>>('/repos/acme/app/releases')).filter(
        ({ draft }) => draft,
      );
    await until(async () => (await drafts()).length > 0);

    const [draft] = await drafts();
    expect(draft).toMatchObject({
      tag_name: 'v1.4.0',
      body: expect.stringContaining('### Documentation\n\n- Words'),
    });
    expect(draft?.body).not.toMatch(/@ann|fixes #1/);
  });
});
