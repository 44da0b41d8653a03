// npm run bench -- console: how fast the Console's pages are over a long history, and what people who look at it cost the deliveries.
import { availableParallelism, loadavg } from 'node:os';
import Table from 'cli-table3';
import { requireBuild } from '../../test/e2e/support/built.js';
import type { Deployment } from '../../test/chaos/rig/fleet.js';
import { goalLine, short, type Goal } from '../support/figures.js';
import { readOptions, someOf } from '../support/options.js';
import { measureConsole, type ConsoleMeasured } from './measure.js';

const HELP = `npm run bench -- console [options]

  --runs N          runs that a PostgreSQL store holds (default 1000000)
  --embedded-runs N runs that an embedded store holds (default 100000)
  --looks N         requests for each page (default 50)
  --count N         deliveries that are sent without viewers, and again with them (default 2000)
  --viewers N       people who ask for every page and a back-test over 30 days in a loop (default 5)
  --only LIST       of distributed,embedded (default both)
  --json            figures as JSON on stdout
`;

const WANTED_PAGE_MS = 150;
/** What viewers may cost: a fifth. */
const WANTED_ACK_RATIO = 1.2;
const WANTED_DRAIN_RATIO = 0.8;

async function main(): Promise<number> {
  const options = readOptions(HELP, {
    runs: 1_000_000,
    'embedded-runs': 100_000,
    looks: 50,
    count: 2000,
    viewers: 5,
    only: someOf(['distributed', 'embedded']),
    json: false,
  });
  requireBuild();
  const measured: Array<{ deployment: Deployment; runs: number; figures: ConsoleMeasured }> = [];
  for (const deployment of options.only) {
    const runs = deployment === 'embedded' ? options['embedded-runs'] : options.runs;
    const { looks, count, viewers } = options;
    measured.push({ deployment, runs, figures: await measureConsole({ deployment, runs, looks, count, viewers }) });
  }
  const goals = measured.flatMap(({ deployment, figures: { pages, alone, watched } }): Goal[] => [
    {
      name: `console-${deployment}-page-p95-ms-at-most`,
      wanted: { atMost: WANTED_PAGE_MS },
      measured: Math.max(...pages.values()),
    },
    {
      name: `console-${deployment}-acknowledgement-p99-with-viewers-to-without-at-most`,
      wanted: { atMost: WANTED_ACK_RATIO },
      measured: watched.ackP99Ms / alone.ackP99Ms,
    },
    {
      name: `console-${deployment}-drain-with-viewers-to-without`,
      wanted: { atLeast: WANTED_DRAIN_RATIO },
      measured: watched.perS / alone.perS,
    },
  ]);
  if (options.json) {
    const told = measured.map(({ figures, ...of }) => ({
      ...of,
      ...figures,
      pages: Object.fromEntries(figures.pages),
    }));
    console.log(JSON.stringify({ measured: told, goals }, null, 2));
    return 0;
  }
  console.log(
    `${availableParallelism()} cores, load ${short(loadavg()[0] ?? 0)} at the end; ${options.viewers} viewers`,
  );
  for (const { deployment, runs, figures } of measured) {
    const table = new Table({
      head: [`${deployment}, ${runs.toLocaleString('en')} runs`, 'p95 ms'],
      style: { head: [], border: [] },
    });
    for (const [path, ms] of figures.pages) table.push([path, short(ms)]);
    console.log(table.toString());
    for (const [name, { ackP99Ms, perS }] of [
      ['alone', figures.alone],
      ['with viewers', figures.watched],
    ] as const)
      console.log(`${name}: acknowledgement p99 ${short(ackP99Ms)} ms, ${short(perS)} deliveries decided a second`);
    console.log(`the viewers were given ${figures.viewed} pages`);
  }
  for (const goal of goals) console.log(goalLine(goal));
  return 0;
}

process.exitCode = await main();
