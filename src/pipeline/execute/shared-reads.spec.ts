import { beforeEach, describe, expect, it } from '@jest/globals';
import { EffectRig } from '../../../test/builders/effect-rig.js';
import { ManualClock } from '../../../test/fakes/manual-clock.js';
import { ReadForAnother, SharedReads } from './guarded-forge.js';

const label = (name: string) => ({ name, color: '#d73a4a' });

describe('pipeline/execute/shared-reads', () => {
  describe('of a run', () => {
    let clock: ManualClock;
    let shared: SharedReads;
    let calls: string[];

    beforeEach(() => {
      clock = new ManualClock();
      shared = new SharedReads(clock);
      calls = [];
    });

    const read = (reads: ReturnType<SharedReads['of']>, repo: string): Promise<unknown> =>
      reads.read('listLabels', async () => (calls.push(repo), `labels of ${repo}`), { owner: 'acme', repo }, {});

    it('are made once where they are identical, and told to each that asks', async () => {
      expect(await read(shared.of('run', 'main'), 'app')).toBe('labels of app');
      expect(await read(shared.of('run', 'main'), 'app')).toBe('labels of app');
      await read(shared.of('run', 'main'), 'web');
      await read(shared.of('other', 'main'), 'app');

      expect(calls).toEqual(['app', 'web', 'app']);
    });

    it('are made again after ten seconds', async () => {
      await read(shared.of('run', 'main'), 'app');
      clock.advance(10_000);
      await read(shared.of('run', 'main'), 'app');

      expect(calls).toHaveLength(2);
    });

    it('pass on what the forge said beside the body', async () => {
      const totals: unknown[] = [];
      for (let n = 0; n < 2; n += 1)
        await shared
          .of('run', 'main')
          .read(
            'listLabels',
            async (_, options) => (options?.onReply?.({ status: 200, totalCount: 7, listed: 1 }), []),
            {},
            { onReply: ({ totalCount }) => void totals.push(totalCount) },
          );

      expect(totals).toEqual([7, 7]);
    });

    it('are not kept when they fail', async () => {
      await expect(
        shared
          .of('run', 'main')
          .read('listLabels', () => Promise.reject(new Error('away')), { owner: 'acme', repo: 'app' }, {}),
      ).rejects.toThrow('away');

      expect(await read(shared.of('run', 'main'), 'app')).toBe('labels of app');
    });

    it('are those of all runs where nothing of ours can change them', async () => {
      const ask = (run: string, forge: string): Promise<unknown> =>
        shared.of(run, forge).read('listOrgLabels', async () => void calls.push(forge), { org: 'acme' }, {});
      await ask('run', 'main');
      await ask('other', 'main');
      await ask('other', 'second');

      expect(calls).toEqual(['main', 'second']);
    });

    it('are none to write on for another, and are forgotten with a write', async () => {
      const own = shared.of('run', 'main');
      await read(own, 'app');
      const other = shared.of('run', 'main');
      await read(other, 'app');

      expect(() => other.beforeWrite()).toThrow(ReadForAnother);
      expect(() => own.beforeWrite()).not.toThrow();
      await read(shared.of('run', 'main'), 'app');
      expect(calls).toHaveLength(2);
    });
  });

  describe('of effects', () => {
    /** The fake forge cuts lists into pages; a list of the first page is a list begun. */
    const listsBegun = (rig: EffectRig): number =>
      rig.forge.calls.filter((name, n) => name === 'listLabels' && rig.forge.pages[n] === 1).length;

    async function wish(rig: EffectRig, names: readonly string[]): Promise<string[]> {
      const steps = names.map((name) => ({ itemKey: name, params: label(name) }));
      return rig.planItems('label.ensure', steps);
    }

    it('cost one list when all of twelve labels are there', async () => {
      const rig = new EffectRig();
      const names = Array.from({ length: 12 }, (_, n) => `kind/${n}`);
      for (const name of names) await rig.want('label.ensure', label(name));
      const before = listsBegun(rig);

      for (const id of await wish(rig, names)) expect((await rig.work(id)).state).toBe('unchanged');

      expect(listsBegun(rig) - before).toBe(1);
    });

    it('cost one more before each write, and one after it, when labels are missing', async () => {
      const rig = new EffectRig();
      for (const name of ['a', 'c', 'd']) await rig.want('label.ensure', label(name));
      const before = listsBegun(rig);

      const states = [];
      for (const id of await wish(rig, ['a', 'b', 'c', 'd'])) states.push((await rig.work(id)).state);

      expect(states).toEqual(['unchanged', 'done', 'unchanged', 'unchanged']);
      expect(listsBegun(rig) - before).toBe(3);
    });

    it('do not make a second label where somebody made it since the shared list was read', async () => {
      const rig = new EffectRig();
      await rig.want('label.ensure', label('a'));
      const [first, second] = await wish(rig, ['a', 'b']);
      await rig.work(first ?? '');
      await rig.forge.client.createLabel({ owner: 'acme', repo: 'app', body: label('b') });

      expect((await rig.work(second ?? '')).state).toBe('unchanged');
    });
  });
});
