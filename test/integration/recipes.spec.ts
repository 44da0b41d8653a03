import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AnswerOf } from '../../src/api/operations/index.js';
import { until } from '../services/until.js';
import { acmeConfig } from './support/acme-config.js';
import { aBot, type TestBot } from './support/a-bot.js';
import { aForge, type TestForge } from './support/a-forge.js';
import { idsWithSets } from '../builders/set-files.js';
import { RECIPES, SHOWN } from './support/recipes.js';

type Trial = AnswerOf<'tryOnObject'>;

const HOOK_SECRET = 'the secret of the hook';
const EVENTS = [
  ...['push', 'issues', 'issue_label', 'issue_comment', 'pull_request', 'pull_request_label', 'pull_request_sync'],
  ...['pull_request_review', 'status', 'release'],
];

const textOf = (title: string): string => RECIPES.get(title)?.text ?? '';

const IN_NO_TIME: ReadonlyArray<readonly [string, string]> = [
  ['window: 90s', 'window: 1s'],
  ['size() >= 5', 'size() >= 1'],
  ['extends: forgehand/stale@1\n', 'extends: forgehand/stale@1\nvars: {stale_days: 0}\n'],
];

/** Of recipes that extend sets: what each would write on a pull request or issue of the sandbox. */
const TRIED: ReadonlyArray<readonly [title: string, on: string, as: string, action: string]> = [
  ['Labeler by path', 'acme/app#1', 'pull_request.opened', 'label.ensure'],
  ['Size labels', 'acme/app#1', 'pull_request.opened', 'label.ensure'],
  ['Welcome', 'acme/app#1', 'pull_request.opened', 'issue.comment'],
  ['Conventional titles', 'acme/app#1', 'pull_request.edited', 'status.set'],
  ['DCO', 'acme/app#1', 'pull_request.synchronized', 'status.set'],
  ['Close linked issues', 'acme/app#1', 'pull_request.merged', 'issue.state'],
];

describe.each(['gitea', 'forgejo'] as const)('integration/recipes (%s)', (profile) => {
  // Forgejo sends no event of a status, so that a queue looks by the clock: merge-queue plays it there.
  const hasQueue = profile === 'gitea';
  const own = SHOWN.own.filter(({ title }) => hasQueue || title !== 'Merge queue');
  let forge: TestForge;
  let bot: TestBot;
  const app = '/repos/acme/app';
  const act = (name: string, params: object, as = 'ann'): Promise<void> =>
    forge.act(name, { repo: 'acme/app', ...params, as });
  const labels = async (number: number): Promise<string[]> =>
    (await forge.get<{ labels: Array<{ name: string }> }>(`${app}/issues/${number}`)).labels
      .map(({ name }) => name)
      .sort();
  const pull = (
    number: number,
  ): Promise<{ merged: boolean; head: { sha: string }; requested_reviewers: Array<{ login: string }> | null }> =>
    forge.get(`${app}/pulls/${number}`);
  const reviewers = async (number: number): Promise<string[]> =>
    ((await pull(number)).requested_reviewers ?? []).map(({ login }) => login).sort();
  const open = async (
    branch: string,
    files: Record<string, string>,
    words: object,
    as = 'ann',
    message = `fix: change ${branch}`,
  ): Promise<void> => {
    await act('push', { branch, from: 'main', commits: [{ message, files }] });
    await act('pull.open', { head: branch, base: 'main', ...words }, as);
  };
  const ended = async (rule: string): Promise<string[]> =>
    (await bot.reach.rows<{ run: { state: string } }>('/v1/runs', { rule, limit: 50 }))
      .map(({ run }) => run.state)
      .filter((state) => state !== 'open');
  const send = (path: string, body: object): Promise<unknown> =>
    fetch(`${forge.sandbox.apiUrl}${path}`, {
      method: 'POST',
      headers: { ...forge.asAdmin, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const tryOn = (texts: readonly string[], on: string, more: object = {}): Promise<Trial> =>
    bot.reach.post<Trial>('/v1/drafts/acme/object', {
      files: texts.map((text, n) => ({ path: `recipe-${n}.yaml`, text })),
      ...{ on, alone: true, ...more },
    });

  beforeAll(async () => {
    forge = await aForge({ org: 'acme', profile });
    for (const user of ['ann', 'ben', 'cy', 'dora', 'renovate-bot']) await forge.control('/_sandbox/given', { user });
    const team = { org: 'acme', units: ['repo.code', 'repo.issues', 'repo.pulls'], includes_all_repositories: true };
    await forge.control('/_sandbox/given', { team: 'reviewers', permission: 'write', members: ['ben', 'cy'], ...team });
    await forge.control('/_sandbox/given', {
      team: 'writers',
      permission: 'write',
      members: ['ann', 'renovate-bot'],
      ...team,
    });
    await forge.act('repository.create', { repo: 'acme/app' });
    await forge.act('push', { repo: 'acme/app', commits: [{ message: 'begin', files: { 'a.txt': 'a\n' } }] });
    await forge.act('release.publish', { repo: 'acme/app', tag: 'v1.3.0', name: '1.3' });
    await open('one', { 'docs/a.md': '# a\n' }, { title: 'Read lists', body: 'Fixes #2.' });
    await act('issue.open', { title: 'It is slow' });
    const files = own.map(({ text }, n) => [
      `rules/${n}.yaml`,
      IN_NO_TIME.reduce((changed, [from, to]) => changed.replace(from, to), text),
    ]);
    bot = await aBot({
      config: acmeConfig(forge),
      files: Object.fromEntries(files) as Record<string, string>,
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

  it('has thirty of them, each in the index, and tells their lines as they are', () => {
    const index = readFileSync('docs/recipes/README.md', 'utf8');
    const wishes = readFileSync('docs/wishes.md', 'utf8');
    const rows = [...wishes.matchAll(/\| \[([^\]]+)\]\(recipes\/[^)]+\) \| (\d+) \|/gm)];
    const lines = (title: string): number =>
      textOf(title)
        .split('\n')
        .filter((line) => line.trim() !== '' && !line.trim().startsWith('#')).length;

    expect(RECIPES.size).toBeGreaterThanOrEqual(30);
    expect([...RECIPES.keys()].filter((title) => !index.includes(`| [${title}](`))).toEqual([]);
    expect(rows.filter(([, title = '', count]) => lines(title) !== Number(count)).map(([row]) => row)).toEqual([]);
    expect([...wishes.matchAll(/^\| \d+ \|/gm)]).toHaveLength(47);
  });

  it('plays each: those that only choose a set are played by built-in-sets, shipped files by example-rules and organization-rules', () => {
    const files = [...RECIPES.values()].flatMap(({ path }) => path ?? []);

    expect(SHOWN.own.length + SHOWN.ofSets.length + files.length).toBe(RECIPES.size);
    expect(files.filter((path) => !/^(?:examples|organization)\//.test(path))).toEqual([]);
  });

  it.each(TRIED)('tried on a live object, %s would write', async (title, on, as, action) => {
    const { rules, event, problems } = await tryOn([textOf(title)], on, { as });
    const effects = rules.flatMap((rule) => rule.effects);

    expect([problems, event?.kind]).toEqual([[], as]);
    expect(rules.filter(({ verdict }) => verdict === 'error' || verdict === 'unknown')).toEqual([]);
    expect(effects.filter(({ does }) => does === 'write').map((effect) => effect.action)).toContain(action);
  });

  it('wrote nothing of it', async () => {
    const { head } = await pull(1);
    const statuses = await forge.get<Array<{ context: string }>>(`${app}/commits/${head.sha}/statuses`);

    expect(await labels(1)).toEqual([]);
    expect(await forge.get(`${app}/issues/1/comments`)).toEqual([]);
    expect(statuses.filter(({ context }) => context !== 'commit-messages')).toEqual([]);
    expect(await forge.get(`${app}/issues/2`)).toMatchObject({ state: 'open' });
  });

  it('says why a rule does not fire, where a file is wrong, and what is not there', async () => {
    const text = textOf('Merge dependency updates');
    const { rules } = await tryOn([text], 'acme/app#1', { as: 'pull_request.labeled' });
    expect(rules).toMatchObject([
      { rule: 'merge-updates', verdict: 'not-fired', effects: [], steps: { conditions: [{ state: 'false' }, {}] } },
    ]);
    expect(rules[0]?.reason).toContain('event.author = "ann"');
    const wrong = await tryOn([text.replace('event.author', 'event.autor')], 'acme/app#1');
    expect([wrong.event, wrong.problems[0]]).toMatchObject([null, { file: 'recipe-0.yaml', line: 7 }]);
    await expect(tryOn([text], 'acme/app#99')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(tryOn([text], 'other/app#1')).rejects.toMatchObject({ code: 'OTHER_OWNER' });
    await expect(tryOn([text], 'acme/app#1', { as: 'pull_request.labelled' })).rejects.toThrow(
      'did you mean pull_request.labeled?',
    );
  });

  it('asks owners and a reviewer of the team for a review, leaves out who is away, and looks at each commit', async () => {
    await open('two', { 'docs/b.md': '# b\n' }, { title: 'docs: more' }, 'ann', 'Change two');
    await until(async () => (await reviewers(3)).includes('ben'));
    const statuses = async (): Promise<Array<{ context: string; status: string }>> =>
      forge.get(`${app}/commits/${(await pull(3)).head.sha}/statuses`);
    await until(async () => (await statuses()).length > 0);

    expect(await reviewers(3)).toEqual(['ben']);
    expect(await statuses()).toMatchObject([{ context: 'commit-messages', status: 'failure' }]);
  });

  it('draws a reviewer for outsiders', async () => {
    await open('three', { 'c.txt': 'c\n' }, { title: 'From outside' }, 'dora');
    await until(async () => (await reviewers(4)).length > 0);
    await until(async () => (await ended('reviewer-for-outsiders')).includes('done'));
  });

  it('merges what is labelled and approved, and an update that is a patch without a person', async () => {
    for (const name of ['automerge', 'patch']) await send(`${app}/labels`, { name, color: '#00aabb' });
    await act('issue.label', { number: 3, labels: ['automerge'] });
    await act('pull.review', { number: 3, verdict: 'approve' }, 'ben');
    await open('four', { 'd.txt': 'd\n' }, { title: 'chore: update' }, 'renovate-bot');
    await act('issue.label', { number: 5, labels: ['patch'] });
    await act('status.set', { ref: (await pull(3)).head.sha, context: 'commit-messages', state: 'success' });
    await until(async () => (await pull(3)).merged && (await pull(5)).merged);

    expect((await pull(4)).merged).toBe(false);
  });

  (hasQueue ? it : it.skip)(
    'merges what is queued one after the other, each tested on top of those before it',
    async () => {
      await send(`${app}/labels`, { name: 'merge/queue', color: '#00aabb' });
      for (const [branch, number] of [
        ['five', 6],
        ['six', 7],
      ] as const) {
        await open(branch, { [`${branch}.txt`]: `${branch}\n` }, { title: `feat: ${branch}` });
        await act('pull.review', { number, verdict: 'approve' }, 'ben');
      }
      await act('push', { branch: 'main', commits: [{ message: 'fix: later', files: { 'later.txt': 'later\n' } }] });
      for (const number of [6, 7]) await act('issue.label', { number, labels: ['merge/queue'] });
      const heads = new Set<string>();
      const green = async (number: number): Promise<boolean> => {
        const { merged, head } = await pull(number);
        for (const context of merged || heads.has(head.sha) ? [] : ['ci', 'commit-messages'])
          await act('status.set', { ref: head.sha, context, state: 'success' });
        heads.add(head.sha);
        return merged;
      };
      await until(async () => (await green(6)) && (await green(7)));

      const head = (await pull(7)).head.sha;
      for (const file of ['five.txt', 'six.txt', 'later.txt'])
        expect(await forge.get(`${app}/contents/${file}?ref=${head}`)).toMatchObject({ name: file });
    },
  );

  it('lets who may write say /ok-to-test, and nobody else', async () => {
    await act('comment.create', { number: 4, body: '/ok-to-test' }, 'dora');
    await act('comment.create', { number: 4, body: '/ok-to-test' }, 'ann');
    await until(async () => (await labels(4)).includes('ok-to-test'));

    await until(async () => (await ended('ok-to-test')).length === 2);
    expect((await ended('ok-to-test')).filter((state) => state === 'done')).toHaveLength(1);
  });

  it('opens an issue again that is closed without a milestone', async () => {
    await act('issue.close', { number: 2 });
    await until(async () => (await forge.get<unknown[]>(`${app}/issues/2/comments`)).length > 0);
    await until(async () => (await forge.get<{ state: string }>(`${app}/issues/2`)).state === 'open');
  });

  it('takes stale off an issue with votes', async () => {
    await send(`${app}/issues/2/reactions`, { content: '+1' });
    await bot.reach.post('/v1/orgs/acme/schedules/stale-warn/run');
    await until(async () => (await labels(2)).includes('pinned'));

    expect(await labels(2)).toEqual(['pinned']);
  });

  it('lists in a release what was merged', async () => {
    await forge.act('release.publish', { repo: 'acme/app', tag: 'v1.4.0', name: '1.4' });
    const notes = async (): Promise<string> =>
      (await forge.get<{ body: string }>(`${app}/releases/tags/v1.4.0`)).body ?? '';
    await until(async () => (await notes()).includes('docs: more'));

    expect(await notes()).toContain('chore: update');
  });

  it('has played every rule that a page shows', async () => {
    const ids = own.flatMap(({ text }) => idsWithSets(text));
    const idle: string[] = [];
    for (const id of ids) if (!(await ended(id)).includes('done')) idle.push(id);

    // Of the set that votes keep from its end: built-in-sets plays it whole.
    expect(idle.filter((id) => !id.startsWith('stale-'))).toEqual([]);
  });
});
