import { describe, expect, it } from '@jest/globals';
import { firstIdAt, madeAtMs, newId } from './ids.js';

describe('core/ids', () => {
  it('an id tells when it was made', () => {
    const before = Date.now();
    const madeAt = madeAtMs(newId()) ?? 0;

    expect(madeAt).toBeGreaterThanOrEqual(before);
    expect(madeAt).toBeLessThanOrEqual(Date.now());
  });

  it.each(['', 'act-1', '0197a1b2-c3d4-4000-8000-000000000000'])('%j tells no time', (id) => {
    expect(madeAtMs(id)).toBeNull();
  });

  it('the first id of a moment stands between those made before it and the others', () => {
    const id = newId();
    const at = madeAtMs(id) ?? 0;

    expect([id, firstIdAt(new Date(at)), firstIdAt(new Date(at + 1))].sort()).toEqual([
      firstIdAt(new Date(at)),
      id,
      firstIdAt(new Date(at + 1)),
    ]);
  });
});
