import { beforeEach, describe, expect, it } from '@jest/globals';
import type { GrantStore, KeptGrant } from '../../src/console/login/grant-store.port.js';

const AT = new Date('2026-11-20T12:00:00Z');
const LATER = new Date('2026-11-20T13:00:00Z');

function aGrant(over: Partial<KeptGrant> = {}): KeptGrant {
  return {
    id: 'g1',
    forge: 'main',
    userId: '7',
    login: 'ann',
    sealed: 'v1.first',
    accessEndsAt: LATER,
    renewedAt: AT,
    ...over,
  };
}

/** Grants of people, whose tokens several processes may renew at once. */
export function grantStoreSuite(open: () => Promise<GrantStore>): void {
  let store: GrantStore;

  beforeEach(async () => {
    store = await open();
  });

  describe('grants', () => {
    it('keeps one grant a person and forge, under the first id, with the newest tokens', async () => {
      expect(await store.save(aGrant())).toBe('g1');
      expect(await store.save(aGrant({ id: 'g2', login: 'anna', sealed: 'v1.second' }))).toBe('g1');
      expect(await store.save(aGrant({ id: 'g3', forge: 'other' }))).toBe('g3');

      expect(await store.byId('g1')).toEqual(aGrant({ login: 'anna', sealed: 'v1.second' }));
      expect(await store.byId('g2')).toBeNull();
      expect((await store.byId('g3'))?.forge).toBe('other');
    });

    it('takes new tokens in place of those that were read, and of no others', async () => {
      await store.save(aGrant());
      const read = aGrant();
      const tokens = {
        login: 'ann',
        sealed: 'v1.new',
        accessEndsAt: new Date('2026-11-20T14:00:00Z'),
        renewedAt: LATER,
      };

      expect(await store.renew(read, tokens)).toBe(true);
      expect(await store.renew(read, { ...tokens, sealed: 'v1.late' })).toBe(false);
      expect(await store.byId('g1')).toEqual(aGrant(tokens));
    });

    it('removes a grant once', async () => {
      await store.save(aGrant());

      expect(await store.remove('g1')).toEqual(aGrant());
      expect(await store.remove('g1')).toBeNull();
      expect(await store.byId('g1')).toBeNull();
    });

    it('forgets grants that were not renewed since', async () => {
      await store.save(aGrant());
      await store.save(aGrant({ id: 'g2', userId: '8', renewedAt: LATER }));

      await store.sweep(LATER);

      expect([await store.byId('g1'), (await store.byId('g2'))?.id]).toEqual([null, 'g2']);
    });
  });
}
