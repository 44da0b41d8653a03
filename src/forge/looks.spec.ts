import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { InMemoryKnownFacts } from '../../test/fakes/in-memory-known-facts.js';
import { ManualClock } from '../../test/fakes/manual-clock.js';
import { ForgeError } from '../core/errors.js';
import { Looks, youngerThan, type LookedAt } from './looks.js';

const WHAT: LookedAt = { forge: 'main', subject: 'acme', kind: 'org.hooks', under: 'token' };

function aWorld() {
  const clock = new ManualClock();
  const facts = new InMemoryKnownFacts(clock);
  let calls = 0;
  const ask = async (): Promise<{ n: number }> => {
    calls += 1;
    await setImmediate();
    return { n: calls };
  };
  return { clock, facts, ask, calls: () => calls, process: () => new Looks(facts, clock) };
}

describe('forge/looks', () => {
  it('makes one look of many at the same time, in this process and in others', async () => {
    const { ask, calls, process } = aWorld();
    const [one, other] = [process(), process()];

    const all = await Promise.all([one, one, other, other].map((looks) => looks.look(WHAT, youngerThan(60_000), ask)));

    expect([calls(), all.map(({ seen }) => seen)]).toEqual([1, Array(4).fill({ n: 1 })]);
  });

  it('looks again when what is known is too old, or was seen under another token', async () => {
    const { ask, clock, calls, process } = aWorld();
    const looks = process();
    await looks.look(WHAT, youngerThan(60_000), ask);
    clock.advance(59_000);
    await looks.look(WHAT, youngerThan(60_000), ask);
    const young = calls();
    clock.advance(2_000);
    await looks.look(WHAT, youngerThan(60_000), ask);
    const old = calls();

    expect([young, old, (await looks.read({ ...WHAT, under: 'another' })).look]).toEqual([1, 2, null]);
  });

  it('keeps what was seen beside the failure of a later look, until one succeeds', async () => {
    const { ask, clock, process } = aWorld();
    const looks = process();
    await looks.look(WHAT, youngerThan(0), ask);
    clock.advance(1_000);
    const failing = async (): Promise<never> => {
      throw new ForgeError('not-sent', 'no answer', { operation: 'listOrgHooks' });
    };
    await expect(looks.look(WHAT, youngerThan(0), failing)).rejects.toThrow('no answer');
    const failed = await looks.read(WHAT);
    await looks.look(WHAT, youngerThan(0), ask);

    expect([failed.look?.seen, failed.failure?.message]).toEqual([{ n: 1 }, 'no answer']);
    expect(await looks.read(WHAT)).toMatchObject({ look: { seen: { n: 2 } }, failure: null });
  });

  it('waits for a process that looks, and looks itself when that one died', async () => {
    const { ask, clock, calls, facts, process } = aWorld();
    await facts.claim('main', 'acme', 'org.hooks', 60_000);
    const waiting = process().look(WHAT, youngerThan(60_000), ask);
    await setImmediate();
    const meanwhile = calls();
    clock.advance(61_000);

    expect([meanwhile, (await waiting).seen]).toEqual([0, { n: 1 }]);
  });
});
