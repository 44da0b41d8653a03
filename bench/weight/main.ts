// npm run bench -- weight: what the bot takes as whole processes: processor time of starts and commands, memory, an idle core's share, disk.
import { spawnSync } from 'node:child_process';
import { availableParallelism, loadavg } from 'node:os';
import Table from 'cli-table3';
import { FORGEHAND, requireBuild } from '../../test/e2e/support/built.js';
import { goalLine, median, short, type Goal } from '../support/figures.js';
import { readOptions, someOf } from '../support/options.js';
import { ORGANIZATION_RULES } from '../support/organization-rules.js';
import { distributedWeights, embeddedWeights, quietForge, ROLES, type Weight } from './bots.js';
import { loadings } from './loading.js';
import { bytesOfOrganization } from './organizations.js';
import { installedPackages } from './packages.js';
import { commandsS } from './processor-time.js';

const HELP = `npm run bench -- weight [options]

  --rounds N      rounds of each measure; medians are printed (default 3)
  --idle N        seconds in which nothing happens, in each round (default 30)
  --orgs N        organizations of the bot (default 10)
  --only LIST     of commands, loading, embedded, distributed, organizations, packages (default all)
  --json          figures as JSON on stdout

Linux only: processor time and memory come from /proc.
`;
const PARTS = ['commands', 'loading', 'embedded', 'distributed', 'organizations', 'packages'] as const;
type Part = (typeof PARTS)[number];

/** Commands in one round: the kernel counts processor time in hundredths of a second. */
const REPEATS = 10;

interface Figure {
  readonly name: string;
  readonly unit: 's' | 'KB' | 'MB' | '% of a core';
  /** Absent = no goal: it is printed to compare. */
  readonly atMost?: number;
  /** One value for each round. */
  readonly values: readonly number[];
}

const say = (line: string): void => console.error(line);

async function main(): Promise<number> {
  const {
    rounds,
    idle: idleS,
    orgs,
    only,
    json,
  } = readOptions(HELP, { rounds: 3, idle: 30, orgs: 10, only: someOf(PARTS), json: false });
  if (only.some((part) => part !== 'organizations')) requireBuild();
  const figures: Figure[] = [];
  for (const part of PARTS.filter((name) => only.includes(name))) {
    say(`${part} ...`);
    figures.push(...(await MEASURES[part](rounds, idleS, orgs)));
  }
  const goals = figures.flatMap(({ name, atMost, values }): Goal[] =>
    atMost === undefined ? [] : [{ name, wanted: { atMost }, measured: values.length > 0 ? median(values) : null }],
  );
  if (json) {
    console.log(JSON.stringify({ figures, goals }, null, 2));
    return 0;
  }
  console.log(
    `${availableParallelism()} cores, load ${short(loadavg()[0] ?? 0)} at the end, Node ${process.versions.node}; ${orgs} organizations, ${rounds} rounds, medians`,
  );
  const table = new Table({
    head: ['what', 'median', 'least', 'greatest', 'unit'],
    style: { head: [], border: [] },
    colAligns: ['left', 'right', 'right', 'right', 'left'],
  });
  for (const { name, unit, values: each } of figures)
    table.push([name, short(median(each)), short(Math.min(...each)), short(Math.max(...each)), unit]);
  console.log(table.toString());
  for (const goal of goals) console.log(goalLine(goal));
  return 0;
}

const MEASURES: Record<Part, (rounds: number, idleS: number, orgs: number) => Promise<Figure[]>> = {
  commands: async (rounds) => [
    { name: 'node-start', unit: 's', values: commandS(rounds, ['--eval', '0']) },
    { name: 'command-help', unit: 's', atMost: 0.15, values: commandS(rounds, [FORGEHAND, '--help']) },
    {
      name: 'command-check',
      unit: 's',
      atMost: 0.5,
      values: commandS(rounds, [FORGEHAND, 'check', ORGANIZATION_RULES]),
    },
  ],
  loading: async (rounds) => {
    const found = loadings(rounds * REPEATS);
    return [
      { name: 'loading', unit: 's', values: found.map(({ cpuS }) => cpuS) },
      { name: 'loading-rss', unit: 'MB', values: found.map((one) => one.rssMb) },
    ];
  },
  embedded: async (rounds, idleS, orgs) => {
    const forged = await quietForge(orgs);
    try {
      const weights = await embeddedWeights(forged, rounds, idleS);
      return [
        { name: 'embedded-start', unit: 's', atMost: 1.5, values: weights.map(({ startS }) => startS) },
        { name: 'embedded-rss', unit: 'MB', atMost: 250, values: weights.map(({ rssMb }) => rssMb) },
        { name: 'embedded-idle', unit: '% of a core', atMost: 1, values: weights.map((one) => one.idlePercent) },
      ];
    } finally {
      await forged.forge.stop();
    }
  },
  distributed: async (rounds, idleS, orgs) => {
    const forged = await quietForge(orgs);
    try {
      const weights = await distributedWeights(forged, rounds, idleS);
      const of = (role: number, pick: (weight: Weight) => number): number[] =>
        weights.flatMap((round) => (round[role] ? [pick(round[role])] : []));
      return ROLES.flatMap((role, index): Figure[] => [
        { name: `${role}-start`, unit: 's', values: of(index, ({ startS }) => startS) },
        { name: `${role}-rss`, unit: 'MB', atMost: MOST_RSS_MB[role], values: of(index, ({ rssMb }) => rssMb) },
        { name: `${role}-idle`, unit: '% of a core', values: of(index, ({ idlePercent }) => idlePercent) },
      ]);
    } finally {
      await forged.forge.stop();
    }
  },
  organizations: async () => [
    {
      name: 'organization-shared-rules',
      unit: 'KB',
      atMost: 50,
      values: [(await bytesOfOrganization('shared')) / 1024],
    },
    { name: 'organization-own-rules', unit: 'KB', values: [(await bytesOfOrganization('own')) / 1024] },
  ],
  packages: async () => {
    const found = installedPackages();
    for (const { name, mb } of found?.largest.slice(0, 5) ?? []) say(`  ${name}: ${short(mb)} MB`);
    return [{ name: 'packages', unit: 'MB', atMost: 120, values: found ? [found.mb] : [] }];
  },
};

const MOST_RSS_MB: Readonly<Record<(typeof ROLES)[number], number>> = { worker: 180, scheduler: 150, web: 150 };

/** Processor time of one command in each round. */
function commandS(rounds: number, args: readonly string[]): number[] {
  const run = (): void => {
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}: ${stderr}`);
  };
  run();
  return Array.from({ length: rounds }, () => {
    const before = commandsS();
    for (let n = 0; n < REPEATS; n += 1) run();
    return (commandsS() - before) / REPEATS;
  });
}

process.exitCode = await main();
