// npm run bench -- scale: what grows with the organizations, and with what the store keeps of what happened.
import { availableParallelism, loadavg } from 'node:os';
import Table from 'cli-table3';
import { requireBuild } from '../../test/e2e/support/built.js';
import { goalLine, short } from '../support/figures.js';
import { readOptions, someOf } from '../support/options.js';
import { goalsOf, type Sized } from './goals.js';
import { measureHistory } from './history.js';
import { measureOrganizations, type Figures } from './organizations.js';
import { simulatePolls } from './polls.js';

const HELP = `npm run bench -- scale [options]

  --organizations LIST  organizations of the bot, each with a repository and a rule (default 1,100)
  --minutes N           how long their calls are counted, the last one as the quiet minute (default 10)
  --deliveries LIST     deliveries that the store keeps, of 50 organizations (default 20000,200000)
  --polled LIST         organizations on five forges, whose polls are simulated (default 1000,10000)
  --only LIST           of organizations, history, polls (default all)
  --json                figures as JSON on stdout

Linux only. Everything is measured at each size, the smallest first; the last column has the largest beside the smallest.
`;
const MEASURES = ['organizations', 'history', 'polls'] as const;

const options = readOptions(HELP, {
  organizations: [1, 100],
  minutes: 10,
  deliveries: [20_000, 200_000],
  polled: [1_000, 10_000],
  only: someOf(MEASURES),
  json: false,
});
if (options.only.some((name) => name !== 'polls')) requireBuild();

const HOW: Record<(typeof MEASURES)[number], readonly [readonly number[], (size: number) => Promise<Figures>]> = {
  organizations: [options.organizations, (size) => measureOrganizations(size, options.minutes)],
  history: [options.deliveries, measureHistory],
  polls: [options.polled, simulatePolls],
};
const measured: Array<readonly [(typeof MEASURES)[number], Sized]> = [];
for (const name of MEASURES.filter((one) => options.only.includes(one))) {
  const [sizes, measure] = HOW[name];
  const sized: Array<readonly [number, Figures]> = [];
  for (const size of [...sizes].sort((a, b) => a - b)) {
    console.error(`${name}: ${size.toLocaleString('en')} ...`);
    sized.push([size, await measure(size)]);
  }
  measured.push([name, sized]);
}
const goals = measured.flatMap(([name, sized]) => (name === 'polls' ? [] : goalsOf(name, sized)));
if (options.json) console.log(JSON.stringify({ measured, goals }, null, 2));
else {
  console.log(
    `${availableParallelism()} cores, load ${short(loadavg()[0] ?? 0)} at the end, Node ${process.versions.node}`,
  );
  for (const [name, sized] of measured) console.log(tableOf(name, sized));
  for (const goal of goals) console.log(goalLine(goal));
}

function tableOf(name: string, sized: Sized): string {
  const [smallest, largest] = [sized[0]?.[1] ?? {}, sized.at(-1)?.[1] ?? {}];
  const compares = sized.length > 1;
  const table = new Table({
    head: [name, ...sized.map(([size]) => size.toLocaleString('en')), ...(compares ? ['largest to smallest'] : [])],
    style: { head: [], border: [] },
    colAligns: ['left', ...sized.map(() => 'right' as const), 'right'],
  });
  for (const [figure, value] of Object.entries(largest))
    table.push([
      figure,
      ...sized.map(([, figures]) => short(figures[figure] ?? NaN)),
      ...(compares ? [short(value / (smallest[figure] ?? NaN))] : []),
    ]);
  return table.toString();
}
