import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../services/until.js';
import { acmeConfig } from '../support/acme-config.js';
import { aForge, type Forge } from '../support/a-forge.js';
import { aPlace, type Place } from '../support/a-place.js';
import { startBot, type Bot } from '../support/bot.js';
import { requireBuild } from '../support/built.js';
import { askJson, untilStatus } from '../support/forgehand.js';
import { SlowWay } from './slow-way.js';

const SECRET = 'the secret of the hook';
const REPO = '/repos/acme/automation';
const INDEX = 'version: 1\nfiles: [rules/a.yaml]\n';
const rule = (id: string): string =>
  `version: 1\norg: acme\nrules: [{id: ${id}, on: release.published, do: {milestone.ensure: {title: ${id}}}}]\n`;

interface Status {
  readonly context: string;
  readonly status: string;
  readonly description: string;
}

describe('the check of a pull request in the repository of the rules', () => {
  let forge: Forge;
  let way: SlowWay;
  let place: Place;
  let bot: Bot;

  const start = async (): Promise<void> => {
    const before = bot?.url;
    bot = await startBot(place);
    if (bot.url !== before) await forge.hook(bot.url, SECRET);
  };
  const push = async (branch: string, text: string): Promise<string> => {
    await forge.act('push', {
      repo: 'acme/automation',
      ...(branch === 'main' ? {} : { branch, from: 'main' }),
      commits: [{ message: 'rules', files: { '.forgehand/index.yaml': INDEX, 'rules/a.yaml': text } }],
    });
    const found = await forge.get<{ commit: { id: string } }>(`${REPO}/branches/${branch}`);
    return found?.commit.id ?? '';
  };
  const propose = (branch: string): Promise<unknown> =>
    forge.act('pull.open', { repo: 'acme/automation', head: branch, title: branch });
  /** Every row that was ever set on a commit. */
  const statuses = async (sha: string): Promise<Status[]> =>
    (await forge.get<Status[]>(`${REPO}/commits/${sha}/statuses`)) ?? [];
  const protectMain = async (): Promise<void> => {
    const { admin, apiUrl } = forge.sandbox;
    const answer = await fetch(`${apiUrl}${REPO}/branch_protections`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${admin.login}:${admin.password}`).toString('base64')}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ rule_name: 'main', enable_push: false }),
    });
    expect(answer.status).toBe(201);
  };

  beforeAll(requireBuild);

  beforeEach(async () => {
    forge = await aForge();
    way = await SlowWay.to(forge.sandbox.url);
    await forge.act('repository.create', { repo: 'acme/automation' });
    await push('main', rule('first'));
    await protectMain();
    place = aPlace({
      config: acmeConfig(way.apiUrl, {
        forge: { rate_per_s: 200, settle_s: 1 },
        org: { rules: { repository: 'acme/automation' } },
      }),
      env: { FORGE_TOKEN: forge.botToken, HOOK_SECRET: SECRET },
    });
    await start();
    await untilStatus(place, ({ rows: orgs }) => orgs[0]?.revision?.rules === 1);
  });

  afterEach(async () => {
    if (bot?.child.isAlive) await bot.kill();
    await way.close();
    await forge.close();
    place.remove();
  });

  it('is made by the next process when one is killed between event and status, once', async () => {
    const sha = await push('better', rule('better'));
    const reading = way.hold('before', 'POST', new RegExp(`/file-contents\\?ref=${sha}`));
    await propose('better');
    const held = await reading;

    await bot.kill();
    held.release();
    await start();
    await until(async () => (await statuses(sha)).length > 0);
    await untilStatus(place, ({ intents }) => intents.done === 1);

    expect(await statuses(sha)).toEqual([
      expect.objectContaining({
        ...{ context: 'forgehand/rules', status: 'success' },
        description: expect.stringMatching(/^These rules would be taken; on the last \d+ events: nothing would/),
      }),
    ]);
  });

  it('is not repeated when a process is killed before it heard that the status is set', async () => {
    const sha = await push('worse', 'version: 1\nruels: []\n');
    const writing = way.hold('after', 'POST', new RegExp(`/statuses/${sha}`));
    await propose('worse');
    const held = await writing;

    await bot.kill();
    held.release();
    await start();
    const { intents } = await untilStatus(place, (status) => status.intents.done === 1);
    expect(intents).toMatchObject({ planned: 0, unknown: 0, sent: 0 });

    expect(await statuses(sha)).toMatchObject([{ context: 'forgehand/rules', status: 'failure' }]);
    const { rows: runs } = await askJson<{ rows: Array<{ run: object }> }>(
      place,
      ...['runs', '--rule', '@check', '--config', place.configFile],
    );
    expect(runs).toMatchObject([
      { run: { state: 'done', code: 'run.check', parameters: { problems: expect.any(Number) } } },
    ]);
  });
});
