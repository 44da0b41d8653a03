import { beforeAll, describe, it } from '@jest/globals';
import { canStartOwnPostgres, canStartOwnRedis } from '../../services/own-server.mjs';
import { requireBuild } from '../support/built.js';
import { runSlice, SLICE_MS } from './run-slice.js';

describe('e2e/chaos: G3', () => {
  beforeAll(requireBuild);

  it('embedded: makes every effect once when one answer in five is wrong and some effects come late', () => runSlice('G3', 'embedded'), SLICE_MS);

  (canStartOwnPostgres && canStartOwnRedis ? it : it.skip)(
    'distributed: makes every effect once when one answer in five is wrong and some effects come late',
    () => runSlice('G3', 'distributed'),
    SLICE_MS,
  );
});
