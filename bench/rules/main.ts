// npm run bench -- rules: what deciding costs by the number of rules, beside json-rules-engine and a plain loop over our own conditions.
import { availableParallelism, totalmem } from 'node:os';
import { installPeers } from '../support/install-peers.js';
import { CONTESTANTS, engine } from './contestants.js';
import { goalsOf, tableOf } from './report.js';
import { goalLine } from '../support/figures.js';
import { readOptions } from '../support/options.js';
import type { Setting } from './rounds.js';
import { playRounds } from './rounds.js';
import { mixedRules, passingRules, workloadOf } from './workload.js';

const HELP = `npm run bench -- rules [options]

  --rounds N        rounds; ratios are taken within each and their median is told (default 9)
  --ms N            milliseconds that each one runs at each number of rules, in each round (default 150)
  --rules L         numbers of rules, by commas (default 10,100,1000,10000)
  --json            figures as JSON on stdout
`;

const say = (line: string): void => console.error(line);

async function main(): Promise<number> {
  const {
    rounds,
    ms,
    rules: counts,
    json,
  } = readOptions(HELP, { rounds: 9, ms: 150, rules: [10, 100, 1_000, 10_000], json: false });
  const hasPeer = installPeers('json-rules-engine', say);
  const contestants = CONTESTANTS.filter(({ key }) => hasPeer || key !== 'json-rules-engine');
  const settings: Setting[] = [];
  for (const rules of counts) {
    say(`compiling ${rules} rules ...`);
    settings.push({
      rules,
      shape: 'five match',
      fires: Math.min(5, rules),
      workload: workloadOf(mixedRules(rules), engine),
    });
  }
  const most = Math.max(...counts);
  say(`compiling ${most} rules that all match ...`);
  settings.push({ rules: most, shape: 'all match', fires: most, workload: workloadOf(passingRules(most), engine) });
  const samples = await playRounds(contestants, settings, { rounds, ms, say });
  const goals = goalsOf(samples);
  if (json) {
    console.log(JSON.stringify({ machine: machine(), samples, goals }, null, 2));
    return 0;
  }
  console.log(machine());
  console.log(tableOf(samples, contestants, settings));
  console.log(
    'processor time, medians of the rounds; events per s: of one processor; x: time by the time of "Forgehand, as the bot decides" in the same round, median',
  );
  for (const goal of goals) console.log(goalLine(goal));
  return 0;
}

function machine(): string {
  return `${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, node ${process.versions.node}`;
}

process.exitCode = await main();
