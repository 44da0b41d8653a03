import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ROOT } from '../../services/with-services.mjs';
import { aPlace } from '../support/a-place.js';
import { requireBuild } from '../support/built.js';
import { Child } from '../support/child.js';

interface Told {
  /** What became of each write. */
  readonly told: readonly string[];
  readonly end: string;
  readonly read: { readonly position: { readonly n: string } } | null;
  /** Threads of the store that were started. */
  readonly threads: number;
}

describe('an embedded store whose thread ends by itself', () => {
  beforeAll(requireBuild);

  it('is opened again, with all that was stored; what was under way is told as not available', async () => {
    const place = aPlace({ config: {}, files: {}, env: {} });
    try {
      const child = new Child(
        [join(ROOT, 'test/e2e/life/lose-store-thread.mjs'), join(ROOT, 'dist'), join(place.dir, 'data')],
        {},
        ROOT,
      );
      expect(await child.ended).toEqual({ code: 0, signal: null });
      const { told, end, read, threads } = JSON.parse(child.stdout) as Told;

      expect(threads).toBe(4);
      expect(new Set(told)).toEqual(new Set(['kept', 'STORE_UNAVAILABLE']));
      expect(end).toBe('kept');
      expect(read?.position.n).toBe('last');
    } finally {
      place.remove();
    }
  });
});
