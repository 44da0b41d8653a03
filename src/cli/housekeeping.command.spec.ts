import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { runJob } from './housekeeping.command.js';
import type { Reach } from './reach-bot.js';

const ROW = { repo: 'acme/web', state: 'open', mode: 'live', reason: '', code: '', effects: [] };

describe('cli/housekeeping run, of a rule or policy', () => {
  let written: string;

  beforeEach(() => {
    written = '';
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => ((written += String(text)), true));
  });

  afterEach(() => void jest.restoreAllMocks());

  async function fired(answer: object, dryRun = false): Promise<number> {
    let code = 0;
    const bot: Pick<Reach, 'call'> = {
      call: async (name: string, ..._input: unknown[]) => (name === 'jobs' ? { jobs: [] } : answer) as never,
    };
    await runJob(bot, 'nightly', { json: false, org: 'acme', dryRun }, (status) => void (code = status));
    return code;
  }

  it('counts the runs', async () => {
    expect(await fired({ tickId: 't1', runs: 12, undecided: [] })).toBe(0);
    expect(written).toBe('nightly: 12 runs decided (tick t1)\n');
  });

  it('names what was not decided, and does not end well', async () => {
    expect(await fired({ tickId: 't1', runs: 11, undecided: ['acme/one: labels.list failed: status 403'] })).toBe(3);
    expect(written).toBe(
      'nightly: 11 runs decided (tick t1), 1 not decided\n  not decided: acme/one: labels.list failed: status 403\n',
    );
  });

  it('says so of a dry run, too', async () => {
    const rows = [ROW, { ...ROW, repo: 'acme/one', state: 'error', reason: 'labels.list failed: status 403' }];
    const undecided = ['acme/one: labels.list failed: status 403'];

    expect(await fired({ tickId: '', runs: 1, undecided, rehearsed: rows }, true)).toBe(3);
    expect(written).toContain('nightly: it would make 1 run, 1 not decided; nothing was stored or done\n');
    expect(written).toContain('acme/one  error: labels.list failed: status 403');
  });
});
