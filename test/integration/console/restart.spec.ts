import { rmSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { DoctorPage } from '../../../src/api/operations/answers.js';
import { startBot } from '../../../src/main.js';
import { readConfig } from '../../../src/config/read-config.js';
import { silentLogger } from '../../../src/core/logger.js';
import { freePort } from '../../services/processes.mjs';
import { aBot } from '../support/a-bot.js';
import { acmeConfig } from '../support/acme-config.js';
import { Browser, consoleOf } from '../support/a-browser.js';

const ENV = { FORGE_TOKEN: 'forge-token', HOOK: 'h'.repeat(40) };

describe('a session on plain http', () => {
  it('does not outlive the process that made it, however its cookie was kept', async () => {
    const port = await freePort();
    const bot = await aBot({
      config: { ...acmeConfig({ apiUrl: 'http://127.0.0.1:9/api/v1' }), console: { listen: port } },
      files: { 'rules/r.yaml': 'version: 1\norg: acme\nrules: []\n' },
      env: ENV,
      // The next process opens the same store.
      store: 'embedded',
    });
    const { rows } = await bot.reach.get<DoctorPage>('/v1/doctor', { limit: 1_000 });
    expect(rows.filter(({ code }) => code === 'console.sessions.short')).toMatchObject([
      { state: 'note', said: expect.stringContaining('people log in again after each restart') },
    ]);
    const browser = new Browser(consoleOf(bot));
    await browser.follow((await bot.reach.post<{ url: string }>('/v1/console/links', {})).url);
    const thief = new Browser(browser.url);
    for (const [name, value] of browser.cookies) thief.cookies.set(name, value);
    expect((await thief.get('/about')).status).toBe(200);
    // Opened while the process is away, at whoever has the port then.
    const { url } = await bot.reach.post<{ url: string }>('/v1/console/links', {});
    await bot.stop();

    Object.assign(process.env, ENV);
    const next = await startBot(readConfig(bot.configFile), { role: 'all', logger: silentLogger });
    try {
      expect([(await thief.get('/about')).status, (await browser.get('/about')).status]).toEqual([303, 303]);
      expect((await thief.get('/live', { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' })).status).toBe(
        204,
      );
      expect((await thief.follow(url)).status).toBe(403);
      const link = await next.consoleLink();
      await browser.follow(link ?? '');
      const { text } = await browser.get('/sessions');
      expect(text.match(/name="session"/g)).toHaveLength(1);
    } finally {
      await next.close();
      rmSync(bot.dir, { recursive: true, force: true });
      for (const name of Object.keys(ENV)) delete process.env[name];
    }
  });
});
