import { beforeAll, describe, it } from '@jest/globals';
import { canStartOwnPostgres, canStartOwnRedis } from '../../services/own-server.mjs';
import { requireBuild } from '../support/built.js';
import { runSlice, SLICE_MS } from './run-slice.js';

describe('e2e/chaos: G1', () => {
  beforeAll(requireBuild);

  it('embedded: keeps every acknowledged delivery when its receiver is killed again and again', () => runSlice('G1', 'embedded'), SLICE_MS);

  (canStartOwnPostgres && canStartOwnRedis ? it : it.skip)(
    'distributed: keeps every acknowledged delivery when its receiver is killed again and again',
    () => runSlice('G1', 'distributed'),
    SLICE_MS,
  );
});
