import { describe, expect, it } from '@jest/globals';
import { ForgeError } from '../../core/errors.js';
import type { NewIntent } from '../../core/run.js';
import type { OrgSettings } from '../../pipeline/execute/forge-access.js';
import type { PauseRow } from '../../pipeline/journal-store.port.js';
import { TrialWaits } from './trial-waits.js';
import type { ObjectRound } from './try-orders.js';

const intent = (over: object = {}): NewIntent => ({ stepId: 'merge', rule: 'r', ...over }) as unknown as NewIntent;
const decision = (over: object = {}): ObjectRound['decisions'][number] =>
  ({ rule: 'r', window: null, runsPerHour: null, ...over }) as unknown as ObjectRound['decisions'][number];
const LIMIT = { kind: 'rule', of: 'r', key: 'k', perHour: 1 } as const;

function waits({
  pauses = [] as PauseRow[],
  fired = 0,
  spent = false,
  failure = null as Error | null,
  lacks = null as string | null,
} = {}): TrialWaits {
  return new TrialWaits(
    {
      paused: async () => pauses,
      firedInLastHour: async () => fired,
      spentBudget: async () => (spent ? { limit: LIMIT, againInMs: 90_000 } : null),
    },
    {
      of: async () => {
        if (failure) throw failure;
        return [LIMIT];
      },
    },
    { get: () => ({}) as OrgSettings },
    { heldFor: () => (lacks === null ? null : ({ code: lacks, params: {} } as never)) },
  );
}

describe('insight/trying/trial-waits', () => {
  it('says nothing where nothing would make it wait', async () => {
    expect(await waits().of('acme', decision({ runsPerHour: 3 }), [intent()], true)).toEqual([]);
  });

  it.each([
    [
      'once or by a second person',
      intent({ approval: 'wanted' }),
      'step merge would wait for a yes of whoever may approve',
    ],
    [
      'by a second person',
      intent({ approval: 'wanted', twoPeople: true }),
      'step merge would wait for a yes of a second operator, who neither caused it nor wrote the rule',
    ],
  ])('says whose yes it would wait for: %s', async (_, one, line) => {
    expect(await waits().of('acme', decision(), [one, one], true)).toEqual([`${line} (approval)`]);
  });

  it('tells the window, the limit of runs, a pause and a running rule that is held', async () => {
    const pauses = [{ org: 'acme', rule: null, by: 'ann', at: new Date(0) }];
    const window = { key: 'acme/app', windowMs: 90_000 };

    expect(
      await waits({ pauses, fired: 3, lacks: 'x' }).of('acme', decision({ window, runsPerHour: 3 }), [], true),
    ).toEqual([
      expect.stringContaining('the running rule of this id is held'),
      'would wait until the pause by ann is over: forgehand resume',
      'would wait 90 s for others of key "acme/app" (coalesce)',
      expect.stringContaining('the limit is 3 (limits.runs_per_hour)'),
    ]);
  });

  it('tells a budget that is spent once, and only to who may know', async () => {
    const spent = waits({ spent: true });

    expect(await spent.of('acme', decision(), [intent(), intent()], true)).toEqual([
      expect.stringContaining('the budget of rule r is spent'),
    ]);
    expect(await spent.of('acme', decision(), [intent()], false)).toEqual([]);
  });

  it('says that the budgets are not known while the forge cannot be asked', async () => {
    const failure = new ForgeError('not-sent', 'nobody answers', { operation: 'checkOrgMember' });

    expect(await waits({ failure }).of('acme', decision(), [intent()], true)).toEqual([
      expect.stringMatching(/^budgets are not known: /),
    ]);
  });
});
