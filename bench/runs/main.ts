// npm run bench -- runs: deliveries to effects per second, beside bare Bull workers that make the same calls and write nothing down.
import { availableParallelism, loadavg } from 'node:os';
import Table from 'cli-table3';
import { requireBuild } from '../../test/e2e/support/built.js';
import { goalLine, median, short, type Goal } from '../support/figures.js';
import { readOptions, someOf } from '../support/options.js';
import { CONTESTANTS, type Figures, type Key } from './contestants.js';

const HELP = `npm run bench -- runs [options]

  --rounds N        rounds; ratios are taken within each and their median is told (default 3)
  --count N         deliveries of each one in each round, one label each (default 3000; fewer say little)
  --only LIST       of ${CONTESTANTS.map(({ key }) => key).join(',')} (default all)
  --profile DIR     write there CPU profiles of the bot's processes, and how often each statement and Redis command runs for an effect
  --json            figures as JSON on stdout
`;

interface Sample extends Figures {
  readonly round: number;
  readonly key: Key;
  /** Effects. */
  readonly perS: number;
  /** Acknowledged deliveries, or jobs added. */
  readonly toldPerS: number;
}

const GOALS: ReadonlyArray<{ readonly key: Key; readonly by: Key; readonly name: string; readonly atLeast: number }> = [
  { key: 'distributed', by: 'bull', name: 'runs-distributed-by-bare-bull', atLeast: 0.35 },
  { key: 'embedded', by: 'bull', name: 'runs-embedded-by-bare-bull', atLeast: 0.25 },
  { key: 'distributed', by: 'bull-3', name: 'runs-distributed-by-bull-with-our-calls', atLeast: 0.7 },
];

const say = (line: string): void => console.error(line);

async function main(): Promise<number> {
  const { rounds, count, only, profile, json } = readOptions(HELP, {
    rounds: 3,
    count: 3000,
    only: someOf(CONTESTANTS.map(({ key }) => key)),
    profile: null,
    json: false,
  });
  const contestants = CONTESTANTS.filter(({ key }) => only.includes(key));
  requireBuild();
  const samples: Sample[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    for (const { key, name, measure } of contestants) {
      const figures = await measure(count, profile);
      const { told, made, calls } = figures;
      samples.push({ round, key, ...figures, perS: count / made, toldPerS: count / told });
      say(
        `round ${round}: ${name}: ${short(count / told)} acknowledged, ${short(count / made)} effects per s, ${short(calls)} calls each`,
      );
    }
  }
  const goals: Goal[] = GOALS.map(({ key, by, name, atLeast }) => ({
    name,
    wanted: { atLeast },
    measured: ratioOf(samples, key, by),
  }));
  if (json) {
    console.log(JSON.stringify({ count, samples, goals }, null, 2));
    return 0;
  }
  console.log(
    `${availableParallelism()} cores, load ${short(loadavg()[0] ?? 0)} at the end; ${count} deliveries, ${rounds} rounds, medians`,
  );
  const table = new Table({
    head: ['who', 'told per s', 'effects per s', 'x Bull', 'x Bull, our calls', 'calls', 'CPU ms', 'database ms'],
    style: { head: [], border: [] },
    colAligns: ['left', 'right', 'right', 'right', 'right', 'right', 'right', 'right'],
  });
  for (const { key, name } of contestants) {
    const own = samples.filter((sample) => sample.key === key);
    const of = (figure: (sample: Sample) => number | null): string =>
      short(median(own.map((sample) => figure(sample) ?? NaN)));
    table.push([
      name,
      of(({ toldPerS }) => toldPerS),
      of(({ perS }) => perS),
      short(ratioOf(samples, key, 'bull') ?? NaN),
      short(ratioOf(samples, key, 'bull-3') ?? NaN),
      of(({ calls }) => calls),
      of(({ cpuMs }) => cpuMs),
      of(({ databaseMs }) => databaseMs),
    ]);
  }
  console.log(table.toString());
  console.log('calls, CPU and database: for each effect');
  for (const goal of goals) console.log(goalLine(goal));
  return 0;
}

/** Median over the rounds of one's rate by another's in the same round; null when one of them did not run. */
function ratioOf(samples: readonly Sample[], key: Key, by: Key): number | null {
  const ratios = samples
    .filter((sample) => sample.key === key)
    .flatMap(({ round, perS }) => {
      const peer = samples.find((other) => other.key === by && other.round === round);
      return peer ? [perS / peer.perS] : [];
    });
  return ratios.length > 0 ? median(ratios) : null;
}

process.exitCode = await main();
