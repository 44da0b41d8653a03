import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { changeWithSets } from '../builders/set-files.js';
import { until } from '../services/until.js';
import { acmeConfig } from './support/acme-config.js';
import { aBot, type TestBot } from './support/a-bot.js';
import { aForge, type TestForge } from './support/a-forge.js';
import { SHOWN } from './support/recipes.js';

const HOOK_SECRET = 'the secret of the hook';
const EVENTS = ['push', 'release', 'issues', 'pull_request', 'pull_request_sync', 'issue_comment', 'issue_milestone'];

/** What takes days or minutes takes no time. */
const IN_NO_TIME: ReadonlyArray<readonly [RegExp, string]> = [
  [/window: [23]m/g, 'window: 1s'],
  [/stale_days: 60, stale_close_days: 14/, 'stale_days: 0, stale_close_days: 0'],
];

/** The files that the recipes show, together all sets. */
const files = Object.fromEntries(
  SHOWN.ofSets.map(({ text }, n) => [
    `rules/${n}.yaml`,
    changeWithSets(text, (one) => IN_NO_TIME.reduce((changed, [from, to]) => changed.replace(from, to), one)),
  ]),
);

interface Issue {
  readonly state: string;
  readonly labels: ReadonlyArray<{ readonly name: string }>;
}

describe.each(['gitea', 'gitea@1.26', 'forgejo'] as const)('integration/built-in-sets, %s', (profile) => {
  let forge: TestForge;
  let bot: TestBot;
  const app = '/repos/acme/app';
  const act = (name: string, params: object, as = 'ann'): Promise<void> =>
    forge.act(name, { repo: 'acme/app', ...params, as });
  const issue = (number: number): Promise<Issue> => forge.get<Issue>(`${app}/issues/${number}`);
  const labels = async (number: number): Promise<string[]> =>
    (await issue(number)).labels.map(({ name }) => name).sort();
  const comments = async (number: number): Promise<string[]> =>
    (await forge.get<Array<{ body: string }>>(`${app}/issues/${number}/comments`)).map(
      ({ body }) => body.split('\n', 1)[0] ?? '',
    );
  const statuses = async (number: number): Promise<Record<string, string>> => {
    const { head } = await forge.get<{ head: { sha: string } }>(`${app}/pulls/${number}`);
    const rows = await forge.get<Array<{ context: string; status: string; id: number }>>(
      `${app}/commits/${head.sha}/statuses`,
    );
    // The newest of each subject counts.
    return Object.fromEntries([...rows].sort((a, b) => a.id - b.id).map(({ context, status }) => [context, status]));
  };
  const open = async (branch: string, base: string, files: Record<string, string>, pull: object): Promise<void> => {
    const message = `Change ${branch}${'signed' in pull ? `\n\nSigned-off-by: ${String(pull.signed)}` : ''}`;
    await act('push', { branch, from: base, commits: [{ message, files }] });
    const { signed: _, ...words } = { signed: null, ...pull };
    await act('pull.open', { head: branch, base, ...words });
  };

  beforeAll(async () => {
    forge = await aForge({ org: 'acme', profile });
    await forge.control('/_sandbox/given', { user: 'ann' });
    await forge.control('/_sandbox/given', {
      team: 'writers',
      org: 'acme',
      permission: 'write',
      members: ['ann'],
      units: ['repo.code', 'repo.issues', 'repo.pulls', 'repo.releases'],
      includes_all_repositories: true,
    });
    await forge.act('repository.create', { repo: 'acme/app' });
    await forge.act('push', { repo: 'acme/app', commits: [{ message: 'begin', files: { 'a.txt': 'a\n' } }] });
    await forge.act('branch.create', { repo: 'acme/app', branch: 'dev' });
    await forge.act('release.publish', { repo: 'acme/app', tag: 'v1.3.0', name: '1.3' });
    await fetch(`${forge.sandbox.apiUrl}${app}/milestones`, {
      method: 'POST',
      headers: { ...forge.asAdmin, 'content-type': 'application/json' },
      body: JSON.stringify({ title: '1.4' }),
    });
    bot = await aBot({
      config: acmeConfig(forge),
      files,
      env: { FORGE_TOKEN: forge.botToken, HOOK: HOOK_SECRET },
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

  it('welcomes a first issue, and not the second', async () => {
    await act('issue.open', { title: 'It is slow', milestone: '1.4' });
    await until(async () => (await comments(1)).length > 0);
    await act('issue.open', { title: 'It is slow again' });
    await open('one', 'dev', { 'docs/a.md': '# a\n' }, { title: 'Read lists', body: 'Fixes #1.' });
    await until(async () => (await comments(3)).length > 0);

    expect(await comments(1)).toEqual(['Thank you for your first issue here. Somebody will look at it soon.']);
    expect(await comments(2)).toEqual([]);
    expect(await comments(3)).toEqual(['Thank you! Please read CONTRIBUTING.md while somebody reviews this.']);
  });

  it('shows a rule with its text, at its place in the set', async () => {
    interface Report {
      readonly place: { readonly file: string; readonly line: number };
      readonly source: { readonly firstLine: number; readonly lines: readonly string[] };
    }
    const { place, source } = await bot.reach.get<Report>('/v1/orgs/acme/rules/welcome-issue');

    expect([place.file, source.firstLine]).toEqual(['forgehand/welcome@1', place.line]);
    expect(source.lines[0]).toBe('  - id: welcome-issue');
  });

  it('labels a pull request by paths and size, and says what its title and its commits lack', async () => {
    await until(async () => (await labels(3)).length === 2 && Object.keys(await statuses(3)).length === 2);
    expect(await labels(3)).toEqual(['area/docs', 'size/XS']);
    expect(await statuses(3)).toEqual({ 'conventional-title': 'failure', dco: 'failure' });

    await act('pull.edit', { number: 3, title: 'docs: read lists' });
    await until(async () => (await statuses(3))['conventional-title'] === 'success');
    const [row] = await forge.get<Array<{ commit: { author: { name: string; email: string } } }>>(
      `${app}/pulls/3/commits`,
    );
    const { name, email } = row!.commit.author;
    const signed = `${name} <${email}>`;
    const many = Object.fromEntries([1, 2, 3].map((n) => [`src/${n}.ts`, 'x\n'.repeat(200)]));
    await open('two', 'main', many, { title: 'feat(api): read them', signed });
    await until(async () => Object.keys(await statuses(4)).length === 2 && (await labels(4)).length === 1);

    expect(await statuses(4)).toEqual({ 'conventional-title': 'success', dco: 'success' });
    expect(await labels(4)).toEqual(['size/XL']);
  });

  it('closes what a merge into another branch fixes, and the milestone with its last issue', async () => {
    await act('pull.merge', { number: 3 }, 'olga');
    await until(async () => (await issue(1)).state === 'closed');
    await until(async () => (await forge.get<unknown[]>(`${app}/milestones?state=closed`)).length === 1);

    expect((await issue(2)).state).toBe('open');
  });

  it('tells a merge in the draft of the next release, and marks the pull request that it conflicts with', async () => {
    await open('three', 'main', { 'src/1.ts': 'y\n' }, { title: 'fix: read one' });
    await until(async () => (await labels(5)).includes('size/XS'));
    await act('pull.merge', { number: 4 }, 'olga');
    await until(async () => (await labels(5)).includes('needs-rebase'));
    const drafts = async (): Promise<Array<{ tag_name: string; body: string; draft: boolean }>> =>
      (await forge.get<Array<{ tag_name: string; body: string; draft: boolean }>>(`${app}/releases`)).filter(
        ({ draft }) => draft,
      );
    await until(async () => (await drafts()).length > 0);

    expect(await drafts()).toMatchObject([{ tag_name: 'v1.4.0', body: expect.stringContaining('read them') }]);
    expect(await comments(5)).toEqual([
      'This pull request conflicts with its base. Please rebase it, or merge the base into it.',
    ]);
    await act('push', { branch: 'three', commits: [{ message: 'again', files: { 'src/1.ts': 'x\n'.repeat(200) } }] });
    await until(async () => !(await labels(5)).includes('needs-rebase'));
  });

  it('warns of what nobody touches, lets it go when somebody speaks, and closes the rest', async () => {
    const fire = (schedule: string): Promise<unknown> => bot.reach.post(`/v1/orgs/acme/schedules/${schedule}/run`);
    await fire('stale-warn');
    await until(async () => (await labels(2)).includes('stale') && (await labels(5)).includes('stale'));
    await act('comment.create', { number: 2, body: 'It still matters.' });
    await until(async () => !(await labels(2)).includes('stale'));
    await fire('stale-close');
    await until(async () => (await issue(5)).state === 'closed');

    expect((await issue(2)).state).toBe('open');
    expect((await comments(5)).at(-1)).toMatch(/^Nothing happened here for 0 days\./);
  });
});
