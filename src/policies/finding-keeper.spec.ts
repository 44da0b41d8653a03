import { describe, expect, it } from '@jest/globals';
import { planIntents } from '../pipeline/decide/plan-intents.js';
import { actions } from '../actions/index.js';
import { because } from '../../test/builders/reasons.js';
import { EffectRig } from '../../test/builders/effect-rig.js';
import { FindingKeeper } from './finding-keeper.js';
import type { SubjectFindings } from './finding-store.port.js';

const WISH = { name: 'kind/bug', color: '#d73a4a' };
const NAME = 'undone/labels/kind/bug';

describe('policies/finding-keeper', () => {
  it('finds what a policy made twice and somebody undid twice, until it stays', async () => {
    const rig = new EffectRig();
    const kept: SubjectFindings[] = [];
    const open = (): ReadonlyArray<{ name: string; subject: string }> =>
      (kept.at(-1)?.failing ?? []).map(({ name }) => ({ name, subject: '7' }));
    const keeper = new FindingKeeper(
      {
        record: async (found) => void kept.push(found),
        list: async () => open() as never,
        countOpen: async () => open().length,
      },
      { raise: () => undefined, resolve: () => undefined },
      rig.journal,
    );
    /** One pass of the policy `house`, which wants these items. */
    const pass = async (items: number): Promise<readonly string[]> => {
      const plan = planIntents(
        {
          forge: 'main',
          org: 'acme',
          rule: 'house',
          kind: 'policy',
          mode: 'live',
          revisionId: 'rev-1',
          cause: { kind: 'tick', tickId: `t${kept.length}`, subject: '7' },
          repo: { id: '7', owner: 'acme', name: 'app', full_name: 'acme/app' },
          report: { rule: 'house', verdict: items > 0 ? 'fired' : 'not-fired', reason: because('wanted'), trace: null },
          steps:
            items > 0
              ? [
                  {
                    stepId: 'labels',
                    stepNo: 0,
                    action: 'label.ensure',
                    items: [{ itemKey: 'kind/bug', params: WISH }],
                  },
                ]
              : [],
          lookups: {},
          decidedAt: rig.clock.now(),
        },
        { actions, encryptor: rig.encryptor, newId: () => `id-${kept.length}-${Math.random()}`, account: 'forgehand' },
      );
      await keeper.keep(plan);
      await rig.journal.recordDecision({}, [plan]);
      for (const { id } of plan.intents) expect((await rig.work(id)).state).toBe('done');
      return (kept.at(-1)?.failing ?? []).map(({ name }) => name);
    };
    const somebodyDeletesIt = (): void => void rig.forge.repositories.get('acme/app')?.labels.splice(0);

    const found = [await pass(1)];
    somebodyDeletesIt();
    found.push(await pass(1));
    somebodyDeletesIt();
    found.push(await pass(1));

    expect(found).toEqual([[], [], [NAME]]);
    expect(kept.at(-1)).toMatchObject({
      policy: 'house',
      subject: '7',
      name: 'acme/app',
      failing: [{ severity: 'medium', message: expect.stringContaining('respect_undo: true') }],
      looked: [NAME],
    });

    expect(await pass(0)).toEqual([]);
    expect(kept.at(-1)?.looked).toEqual([NAME]);
  });
});
