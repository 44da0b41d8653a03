import { beforeEach, describe, expect, it } from '@jest/globals';
import type { OperatorStore } from '../../src/core/operator-store.port.js';
import type { Operator } from '../../src/core/operators.js';

const AT = new Date('2026-11-20T12:00:00Z');
const HASHES = ['a', 'b', 'c'].map((digit) => digit.repeat(64));

function anOperator(over: Partial<Operator> = {}): Operator {
  const made = {
    madeBy: 'socket:root',
    madeAt: AT,
    expiresAt: new Date('2027-02-18T12:00:00Z'),
    revokedBy: null,
    revokedAt: null,
  };
  return { id: 'o1', name: 'ann', login: 'ann-forge', scopes: ['read', 'operate'], ...made, ...over };
}

/** Operators and the hashes of their tokens. */
export function operatorStoreSuite(open: () => Promise<OperatorStore>): void {
  let store: OperatorStore;

  beforeEach(async () => {
    store = await open();
  });

  describe('operators', () => {
    it('finds an operator by the hash of its token, with all that was said of it', async () => {
      await store.add(anOperator(), HASHES[0] ?? '');

      expect(await store.byTokenHash(HASHES[0] ?? '')).toEqual(anOperator());
      expect(await store.byTokenHash(HASHES[1] ?? '')).toBeNull();
      expect(await store.byTokenHash('')).toBeNull();
    });

    it('adds one once, whatever is said again', async () => {
      await store.add(anOperator(), HASHES[0] ?? '');
      await store.add(anOperator({ scopes: ['read', 'operate', 'approve'] }), HASHES[1] ?? '');

      expect(await store.list()).toEqual([anOperator()]);
      expect(await store.byTokenHash(HASHES[1] ?? '')).toBeNull();
    });

    it('revokes all tokens of a name, or one by its id, and says which', async () => {
      await store.add(anOperator(), HASHES[0] ?? '');
      await store.add(anOperator({ id: 'o2' }), HASHES[1] ?? '');
      await store.add(anOperator({ id: 'o3', name: 'bob', login: null }), HASHES[2] ?? '');
      const later = new Date('2026-11-21T12:00:00Z');

      const one = await store.revoke('o2', 'socket:root', AT);
      const rest = await store.revoke('ann', 'config-token', later);
      const nothing = await store.revoke('ann', 'socket:root', later);

      expect([one, rest, nothing].map((revoked) => revoked.map(({ id }) => id))).toEqual([['o2'], ['o1'], []]);
      expect((await store.list()).map(({ id, revokedBy, revokedAt }) => [id, revokedBy, revokedAt])).toEqual([
        ['o1', 'config-token', later],
        ['o2', 'socket:root', AT],
        ['o3', null, null],
      ]);
      expect(await store.byTokenHash(HASHES[1] ?? '')).toMatchObject({ revokedAt: AT });
    });
  });
}
