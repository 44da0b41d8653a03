import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { JobRunner, type JobRun } from '../../../src/housekeeping/jobs/job-runner.js';
import { aBot, type TestBot } from '../support/a-bot.js';
import { acmeConfig } from '../support/acme-config.js';
import { Browser, consoleOf } from '../support/a-browser.js';

const NO_FORGE = { apiUrl: 'http://127.0.0.1:9/api/v1' };
const RUN: JobRun = {
  ...{ forge: 'main', org: 'acme', by: 'ann', at: new Date(0), error: null },
  outcome: { summary: 'all is well', findings: [], changes: [] },
};

describe('integration/an act that takes long', () => {
  let bot: TestBot;
  let browser: Browser;
  beforeAll(async () => {
    bot = await aBot({
      config: { ...acmeConfig(NO_FORGE), console: { listen: 0 } },
      files: { 'rules/r.yaml': 'version: 1\norg: acme\nrules: []\n' },
      env: { FORGE_TOKEN: 'forge-token', HOOK: 'h'.repeat(40) },
    });
    browser = new Browser(consoleOf(bot));
    await browser.follow((await bot.reach.post<{ url: string }>('/v1/console/links', {})).url);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });
  afterAll(() => bot.close());

  /** Jobs end when the test says so. */
  function holdJobs(): { begun: () => number; end: () => void } {
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    const run = jest.spyOn(JobRunner.prototype, 'run').mockImplementation(async () => {
      await ended;
      return [RUN];
    });
    return { begun: () => run.mock.calls.length, end };
  }

  it('goes on behind the control API, whose client waits for its answer, and joins whoever asks again', async () => {
    const jobs = holdJobs();
    const path = '/v1/housekeeping/hooks.audit/run';

    const accepted = await bot.reach.send('POST', path, { org: 'acme' });
    expect(accepted.status).toBe(202);
    const waiting = bot.reach.call('runJob', { job: 'hooks.audit', org: 'acme', reason: 'once more' });
    const again = await bot.reach.send('POST', path, { org: 'acme' });
    expect(JSON.parse(again.text)).toEqual(JSON.parse(accepted.text));
    jobs.end();

    expect(await waiting).toMatchObject({ runs: [{ outcome: { summary: 'all is well' } }] });
    expect(jobs.begun()).toBe(1);
  });

  it('gives a browser its page back, and says that it goes on', async () => {
    const jobs = holdJobs();
    const form = { csrf: await browser.csrf(), act: 'job', job: 'hooks.audit', org: 'acme', reason: 'a test' };

    const first = await browser.post('/jobs', form);
    expect([first.status, first.headers.location]).toEqual([303, '/jobs']);
    expect((await browser.get('/jobs')).text).toContain('It takes long, and goes on by itself');
    expect((await browser.post('/jobs', form)).status).toBe(303);
    expect(jobs.begun()).toBe(1);
    jobs.end();
    expect((await browser.post('/jobs', form)).status).toBe(303);
    expect((await browser.get('/jobs')).text).toContain('The job ran: all is well');
  });
});
