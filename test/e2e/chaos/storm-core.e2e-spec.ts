import { beforeAll, describe, it } from '@jest/globals';
import { canStartOwnPostgres, canStartOwnRedis } from '../../services/own-server.mjs';
import { requireBuild } from '../support/built.js';
import { chooseSeed } from '../support/seed.js';
import { expectNothingWrong, runFused, SLICE_MS } from './run-slice.js';

const SEED = chooseSeed();
/** Now one, now the other. */
const DEPLOYMENT = canStartOwnPostgres && canStartOwnRedis && SEED % 2 === 0 ? 'distributed' : 'embedded';

describe(`e2e/chaos: a forge that cannot be read, ${DEPLOYMENT}`, () => {
  beforeAll(requireBuild);

  it(
    'G2, G3: sends at most once when it is killed in the middle of its calls and answers are wrong, and asks a person about each that nobody can read',
    async () => expectNothingWrong(await runFused('core', DEPLOYMENT, SEED)),
    SLICE_MS,
  );
});
