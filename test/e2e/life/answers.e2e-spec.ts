import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RunReport } from '../../../src/api/operations/answers.js';
import { until } from '../../services/until.js';
import { acmeConfig } from '../support/acme-config.js';
import { aForge, type Forge } from '../support/a-forge.js';
import { aPlace, type Place } from '../support/a-place.js';
import { startBot, type Bot } from '../support/bot.js';
import { requireBuild } from '../support/built.js';
import { askJson, forgehand } from '../support/forgehand.js';

const SECRET = 'the secret of the hook';
const RULES = `version: 1
org: acme
rules:
  - id: command-label
    on: comment.created
    where: {command: label}
    do: {issue.label: {number: "\${{ event.number }}", add: "\${{ event.command.args }}"}}
`;

interface Comment {
  readonly id: number;
  readonly user: { readonly login: string };
  readonly body: string;
}

/** Somebody asks for what they may not, and the process dies before it answers, and while it does. */
describe('answers to people, by a bot that is killed', () => {
  let forge: Forge;
  let place: Place;
  let bot: Bot;

  const comments = async (number: number): Promise<Comment[]> =>
    (await forge.get<Comment[]>(`/repos/acme/app/issues/${number}/comments`)) ?? [];
  const answers = async (number: number): Promise<string[]> =>
    (await comments(number)).filter(({ user }) => user.login !== 'ann').map(({ body }) => body);
  const reactions = async (number: number): Promise<number> => {
    const [command] = await comments(number);
    return ((await forge.get<unknown[]>(`/repos/acme/app/issues/comments/${command?.id}/reactions`)) ?? []).length;
  };

  beforeAll(async () => {
    requireBuild();
    forge = await aForge();
    await forge.control('POST', '/_sandbox/given', { user: 'ann' });
    await forge.act('repository.create', { repo: 'acme/app' });
    for (const title of ['One', 'Two', 'Three']) await forge.act('issue.open', { repo: 'acme/app', title });
    place = aPlace({
      config: acmeConfig(forge.apiUrl, {
        forge: { rate_per_s: 200, settle_s: 1 },
        org: { budgets: { per_stranger: 'none' } },
        queue: { sweep_s: 0.5 },
      }),
      files: { 'rules/rules.yaml': RULES },
      env: { FORGE_TOKEN: forge.botToken, HOOK_SECRET: SECRET },
    });
    bot = await startBot(place);
  });

  afterAll(async () => {
    if (bot?.child.isAlive) await bot.kill();
    await forge?.close();
    place?.remove();
  });

  it('says once what became of a command, and why in the journal', async () => {
    const hook = (url: string) =>
      forge.control('POST', '/_sandbox/hooks', {
        org: 'acme',
        url: `${url}/webhooks/acme`,
        secret: SECRET,
        events: ['issue_comment'],
      });
    await hook(bot.url);
    await forge.act('comment.create', { repo: 'acme/app', number: 1, body: '/label bug' }, 'ann');
    await until(async () => bot.child.stdout.includes('run.decided'));
    await bot.kill();
    bot = await startBot(place);
    await until(async () => bot.child.stdout.includes('run.decided'));
    await bot.kill();
    bot = await startBot(place);
    await until(async () => (await reactions(1)) === 1);
    expect(await answers(1)).toEqual([expect.stringMatching(/^@ann `\/label`: you may not ask for this here/)]);

    const { rows } = await askJson<{ rows: RunReport[] }>(
      place,
      ...['runs', '--rule', '@answer', '--config', place.configFile],
    );
    const [report] = rows;
    expect(report?.run).toMatchObject({ rule: '@answer', code: 'run.answer', state: 'done' });
    expect(report?.intents.map(({ action, state }) => [action, state])).toEqual([
      ['issue.comment', expect.stringMatching(/^(done|unchanged)$/)],
      ['issue.react', expect.stringMatching(/^(done|unchanged)$/)],
    ]);
    const explained = await forgehand(place, 'explain', report?.run.id ?? '', '--config', place.configFile);
    expect(explained).toMatchObject({ code: 0, stderr: '' });
    expect(explained.stdout).toContain('@answer');
    expect(explained.stdout).toContain('answers the person who asked');
  });
});
