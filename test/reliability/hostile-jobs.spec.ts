import { describe, expect, it } from '@jest/globals';
import { ForgeError } from '../../src/core/errors.js';
import { silentLogger } from '../../src/core/logger.js';
import { Executor, IntentHands } from '../../src/pipeline/execute/executor.js';
import { EffectRig } from '../builders/effect-rig.js';

const RINGS = 10_000;
const BUG = { name: 'bug', color: '#d73a4a' };

describe('reliability: what comes from outside the store', () => {
  it(`makes no effect of ${RINGS} forged rings`, async () => {
    const rig = new EffectRig();
    const ended = await rig.want('label.ensure', BUG);
    const queue = { ring: () => undefined, serve: async () => undefined };
    const { journal, effects, clock } = rig;
    const executor = new Executor(queue, journal, effects, new IntentHands(), clock, silentLogger);
    const forged = [
      '',
      '*',
      'acme',
      ended.id,
      '../../etc/passwd',
      `acme' OR '1'='1`,
      '__proto__',
      '\0',
      'x'.repeat(10_000),
    ];

    for (let n = 0; n < RINGS; n += 1)
      expect(await executor.turn('intents', n % 2 === 0 ? `no-such-${n}` : (forged[n % forged.length] ?? ''))).toBe(
        false,
      );

    expect(rig.written).toEqual(['createLabel']);
    expect(await rig.journal.intent(ended.id)).toMatchObject({ state: 'done', attempts: 1 });
  });

  it('asks about a repository that is gone at most twenty times a day, whatever is wanted of it, and writes nothing', async () => {
    const rig = new EffectRig();
    const gone = new ForgeError('refused', 'getRepoById: refused', { operation: 'getRepoById', status: 404 });
    rig.forge.answer('getRepoById', async () => Promise.reject(gone));
    const states = new Set<string>();

    for (let minute = 0; minute < 1_440; minute += 5) {
      states.add((await rig.want('label.ensure', { ...BUG, name: `at ${minute}` })).state);
      rig.clock.advance(300_000);
    }

    expect([...states]).toEqual(['refused']);
    expect(rig.forge.calls.length).toBeLessThanOrEqual(20);
    expect(rig.written).toEqual([]);
  });
});
