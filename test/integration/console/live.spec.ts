import { request, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../services/until.js';
import { aBot, type TestBot } from '../support/a-bot.js';
import { aForge, type TestForge } from '../support/a-forge.js';
import { acmeConfig } from '../support/acme-config.js';
import { Browser, consoleOf } from '../support/a-browser.js';

const RULES = `version: 1
org: acme
rules: [{ id: greet, on: repository.created, do: { label.ensure: { name: hello, color: "#00aabb" } } }]
`;

let forge: TestForge;
let bot: TestBot;
let browser: Browser;

/** An open timeline; what it was told so far. */
class Timeline {
  text = '';
  isOver = false;
  private stream: IncomingMessage | null = null;

  static open(of: Browser, query = ''): Promise<Timeline> {
    const timeline = new Timeline();
    const { cookie } = of;
    return new Promise((resolve, reject) => {
      const asking = request(new URL(`/live${query}`, of.url), { headers: { cookie }, agent: false }, (stream) => {
        timeline.stream = stream;
        stream.on('data', (part: Buffer) => (timeline.text += part.toString()));
        stream.once('error', () => undefined);
        stream.once('end', () => (timeline.isOver = true));
        resolve(timeline);
      });
      asking.once('error', reject);
      asking.end();
    });
  }

  close(): void {
    this.stream?.destroy();
  }
}

beforeAll(async () => {
  forge = await aForge({ org: 'acme' });
  bot = await aBot({
    config: { ...acmeConfig(forge), console: { listen: 0 } },
    files: { 'rules/r.yaml': RULES },
    env: { FORGE_TOKEN: forge.botToken, HOOK: 'h'.repeat(40) },
  });
  browser = new Browser(consoleOf(bot));
  await browser.follow((await bot.reach.post<{ url: string }>('/v1/console/links', {})).url);
  // What was there before the bot is history: it polls once first.
  await until(async () => {
    const { rows } = await bot.reach.get<{ rows: Array<{ pollers: Array<{ advancedAt: string | null }> }> }>(
      '/v1/status',
    );
    return typeof rows[0]?.pollers[0]?.advancedAt === 'string';
  });
});

afterAll(async () => {
  await bot?.close();
  await forge?.close();
});

describe('an open timeline', () => {
  it('is told what happens, each by its filters, and nothing after its session', async () => {
    const [all, ofAnother, byName] = [
      await Timeline.open(browser, '?all=yes'),
      await Timeline.open(browser, '?all=yes&repo=acme/another'),
      await Timeline.open(browser, `?rule=greet`),
    ];
    await forge.act('repository.create', { repo: 'acme/first' });
    await until(() => /event: rows\ndata: .*acme\/first/.test(all.text));
    await until(() => byName.text.includes('greet'));
    expect(all.text).toContain('<tr id=');
    expect(ofAnother.text).not.toContain('acme/first');

    const csrf = await browser.csrf();
    await browser.post('/logout', { csrf });
    await forge.act('repository.create', { repo: 'acme/second' });
    await until(() => all.isOver && byName.isOver);
    expect(all.text).toMatch(/event: over\ndata: \{\}\n\n$/);
    expect(all.text).not.toContain('acme/second');
    ofAnother.close();
  });
});
