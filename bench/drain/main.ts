// npm run bench -- drain: how fast deliveries that lie in the store are decided, where no rule wants them.
import { join } from 'node:path';
import { availableParallelism, loadavg } from 'node:os';
import Table from 'cli-table3';
import { requireBuild } from '../../test/e2e/support/built.js';
import type { Deployment } from '../../test/chaos/rig/fleet.js';
import { goalLine, median, short, type Goal } from '../support/figures.js';
import { readOptions, someOf } from '../support/options.js';
import { measureDrain, type Drained } from './measure.js';

const HELP = `npm run bench -- drain [options]

  --count N         recorded deliveries of 7 KB that wait when the bot is started (default 5000)
  --rounds N        rounds; medians are told (default 3)
  --only LIST       of distributed,embedded (default both)
  --profile DIR     write CPU profiles of the bot's processes there
  --json            figures as JSON on stdout
`;

const WANTED_PER_S: Readonly<Record<Deployment, number>> = { distributed: 1500, embedded: 500 };

interface Sample extends Drained {
  readonly deployment: Deployment;
  readonly perS: number;
}

async function main(): Promise<number> {
  const {
    count,
    rounds,
    only: deployments,
    profile: profiles,
    json,
  } = readOptions(HELP, {
    count: 5000,
    rounds: 3,
    only: someOf(['distributed', 'embedded']),
    profile: null,
    json: false,
  });
  requireBuild();
  const samples: Sample[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    for (const deployment of deployments) {
      const profile = profiles === null ? null : join(profiles, deployment);
      const drained = await measureDrain({ deployment, count, profile });
      const perS = count / drained.seconds;
      samples.push({ deployment, ...drained, perS });
      console.error(`round ${round}: ${deployment}: ${short(perS)} decided per s`);
    }
  }
  const of = (deployment: Deployment, figure: (sample: Sample) => number | null): number =>
    median(samples.filter((sample) => sample.deployment === deployment).map((sample) => figure(sample) ?? NaN));
  const goals = deployments.map((deployment): Goal => ({
    name: `drain-${deployment}-per-s`,
    wanted: { atLeast: WANTED_PER_S[deployment] },
    measured: of(deployment, ({ perS }) => perS),
  }));
  if (json) {
    console.log(JSON.stringify({ count, samples, goals }, null, 2));
    return 0;
  }
  const load = short(loadavg()[0] ?? 0);
  console.log(
    `${availableParallelism()} cores, load ${load} at the end; ${count} deliveries, ${rounds} rounds, medians`,
  );
  const table = new Table({
    head: ['deployment', 'decided per s', 'CPU ms', 'database ms', 'transactions', 'RSS MB'],
    style: { head: [], border: [] },
    colAligns: ['left', 'right', 'right', 'right', 'right', 'right'],
  });
  for (const deployment of deployments)
    table.push([
      deployment,
      short(of(deployment, ({ perS }) => perS)),
      short(of(deployment, ({ cpuMs }) => cpuMs)),
      short(of(deployment, ({ databaseMs }) => databaseMs)),
      short(of(deployment, ({ transactions }) => transactions)),
      short(of(deployment, ({ rssMb }) => rssMb)),
    ]);
  console.log(table.toString());
  console.log('CPU, database and transactions: for each delivery, the start of the bot included');
  for (const goal of goals) console.log(goalLine(goal));
  return 0;
}

process.exitCode = await main();
