import { beforeAll, describe, expect, it } from '@jest/globals';
import { overloadOf } from '../../chaos/goals.js';
import { runOverload } from '../../chaos/overload/overload-goal.js';
import { linesOfOverload, wrongOf } from '../../chaos/overload/overload-report.js';
import type { Deployment } from '../../chaos/rig/fleet.js';
import { canStartOwnPostgres, canStartOwnRedis } from '../../services/own-server.mjs';
import { requireBuild } from '../support/built.js';
import { chooseSeed } from '../support/seed.js';
import { tell } from '../support/tell.js';
import { SLICE_MS } from './run-slice.js';

async function runFlood(deployment: Deployment): Promise<void> {
  const report = await runOverload(overloadOf(deployment, 'slice', chooseSeed()), tell);
  for (const line of linesOfOverload(report)) tell(line);
  expect(wrongOf(report)).toEqual([]);
}

describe('e2e/chaos: G14', () => {
  beforeAll(requireBuild);

  it(
    'embedded: answers every delivery of a flood, loses none that it took, and leaves the forge alone for as long as it asked',
    () => runFlood('embedded'),
    SLICE_MS,
  );

  (canStartOwnPostgres && canStartOwnRedis ? it : it.skip)(
    'distributed: answers every delivery of a flood, loses none that it took, and leaves the forge alone for as long as it asked',
    () => runFlood('distributed'),
    SLICE_MS,
  );
});
