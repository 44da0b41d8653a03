import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ActivityRow } from '../../src/insight/activity.js';
import { runCli } from '../../src/cli/run-cli.js';
import { until } from '../services/until.js';
import { aBot, type TestBot } from './support/a-bot.js';
import { Browser, consoleOf } from './support/a-browser.js';
import { aForge, type TestForge } from './support/a-forge.js';
import { acmeConfig } from './support/acme-config.js';
import { quietly } from './support/quietly.js';

const RULES = `version: 1
org: acme
rules:
  - id: labeler
    on: issue.opened
    do: { issue.state: { number: "\${{ event.number }}", state: closed } }
  - id: thanks
    on: issue.closed
    do: { label.ensure: { name: closed-once, color: "#112233" } }
  - id: people-alone
    on: issue.closed
    where: { actor: cleo }
    do: { label.ensure: { name: by-cleo, color: "#112233" } }
`;

interface Page {
  readonly rows: readonly ActivityRow[];
  readonly notAsked: readonly ActivityRow[];
}

describe('integration/own-acts: what the bot did itself, and the rules that were not asked', () => {
  let forge: TestForge;
  let bot: TestBot;
  const activity = (query: Record<string, string> = {}) => bot.reach.get<Page>('/v1/activity', query);
  const command = async (...args: string[]) => quietly(() => runCli([...args, '--config', bot.configFile]));

  beforeAll(async () => {
    forge = await aForge({ org: 'acme' });
    const env = { FORGE_TOKEN: forge.botToken, HOOK: 'the secret of the hook' };
    bot = await aBot({
      config: { ...acmeConfig(forge), console: { listen: 0 } },
      files: { 'rules/r.yaml': RULES },
      env,
    });
    await forge.hook(`${bot.url}/webhooks/acme`, 'the secret of the hook');
    await forge.act('repository.create', { repo: 'acme/app' });
    await forge.act('issue.open', { repo: 'acme/app', title: 'Hello' });
    // The row stands there before the event is decided.
    await until(async () =>
      (await activity()).rows.some(({ event, notAsked }) => event === 'issue.closed' && notAsked.length > 0),
    );
  });

  afterAll(async () => {
    await bot?.close();
    await forge?.close();
  });

  it('the timeline names the rules that would take it from anybody else', async () => {
    const { rows, notAsked } = await activity();

    expect(rows.find(({ event }) => event === 'issue.closed')).toMatchObject({ notAsked: ['thanks'], runs: [] });
    expect(rows.filter(({ event }) => event !== 'issue.closed').flatMap((row) => row.notAsked)).toEqual([]);
    // Nothing is left out here.
    expect(notAsked).toEqual([]);
    expect((await activity({ changed: 'true' })).notAsked).toMatchObject([{ event: 'issue.closed' }]);
    expect((await activity({ rule: 'thanks' })).notAsked).toHaveLength(1);
    expect((await activity({ rule: 'people-alone' })).notAsked).toEqual([]);
  });

  it('the commands say so', async () => {
    const said = /issue\.closed in acme\/app #1: 1 rule not asked: the bot's own act \(thanks\)/;

    expect((await command('activity')).text).toMatch(said);
    expect((await command('activity', '--all')).text).toMatch(/1 rule not asked: the bot's own act \(thanks\)/);
    expect((await command('runs')).text).toMatch(said);
    expect((await command('runs', '--rule', 'thanks')).text).toMatch(said);
    expect((await command('runs', '--rule', 'people-alone')).text).not.toContain('not asked');
  });

  it('the Console says so', async () => {
    const browser = new Browser(consoleOf(bot));
    await browser.follow((await bot.reach.post<{ url: string }>('/v1/console/links', {})).url);
    const words = async (path: string): Promise<string> =>
      (await browser.get(path)).text
        .replaceAll(/<[^>]*>/g, ' ')
        .replaceAll(/\s+/g, ' ')
        .replaceAll('&#39;', "'");

    expect(await words('/activity')).toMatch(
      /Not asked issue\.closed acme\/app #1: 1 rule not asked: the bot's own act \(thanks\)/,
    );
    expect(await words('/activity?all=yes')).toMatch(/1 rule not asked: the bot's own act \(thanks\)\. Why/);
  });
});
