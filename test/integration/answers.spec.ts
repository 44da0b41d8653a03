import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { answerReason, answerWith, type AnswerCode } from '../../src/pipeline/answer/answer-reasons.js';
import { textOf } from '../../src/core/reason.js';
import { createTestDatabase, describeOnPostgres } from '../services/test-stores.js';
import { until } from '../services/until.js';
import { acmeConfig } from './support/acme-config.js';
import { aBot, type TestBot } from './support/a-bot.js';
import { aForge, type TestForge } from './support/a-forge.js';

const HOOK_SECRET = 'the secret of the hook';

const RULES = `version: 1
org: acme
rules:
  - id: command-label
    on: comment.created
    where: {repo: ["acme/app"], command: label}
    if:
      has_names: event.command.args.size() > 0
    do:
      issue.label: {number: "\${{ event.number }}", add: "\${{ event.command.args }}"}
  - id: on-ready
    on: issue.labeled
    where: {repo: ["acme/app"]}
    if: event.issue.labels.exists(l, l.name == "ready")
    do:
      issue.milestone: {number: "\${{ event.number }}", title: no-such-milestone}
`;

interface Comment {
  readonly id: number;
  readonly user: { readonly login: string };
  readonly body: string;
}

interface ShownRun {
  readonly id: string;
  readonly rule: string;
  readonly state: string;
  readonly code: string;
}

for (const [kind, describeIt] of [
  ['embedded', describe],
  ['postgres', describeOnPostgres],
] as const)
  describeIt(`integration/answers (${kind})`, () => {
    let forge: TestForge;
    let bot: TestBot;
    let dropDatabase: () => unknown = () => undefined;

    const comments = async (number: number): Promise<Comment[]> =>
      forge.get<Comment[]>(`/repos/acme/app/issues/${number}/comments`);
    /** Texts of the bot's comments on an issue, without the line for admins. */
    const answers = async (number: number): Promise<string[]> =>
      (await comments(number)).filter(({ user }) => user.login === 'bot').map(({ body }) => body.split('\n')[0] ?? '');
    const reactions = async (number: number, body: string): Promise<string[]> => {
      const command = (await comments(number)).find((comment) => comment.body === body);
      const all = await forge.get<Array<{ content: string }> | null>(
        `/repos/acme/app/issues/comments/${command?.id}/reactions`,
      );
      return (all ?? []).map(({ content }) => content);
    };
    const says = (login: string, command: string, code: AnswerCode): string =>
      `@${login}${command === '' ? '' : ` \`/${command}\``}: ${textOf(answerWith(code, { because: null, on: 'issue' }))}`;
    const comment = (as: string, number: number, body: string): Promise<void> =>
      forge.act('comment.create', { as, repo: 'acme/app', number, body });
    const runsOf = async (rule = '@answer'): Promise<ShownRun[]> =>
      (await bot.reach.rows<{ run: ShownRun }>('/v1/runs', { rule, limit: 50 })).map(({ run }) => run);
    const settled = async (count: number): Promise<ShownRun[]> => {
      await until(async () => {
        const runs = await runsOf();
        return runs.length === count && runs.every(({ state }) => state !== 'gathering' && state !== 'open');
      });
      return runsOf();
    };

    beforeAll(async () => {
      forge = await aForge({ org: 'acme' });
      for (const user of ['ann', 'eve', 'otto', 'stale-bot']) await forge.control('/_sandbox/given', { user });
      await forge.control('/_sandbox/given', {
        team: 'writers',
        org: 'acme',
        permission: 'write',
        members: ['ann'],
        includes_all_repositories: true,
      });
      await forge.act('repository.create', { repo: 'acme/app' });
      for (const label of ['bug', 'ready'])
        await forge.control('/_sandbox/given', { label, repo: 'acme/app', color: '#ee0701' });
      for (const title of ['One', 'Two', 'Three', 'Four']) await forge.act('issue.open', { repo: 'acme/app', title });
      const store = { url: 'embedded:./data' as unknown };
      const env: Record<string, string> = { FORGE_TOKEN: forge.botToken, HOOK: HOOK_SECRET };
      if (kind === 'postgres') {
        const database = await createTestDatabase();
        dropDatabase = () => database.drop();
        store.url = { env: 'STORE_URL' };
        env['STORE_URL'] = database.url;
        env['DATA_KEY'] = 'ab'.repeat(32);
      }
      bot = await aBot({
        config: {
          ...acmeConfig(forge),
          store,
          ...(kind === 'postgres'
            ? { keys: { data: { env: 'DATA_KEY' } }, control: { socket: 'run/control.sock' } }
            : {}),
        },
        files: { 'rules/r.yaml': RULES },
        env,
      });
      await forge.control('/_sandbox/hooks', {
        org: 'acme',
        url: `${bot.url}/webhooks/acme`,
        secret: HOOK_SECRET,
        events: ['issues', 'issue_comment', 'issue_label'],
      });
    });

    afterAll(async () => {
      await bot?.close();
      await forge?.close();
      await dropDatabase();
    });

    it('tells a stranger who may not, once an hour, and a member each time, in a comment for each command', async () => {
      await comment('otto', 1, '/label bug');
      await until(async () => (await answers(1)).length === 1);
      await until(async () => (await reactions(1, '/label bug')).length === 1);
      expect(await answers(1)).toEqual([says('otto', 'label', 'answer.not-allowed')]);
      expect(await reactions(1, '/label bug')).toEqual(['confused']);

      await comment('otto', 2, '/label ready');
      const [run] = await settled(2);
      expect(run).toMatchObject({ state: 'cancelled', code: 'run.answer' });
      expect(await answers(2)).toEqual([]);

      await comment('ann', 3, '/label nope');
      await until(async () => (await answers(3)).length === 1);
      await comment('ann', 3, '/label');
      await until(async () => (await answers(3)).includes(says('ann', 'label', 'answer.condition')));
      expect(await answers(3)).toEqual([
        expect.stringMatching(/^@ann `\/label`: not done: there is no label nope\.$/),
        says('ann', 'label', 'answer.condition'),
      ]);
      const [condition] = await settled(4);
      expect(condition).toMatchObject({ state: 'done', code: 'run.answer' });

      await comment('ann', 3, '/label bug');
      const [last] = await settled(5);
      expect(last).toMatchObject({ state: 'not-fired', code: 'run.answer.none' });
      await comment('stale-bot', 3, '/label bug');
      await until(async () => (await runsOf('command-label')).length === 6);
      expect(await runsOf()).toHaveLength(5);
      expect(await answers(3)).toHaveLength(2);
    });

    it('tells whoever set a label what became of it, and holds its tongue while it is paused', async () => {
      await forge.act('issue.label', { repo: 'acme/app', number: 4, labels: ['ready'], how: 'add' });
      await until(async () => (await answers(4)).length === 1);
      expect(await answers(4)).toEqual([expect.stringMatching(/^@olga: .*milestone/)]);
      expect((await answers(4)).join()).not.toContain('no-such-milestone');

      await comment('ann', 2, '/help');
      await until(async () => (await answers(2)).length === 1);
      expect(await answers(2)).toEqual([`@ann: ${textOf(answerReason('answer.help', { commands: ['label'] }))}`]);
      await comment('eve', 2, '/help');
      await until(async () => (await answers(2)).length === 2);
      expect((await answers(2))[1]).toBe(`@eve: ${textOf(answerReason('answer.help', { commands: [] }))}`);

      await bot.reach.post('/v1/pause', { org: 'acme', rule: '@answer' });
      const before = (await runsOf()).length;
      await comment('ann', 4, '/label');
      await until(async () => (await runsOf()).some(({ state }) => state === 'open'));
      expect(await answers(4)).toHaveLength(1);
      await bot.reach.post('/v1/resume', { org: 'acme', rule: '@answer' });
      await until(async () => (await answers(4)).length === 2);
      expect(await runsOf()).toHaveLength(before + 1);
    });
  });
