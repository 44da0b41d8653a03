import { beforeAll, describe, expect, it } from '@jest/globals';
import { powerCutsOf } from '../../chaos/goals.js';
import { runPowerCuts } from '../../chaos/power/power-goal.js';
import { linesOfPower, wrongOfPower } from '../../chaos/power/power-report.js';
import { requireBuild } from '../support/built.js';
import { chooseSeed } from '../support/seed.js';
import { tell } from '../support/tell.js';
import { SLICE_MS } from './slice-ms.js';

describe('e2e/chaos: power cuts', () => {
  beforeAll(requireBuild);

  it(
    'lose nothing acknowledged and double nothing under the embedded store, at any moment; without flushes the same cuts lose something',
    async () => {
      const report = await runPowerCuts(powerCutsOf('slice', chooseSeed()), tell);
      for (const line of linesOfPower(report)) tell(line);

      expect(wrongOfPower(report)).toEqual([]);
    },
    SLICE_MS,
  );
});
