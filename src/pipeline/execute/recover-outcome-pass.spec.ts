import { describe, expect, it } from '@jest/globals';
import { EffectRig } from '../../../test/builders/effect-rig.js';
import { StoreUnavailable } from '../../core/errors.js';

describe('pipeline/recover: a pass', () => {
  it('ends well when the store is away, since nobody waits for it', async () => {
    const rig = new EffectRig();
    const away = async (): Promise<never> => {
      throw new StoreUnavailable('away');
    };
    Object.assign(rig.journal, { dueRecoveries: away, dueLooks: away });

    await expect(rig.unknown.pass(10)).resolves.toBeUndefined();
  });
});
