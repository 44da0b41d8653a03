import { beforeAll, describe, it } from '@jest/globals';
import { canStartOwnPostgres, canStartOwnRedis } from '../../services/own-server.mjs';
import { requireBuild } from '../support/built.js';
import { runSlice, SLICE_MS } from './run-slice.js';

describe('e2e/chaos: G2', () => {
  beforeAll(requireBuild);

  it('embedded: makes every effect once when it is killed in the middle of its calls', () => runSlice('G2', 'embedded'), SLICE_MS);

  (canStartOwnPostgres && canStartOwnRedis ? it : it.skip)(
    'distributed: makes every effect once when it is killed in the middle of its calls',
    () => runSlice('G2', 'distributed'),
    SLICE_MS,
  );
});
