// npm run bench -- flood: how long a delivery of one organization takes to its first call while a worker has a backlog of another one in hand.
import { availableParallelism, loadavg } from 'node:os';
import Table from 'cli-table3';
import { requireBuild } from '../../test/e2e/support/built.js';
import { percentile } from '../../test/chaos/judge/percentiles.js';
import { median, short } from '../support/figures.js';
import { readOptions } from '../support/options.js';
import { measureFlood, STAGES, type Took } from './measure.js';

const HELP = `npm run bench -- flood [options]

  --backlog N       deliveries of the flooding organization (default 2000)
  --wanted          each delivery of the flood wants an effect, in place of one in fifty; until all of them are made
  --workers N       processes that work (default 1)
  --every N         milliseconds from one delivery of the other organization to the next (default 50)
  --rounds N        rounds (default 1); least and median of their percentiles are told
  --profile DIR     write a CPU profile of the worker there
  --json            figures as JSON on stdout

"busy": processor time that the worker's main thread used from stage to stage. "undisturbed": time that passed, without what that thread waited for a
processor. Both say more than the time itself on a machine that others use.
`;

const FIGURES = ['passed', 'undisturbed', 'busy'] as const;

const {
  backlog,
  wanted: isWanted,
  workers,
  every: everyMs,
  rounds,
  profile,
  json,
} = readOptions(HELP, {
  backlog: 2000,
  wanted: false,
  workers: 1,
  every: 50,
  rounds: 1,
  profile: null,
  json: false,
});
requireBuild();
const seen: Array<Record<string, number>> = [];
for (let round = 1; round <= rounds; round += 1) {
  const { alone, flood, drainedMs } = await measureFlood({ backlog, isWanted, workers, everyMs, profile });
  const row: Record<string, number> = { drainedMs, deliveries: flood.length, load: loadavg()[0] ?? NaN };
  for (const [phase, took] of [
    ['alone', alone],
    ['flood', flood],
  ] as const)
    for (const stage of STAGES)
      for (const figure of FIGURES) {
        const values = took.map((one: Took) => one[stage][figure]);
        for (const [name, share] of [
          ['p50', 0.5],
          ['p95', 0.95],
        ] as const)
          row[`${phase} ${stage} ${figure} ${name}`] = percentile(values, share);
      }
  seen.push(row);
  console.error(
    `round ${round}: drained ${short(drainedMs)} ms, ${flood.length} deliveries, load ${short(row['load'] ?? NaN)}`,
  );
}
if (json) console.log(JSON.stringify(seen));
else {
  const table = new Table({
    head: ['', 'stage', ...FIGURES.flatMap((figure) => [`${figure} p50`, `${figure} p95`])],
    style: { head: [], border: [] },
  });
  const told = (name: string): string => {
    const values = seen.map((row) => row[name] ?? NaN);
    return rounds === 1 ? short(median(values)) : `${short(Math.min(...values))} / ${short(median(values))}`;
  };
  for (const phase of ['alone', 'flood'])
    for (const stage of STAGES)
      table.push([
        phase,
        stage,
        ...FIGURES.flatMap((figure) => ['p50', 'p95'].map((name) => told(`${phase} ${stage} ${figure} ${name}`))),
      ]);
  console.log(
    `${availableParallelism()} cores, load ${short(loadavg()[0] ?? 0)} at the end; ms, ${rounds > 1 ? 'least / median' : 'one round'}`,
  );
  console.log(table.toString());
  console.log(`the backlog of ${backlog} was ${isWanted ? 'done' : 'decided'} after ${told('drainedMs')} ms`);
}
