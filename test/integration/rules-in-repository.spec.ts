import { afterEach, describe, expect, it } from '@jest/globals';
import type { StatusReport } from '../../src/api/operations/answers.js';
import type { DoctorPage } from '../../src/api/operations/answers.js';
import type { ProfileName } from '../../src/sandbox/profiles.js';
import { until } from '../services/until.js';
import { acmeConfig } from './support/acme-config.js';
import { aBot, type TestBot } from './support/a-bot.js';
import { aForge, type TestForge } from './support/a-forge.js';

const SECRET = 'the secret of the hook';
const INDEX = '.forgehand/index.yaml';
const REPO = '/repos/acme/automation';

const index = (...paths: string[]): string => `version: 1\nfiles: ${JSON.stringify(paths)}\n`;
const rule = (id: string): string =>
  `version: 1\norg: acme\nrules: [{id: ${id}, on: repository.created, do: {milestone.ensure: {title: ${id}}}}]\n`;

// Whole bots with their stores: slow to start on a busy machine, and nothing here depends on how slow.
let open: Array<{ close(): Promise<void> }> = [];
afterEach(async () => {
  for (const one of open.reverse()) await one.close();
  open = [];
});

async function aHouse(
  profile: ProfileName,
  rules: object = {},
): Promise<{ forge: TestForge; bot: TestBot; org(): Promise<StatusReport['rows'][number]> }> {
  const forge = await aForge({ org: 'acme', profile });
  open.push(forge);
  await forge.act('repository.create', { repo: 'acme/automation' });
  await forge.act('push', {
    repo: 'acme/automation',
    commits: [{ message: 'rules', files: { [INDEX]: index('rules/a.yaml'), 'rules/a.yaml': rule('first') } }],
  });
  const bot = await aBot({
    config: acmeConfig(forge, {
      org: { rules: { repository: 'acme/automation', every_s: 0.5, ...rules }, feed: { every_s: 60 } },
      ratePerS: 500,
    }),
    files: {},
    env: { FORGE_TOKEN: forge.botToken, HOOK: SECRET },
  });
  open.push(bot);
  await forge.hook(`${bot.url}/webhooks/acme`, SECRET);
  const org = async (): Promise<StatusReport['rows'][number]> => {
    const [found] = (await bot.reach.get<StatusReport>('/v1/status')).rows;
    if (!found) throw new Error('no organization');
    return found;
  };
  return { forge, bot, org };
}

async function protect(forge: TestForge, settings: object = {}): Promise<void> {
  const { admin, apiUrl } = forge.sandbox;
  const headers = {
    authorization: `Basic ${Buffer.from(`${admin.login}:${admin.password}`).toString('base64')}`,
    'content-type': 'application/json',
  };
  const answer = await fetch(`${apiUrl}${REPO}/branch_protections`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ rule_name: 'main', enable_push: false, ...settings }),
  });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
}

describe('integration/rules-in-repository', () => {
  it.each(['gitea', 'gitea@1.24', 'forgejo'] as const)(
    'takes rules from a protected branch alone, follows it, and says so on the commit (%s)',
    async (profile) => {
      const { forge, bot, org } = await aHouse(profile);
      await until(async () => (await org()).heldBack.length > 0);
      expect((await org()).heldBack).toEqual([
        expect.stringContaining('branch main of acme/automation is not protected'),
      ]);
      expect((await org()).revision).toBeNull();

      await protect(forge);
      await until(async () => (await org()).revision?.rules === 1);
      await forge.act('push', {
        repo: 'acme/automation',
        commits: [{ message: 'more', files: { [INDEX]: index('rules/a.yaml', 'b.yml'), 'b.yml': rule('second') } }],
      });
      await until(async () => (await org()).revision?.rules === 2);
      await until(async () => typeof (await org()).source?.history === 'string');

      const { source } = await org();
      const { statuses } = await forge.get<{ statuses: object[] }>(`${REPO}/commits/main/status`);
      expect(source).toMatchObject({
        repository: 'acme/automation',
        branch: 'main',
        state: 'active',
        problems: [],
        unposted: null,
      });
      expect(source?.history).toMatch(/^on the last \d+ events: /);
      expect(statuses).toMatchObject([
        {
          context: 'forgehand/rules',
          status: 'success',
          description: expect.stringContaining('These rules are active; on the last'),
        },
      ]);

      await forge.act('push', {
        repo: 'acme/automation',
        commits: [{ message: 'oops', files: { 'b.yml': 'version: 1\nruels: []\n' } }],
      });
      await until(async () => (await org()).source?.state === 'refused');
      const after = await forge.get<{ statuses: object[] }>(`${REPO}/commits/main/status`);
      expect((await org()).revision?.rules).toBe(2);
      expect(after.statuses).toMatchObject([
        {
          status: 'failure',
          description: expect.stringMatching(/^Not taken: acme\/automation@[0-9a-f]{12}:b\.yml:\d+:\d+: /),
        },
      ]);
      expect(bot.log()).not.toContain(SECRET);
    },
  );

  it.each(['gitea', 'forgejo'] as const)(
    'tells a pull request what would become of its rules before it is merged, a fork the verdict alone (%s)',
    async (profile) => {
      const { forge, bot, org } = await aHouse(profile);
      await protect(forge);
      await until(async () => (await org()).revision?.rules === 1);
      const { rows: checks } = await bot.reach.get<DoctorPage>('/v1/doctor', { fresh: 'true' });
      expect(checks.find(({ check }) => check === 'hook.events')?.said).toMatch(/pull_request, pull_request_sync/);
      await forge.control('/_sandbox/given', { user: 'dora' });
      await forge.control('/_sandbox/hooks', {
        org: 'acme',
        url: `${bot.url}/webhooks/acme`,
        secret: SECRET,
        events: ['pull_request', 'pull_request_sync'],
      });
      const told = async (number: number): Promise<{ status: string; description: string } | undefined> => {
        const { head } = await forge.get<{ head: { sha: string } }>(`${REPO}/pulls/${number}`);
        const { statuses } = await forge.get<{ statuses: Array<{ status: string; description: string }> | null }>(
          `${REPO}/commits/${head.sha}/status`,
        );
        return (statuses ?? [])[0];
      };
      const propose = async (as: string, repo: string, branch: string, text: string): Promise<void> => {
        await forge.act('push', {
          as,
          repo,
          branch,
          from: 'main',
          commits: [{ message: 'x', files: { 'rules/a.yaml': text } }],
        });
        const head = as === 'olga' ? branch : `${as}:${branch}`;
        await forge.act('pull.open', { as, repo: 'acme/automation', head, title: branch });
      };

      await propose('olga', 'acme/automation', 'better', rule('better'));
      await until(async () => (await told(1)) !== undefined);
      expect(await told(1)).toMatchObject({
        status: 'success',
        description: expect.stringMatching(/^These rules would be taken; on the last \d+ events: /),
      });
      await propose('olga', 'acme/automation', 'worse', 'version: 1\nruels: []\n');
      await until(async () => (await told(2)) !== undefined);
      expect(await told(2)).toMatchObject({
        status: 'failure',
        description: expect.stringMatching(
          /^Would not be taken: acme\/automation@[0-9a-f]{12}:rules\/a\.yaml:\d+:\d+: /,
        ),
      });

      await forge.act('repository.fork', { as: 'dora', repo: 'acme/automation' });
      await propose('dora', 'dora/automation', 'idea', rule('idea'));
      await until(async () => (await told(3)) !== undefined);
      expect(await told(3)).toMatchObject({ status: 'success', description: 'These rules would be taken' });
      expect((await org()).revision?.rules).toBe(1);
    },
  );

  it.each(['gitea', 'gitea@1.24', 'forgejo'] as const)(
    'refuses a branch that every writer may push to, with a code, in status and doctor, until the operator accepts it (%s)',
    async (profile) => {
      const { forge, bot, org } = await aHouse(profile);
      await protect(forge, { enable_push: true });

      await until(async () => (await org()).source?.code === 'RULES_OPEN_BRANCH');
      const { rows: checks } = await bot.reach.get<DoctorPage>('/v1/doctor', { fresh: 'true' });
      expect((await org()).revision).toBeNull();
      expect((await org()).heldBack).toEqual([expect.stringContaining('may push to main without a review')]);
      expect(checks.filter(({ check }) => check === 'rules.refused')).toMatchObject([
        { said: expect.stringContaining('RULES_OPEN_BRANCH') },
      ]);

      const accepting = await aHouse(profile, { accept: 'open-branch' });
      await protect(accepting.forge, { enable_push: true });
      await until(async () => (await accepting.org()).revision?.rules === 1);
      await until(async () => (await accepting.org()).source?.state === 'active');
      const { source } = await accepting.org();
      expect(source?.notes).toEqual([expect.stringContaining('accept: open-branch')]);
      expect(source?.origin).toMatchObject({ repository: 'acme/automation', branch: 'main', commit: source?.commit });
    },
  );

  it('refuses links, submodules and a repository that took the name, whatever the forge says about the branch', async () => {
    const { forge, org } = await aHouse('gitea');
    await protect(forge);
    await until(async () => (await org()).revision?.rules === 1);
    const file = (type: string, more: object = {}): object => ({
      path: 'rules/a.yaml',
      type,
      size: 9,
      encoding: 'base64',
      content: Buffer.from(rule('evil')).toString('base64'),
      ...more,
    });
    const answers: Array<readonly [string, object]> = [
      ['is a symlink', file('symlink', { target: '/etc/passwd' })],
      ['is a symlink', file('file', { target: '../x' })],
      ['is a submodule', file('submodule')],
      ['is a submodule', file('file', { submodule_git_url: 'https://evil.example/x.git' })],
      ['is a dir', file('dir')],
    ];
    for (const [reason, answer] of answers) {
      forge.tap.answer = ({ path, text }) =>
        path.includes('file-contents') && text.includes('rules/a.yaml')
          ? { status: 200, body: JSON.stringify([answer]) }
          : null;
      await until(async () => (await org()).heldBack[0]?.includes(reason) ?? false);
    }
    forge.tap.answer = () => null;
    await until(async () => (await org()).heldBack.length === 0);
    forge.tap.answer = ({ path, method }) =>
      method === 'GET' && path.endsWith(REPO)
        ? { status: 200, body: JSON.stringify({ id: 999, full_name: 'acme/automation', default_branch: 'main' }) }
        : null;

    await until(async () => (await org()).heldBack[0]?.includes('another repository now (number 999') ?? false);

    expect((await org()).revision?.rules).toBe(1);
  });

  it('goes by the flag of the branch on a forge with the 20 operations alone, where the operator names the branch', async () => {
    const { org } = await aHouse('core', { branch: 'main' });
    await until(async () => (await org()).heldBack.length > 0);

    expect((await org()).heldBack).toEqual([
      expect.stringContaining('branch main of acme/automation is not protected'),
    ]);
    expect((await org()).revision).toBeNull();
  });
});
