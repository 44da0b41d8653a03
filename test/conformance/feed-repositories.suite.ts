import { describe, expect, it } from '@jest/globals';
import type { SeenRepositories } from '../../src/forge/seen-repositories.port.js';

/** Repositories that rows of an organization's feed named: what belongs to it on a forge that finds none by number. */
export function feedRepositoriesSuite(open: () => Promise<{ readonly seenRepositories: SeenRepositories }>): void {
  describe('repositories that the feed named', () => {
    it('are kept by organization, under the newest name, until they leave', async () => {
      const { seenRepositories: seen } = await open();
      const keep = (org: string, own: Array<[string, string]>, movedAway: string[] = []): Promise<void> =>
        seen.keepNamed('main', org, { own: own.map(([id, name]) => ({ id, name })), movedAway });
      const named = async (org: string, forge = 'main'): Promise<string[]> =>
        (await seen.named(forge, org)).map(({ id, name }) => `${id} ${name}`);

      await keep('acme', [
        ['8', 'lib'],
        ['7', 'app'],
      ]);
      await keep('acme', [['7', 'renamed']]);
      await keep('other', [['9', 'tool']]);
      await Promise.all([keep('acme', [['10', 'new']]), keep('acme', [['10', 'new']])]);
      expect(await named('acme')).toEqual(['10 new', '7 renamed', '8 lib']);

      await keep('acme', [], ['7', '9']);

      expect([await named('acme'), await named('other'), await named('acme', 'second')]).toEqual([
        ['10 new', '8 lib'],
        ['9 tool'],
        [],
      ]);
    });
  });
}
