import { describe, expect, it } from '@jest/globals';
import { FlagAsker } from './asker.js';
import { nameConsole, offerPlan, type GoLive } from './go-live.js';
import { Steps } from './steps.js';

const plan = (hash: string): object => ({
  hash,
  org: 'acme',
  needsApproval: false,
  lines: [{ policy: 'labels', action: 'label.ensure', key: 'bug', repo: { name: 'app' }, does: 'write', fields: [] }],
  calls: [],
});

/** A bot whose rules changed after so many plans. */
function world(refusals: number): { to: GoLive; steps: Steps; calls: string[] } {
  const steps = new Steps(() => undefined);
  const calls: string[] = [];
  const call = async (name: string, input: { hash?: string }): Promise<object> => {
    calls.push(input.hash === undefined ? name : `${name} ${input.hash}`);
    if (name === 'plan') return plan(`hash-${calls.filter((one) => one === 'plan').length}`);
    const isRefused = calls.filter((one) => one.startsWith('applyPlan')).length <= refusals;
    return {
      outcome: isRefused ? 'refused' : 'applied',
      plan: plan(input.hash ?? ''),
      reasons: ['the rules changed'],
      drift: [],
      runs: [],
    };
  };
  const to = {
    steps,
    org: 'acme',
    flags: { wait: 1 },
    yes: true,
    isSandbox: true,
    asker: new FlagAsker(),
    bot: { reach: { call } },
  } as unknown as GoLive;
  return { to, steps, calls };
}

describe('cli/init/go-live', () => {
  it('makes the plan again where the rules changed while it was shown', async () => {
    const { to, steps, calls } = world(1);

    await offerPlan(to);

    expect(calls).toEqual(['plan', 'applyPlan hash-1', 'plan', 'applyPlan hash-2']);
    expect(steps.all.map(({ state, said }) => [state, said])).toEqual([['done', 'plan hash-2 is applied: 1 change']]);
  });

  it('makes it once, and says what to type', async () => {
    const { to, steps, calls } = world(2);

    await offerPlan(to);

    expect(calls).toHaveLength(4);
    expect(steps.all).toMatchObject([
      {
        state: 'left',
        said: expect.stringContaining('the rules changed'),
        todo: [expect.stringContaining('forgehand plan')],
      },
    ]);
  });

  const said = (consoleUrl: string | null, columns?: number): string => {
    let text = '';
    const steps = new Steps((more) => (text += more), columns);
    nameConsole({ steps, bot: { consoleUrl, config: { forges: [{ id: 'main' }] } } } as unknown as GoLive);
    return text;
  };

  it('names the Console and the redirect address of its login', () => {
    expect(said('http://127.0.0.1:8090')).toMatch(
      /Console is at http:\/\/127\.0\.0\.1:8090 .*redirect address http:\/\/127\.0\.0\.1:8090\/login\/callback\/main\n/s,
    );
    expect(said(null)).toBe('');
  });

  it('breaks what it says between words, and nothing that is there to be typed', () => {
    const lines = said('http://127.0.0.1:8090', 60).split('\n');
    expect(lines.every((line) => line.length <= 60)).toBe(true);
    expect(lines).toContain('address http://127.0.0.1:8090/login/callback/main');
    let text = '';
    new Steps((more) => (text += more), 20).copy('forgehand sandbox act issue.open');
    expect(text).toBe('npx forgehand sandbox act issue.open\n');
  });
});
