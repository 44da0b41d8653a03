import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ROOT } from '../../services/with-services.mjs';
import { aPlace } from '../support/a-place.js';
import { requireBuild } from '../support/built.js';
import { Child } from '../support/child.js';
import { diskFolder } from '../../tools/fast-folder.mjs';

describe('e2e/power: flushes of the embedded store', () => {
  beforeAll(requireBuild);

  it('are one for each delivery that comes alone, and a few for a hundred that come at once', async () => {
    const place = aPlace({ config: {}, files: { count: '' }, within: diskFolder() });
    try {
      const env = {
        NODE_OPTIONS: `--import ${join(ROOT, 'test/e2e/power/count-flushes.mjs')}`,
        COUNT_FLUSHES: join(place.dir, 'count'),
      };
      const script = ['--import', './test/register-swc.mjs', 'test/e2e/power/store-deliveries.mjs'];
      const child = new Child([...script, join(ROOT, 'dist'), join(place.dir, 'data')], env, ROOT);
      expect([await child.ended, child.stderr]).toEqual([{ code: 0, signal: null }, '']);
      const { alone, atOnce, reads } = JSON.parse(child.stdout) as Record<
        'alone' | 'atOnce' | 'reads',
        { flushes: number }
      >;

      expect(alone.flushes).toBeGreaterThanOrEqual(100);
      expect(atOnce.flushes).toBeGreaterThanOrEqual(1);
      expect(atOnce.flushes).toBeLessThanOrEqual(10);
      expect(reads.flushes).toBe(0);
    } finally {
      place.remove();
    }
  });
});
