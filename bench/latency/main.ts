// npm run bench -- latency: how long one delivery takes to its call at the forge while there is nothing else to do.
import { join } from 'node:path';
import { availableParallelism, loadavg } from 'node:os';
import Table from 'cli-table3';
import { requireBuild } from '../../test/e2e/support/built.js';
import type { Deployment } from '../../test/chaos/rig/fleet.js';
import { goalLine, median, short, type Goal } from '../support/figures.js';
import { readOptions, someOf } from '../support/options.js';
import { percentile } from '../../test/chaos/judge/percentiles.js';
import { measureLatency } from './measure.js';
import { measureWrite, ROUND_TRIP_MS } from './round-trips.js';

const HELP = `npm run bench -- latency [options]

  --count N         deliveries that are measured, one label each (default 150)
  --every N         milliseconds from one delivery to the next (default 200)
  --rounds N        rounds; medians of their percentiles are told (default 3)
  --only LIST       of distributed,embedded (default both); "" measures the writes over TLS alone
  --profile DIR     write CPU profiles of the bot's processes there
  --json            figures as JSON on stdout
`;

const WANTED_P50: Readonly<Record<Deployment, number>> = { distributed: 40, embedded: 30 };
const WANTED_P95 = 100;

interface Sample {
  readonly deployment: Deployment;
  readonly p50: number;
  readonly p95: number;
  readonly most: number;
}

async function main(): Promise<number> {
  const {
    count,
    every: everyMs,
    rounds,
    only: deployments,
    profile: profiles,
    json,
  } = readOptions(HELP, {
    count: 150,
    every: 200,
    rounds: 3,
    only: someOf(['distributed', 'embedded'], { orNone: true }),
    profile: null,
    json: false,
  });
  const writeMs = await measureWrite();
  requireBuild();
  const samples: Sample[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    for (const deployment of deployments) {
      const profile = profiles === null ? null : join(profiles, deployment);
      const tookMs = await measureLatency({ deployment, count, everyMs, profile });
      const [p50, p95, most] = [percentile(tookMs, 0.5), percentile(tookMs, 0.95), Math.max(...tookMs)];
      samples.push({ deployment, p50, p95, most });
      console.error(`round ${round}: ${deployment}: p50 ${short(p50)}, p95 ${short(p95)}, at most ${short(most)} ms`);
    }
  }
  const of = (deployment: Deployment, figure: 'p50' | 'p95' | 'most'): number =>
    median(samples.filter((sample) => sample.deployment === deployment).map((sample) => sample[figure]));
  const goals = deployments.flatMap((deployment): Goal[] => [
    {
      name: `latency-${deployment}-p50-ms-at-most`,
      wanted: { atMost: WANTED_P50[deployment] },
      measured: of(deployment, 'p50'),
    },
    { name: `latency-${deployment}-p95-ms-at-most`, wanted: { atMost: WANTED_P95 }, measured: of(deployment, 'p95') },
  ]);
  if (json) {
    console.log(JSON.stringify({ count, everyMs, samples, writeMs, goals }, null, 2));
    return 0;
  }
  const load = short(loadavg()[0] ?? 0);
  console.log(
    `${availableParallelism()} cores, load ${load} at the end; ${count} deliveries, ${rounds} rounds, medians`,
  );
  const table = new Table({
    head: ['deployment', 'p50 ms', 'p95 ms', 'at most ms'],
    style: { head: [], border: [] },
    colAligns: ['left', 'right', 'right', 'right'],
  });
  for (const deployment of deployments)
    table.push([deployment, short(of(deployment, 'p50')), short(of(deployment, 'p95')), short(of(deployment, 'most'))]);
  if (deployments.length > 0) console.log(table.toString());
  console.log(`a write over TLS at ${ROUND_TRIP_MS} ms a round trip: ${short(writeMs)} ms right after a read`);
  for (const goal of goals) console.log(goalLine(goal));
  return 0;
}

process.exitCode = await main();
