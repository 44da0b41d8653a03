// npm run bench:runs: deliveries to effects per second, beside a bare Bull worker that makes the same call and writes nothing down.
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { requireBuild } from '../../test/e2e/support/built.js';
import { goalLine, median, short } from '../support/figures.js';
import { CONTESTANTS, type Key } from './contestants.js';

const HELP = `npm run bench:runs -- [options]

  --rounds N        rounds; ratios are taken within each and their median is told (default 3)
  --count N         deliveries of each one in each round, one label each (default 600)
  --json            figures as JSON on stdout
`;

interface Sample {
  readonly round: number;
  readonly key: Key;
  /** Effects. */
  readonly perS: number;
  /** Acknowledged deliveries, or jobs added. */
  readonly toldPerS: number;
}

const say = (line: string): void => console.error(line);

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '3' },
      count: { type: 'string', default: '600' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const [rounds, count] = [Number(values.rounds), Number(values.count)];
  if (![rounds, count].every((value) => Number.isInteger(value) && value > 0)) {
    console.error(`--rounds and --count take whole numbers from 1\n\n${HELP}`);
    return 2;
  }
  requireBuild();
  const samples: Sample[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    for (const { key, name, measure } of CONTESTANTS) {
      const { told, made } = await measure(count);
      samples.push({ round, key, perS: count / made, toldPerS: count / told });
      say(`round ${round}: ${name}: ${short(count / told)} acknowledged, ${short(count / made)} effects per s`);
    }
  }
  const goals = (['distributed', 'embedded'] as const).map((key) => ({
    name: `runs-${key}-by-bare-bull`,
    wanted: { atLeast: 0.5 },
    measured: ratioOf(samples, key),
  }));
  if (values.json) {
    console.log(JSON.stringify({ samples, goals }, null, 2));
    return 0;
  }
  console.log(
    `${availableParallelism()} cores, load ${short(loadavg()[0] ?? 0)} at the end; ${count} deliveries, ${rounds} rounds, medians`,
  );
  const table = new Table({
    head: ['who', 'told per s', 'effects per s', 'x Bull'],
    style: { head: [], border: [] },
    colAligns: ['left', 'right', 'right', 'right'],
  });
  for (const { key, name } of CONTESTANTS) {
    const own = samples.filter((sample) => sample.key === key);
    table.push([
      name,
      short(median(own.map(({ toldPerS }) => toldPerS))),
      short(median(own.map(({ perS }) => perS))),
      short(ratioOf(samples, key) ?? NaN),
    ]);
  }
  console.log(table.toString());
  for (const goal of goals) console.log(goalLine(goal));
  return 0;
}

/** Median over the rounds of one's rate by Bull's in the same round. */
function ratioOf(samples: readonly Sample[], key: Key): number | null {
  const ratios = samples
    .filter((sample) => sample.key === key)
    .flatMap(({ round, perS }) => {
      const peer = samples.find((other) => other.key === 'bull' && other.round === round);
      return peer ? [perS / peer.perS] : [];
    });
  return ratios.length > 0 ? median(ratios) : null;
}

process.exitCode = await main();
