import { beforeAll, describe, it } from '@jest/globals';
import { canStartOwnPostgres, canStartOwnRedis } from '../../services/own-server.mjs';
import { requireBuild } from '../support/built.js';
import { runSlice, SLICE_MS } from './run-slice.js';

describe('e2e/chaos: G5', () => {
  beforeAll(requireBuild);

  (canStartOwnPostgres && canStartOwnRedis ? it : it.skip)(
    'loses and doubles nothing when Redis is emptied and killed',
    () => runSlice('G5', 'distributed'),
    SLICE_MS,
  );
});
