import { fork } from 'node:child_process';
import { availableParallelism, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { BUGS, type Bug } from './bugs.js';
import { findingsOf } from './finding.js';
import { simulate } from './simulate.js';
import { Tally, type Counts } from './tally.js';

const HELP = `npm run storms -- simulation [options]

  --seeds N       how many seeds are played (default 1,000)
  --from S        the first of them (default 1)
  --processes N   processes that share them (default one for each processor, at most four)
  --seed S        play this seed alone and print its trace
  --bug NAME      with a planted bug, which must be found:
${BUGS.map(({ name }) => `                    ${name}`).join('\n')}

Prints what was hit, and ends with 0 only when nothing was broken.
`;
const GOAL_SEEDS = 10_000;
const GOAL_S = 300;
/** Fewer are done before a second process has read its modules. */
const FEW = 100;

const values = readOptions();
const bug = values.bug === undefined ? null : (BUGS.find(({ name }) => name === values.bug) ?? null);
if (values.bug !== undefined && !bug) {
  console.error(`no such bug; there are: ${BUGS.map(({ name }) => `"${name}"`).join(', ')}`);
  process.exit(2);
}
const from = whole(values.seed ?? values.from, 1);
const seeds = values.seed === undefined ? whole(values.seeds, 1_000) : 1;

if (values.share !== undefined) await playShare(values.share, bug);
else await playAll();

/** Wrong options end the process, as `--help` does. */
function readOptions() {
  try {
    const { values: given } = parseArgs({
      options: {
        seeds: { type: 'string' },
        from: { type: 'string' },
        seed: { type: 'string' },
        bug: { type: 'string' },
        processes: { type: 'string' },
        /** Of a process that plays its share: which of how many. */
        share: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    if (!given.help) return given;
    console.log(HELP);
    return process.exit(0);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${HELP}`);
    return process.exit(2);
  }
}

/** What a process that plays a share tells the one that started it. */
type Told =
  | { readonly done: number }
  | { readonly finding: string }
  | { readonly counts: Counts; readonly cpuS: number };

async function play(first: number, step: number, planted: Bug | null, tell: (told: Told) => void): Promise<void> {
  const tally = new Tally();
  for (let seed = first; seed < from + seeds; seed += step) {
    const result = await simulate(seed, { bug: planted, keepsLines: values.seed !== undefined });
    tally.add(result);
    for (const line of result.lines) console.log(line);
    for (const line of findingsOf(result, planted)) tell({ finding: line });
    tell({ done: 1 });
  }
  const { user, system } = process.cpuUsage();
  tell({ counts: tally.counts(), cpuS: (user + system) / 1_000_000 });
}

async function playShare(share: string, planted: Bug | null): Promise<void> {
  const [index, of] = share.split('/').map(Number) as [number, number];
  await play(from + index, of, planted, (told) => process.send?.(told));
  process.disconnect();
}

async function playAll(): Promise<void> {
  const tally = new Tally();
  const startedMs = performance.now();
  const processes =
    seeds < FEW ? 1 : Math.max(1, Math.min(whole(values.processes, Math.min(4, availableParallelism())), seeds));
  let [done, cpuS] = [0, 0];
  const hear = (told: Told): void => {
    if ('finding' in told) return console.log(told.finding);
    if ('counts' in told) {
      tally.addCounts(told.counts);
      cpuS += told.cpuS;
    } else if ((done += told.done) % 500 === 0)
      console.error(`${done} of ${seeds} seeds in ${((performance.now() - startedMs) / 1_000).toFixed(0)} s`);
  };
  if (processes === 1) await play(from, 1, bug, hear);
  else await Promise.all(Array.from({ length: processes }, (_, index) => inProcess(`${index}/${processes}`, hear)));
  const seconds = (performance.now() - startedMs) / 1_000;
  for (const line of tally.report(seeds >= GOAL_SEEDS)) console.log(line);
  console.log(
    `${seeds} seeds from ${from} in ${seconds.toFixed(1)} s in ${processes} ${processes === 1 ? 'process' : 'processes'}, ` +
      `${cpuS.toFixed(1)} s of processor time, load ${loadavg()[0]?.toFixed(1)}`,
  );
  if (seeds === GOAL_SEEDS)
    console.log(
      `goal simulation: wanted ${GOAL_S} s, measured ${seconds.toFixed(0)} s, ${seconds <= GOAL_S ? 'met' : 'missed'}`,
    );
  const isWhole = done === seeds && (seeds < GOAL_SEEDS || tally.missing().length === 0);
  process.exitCode = tally.broken.length === 0 && isWhole ? 0 : 1;
}

/** A share of the seeds in a process of its own. @throws Error when it does not come to its end */
function inProcess(share: string, hear: (told: Told) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), [...process.argv.slice(2), '--share', share]);
    let isEnded = false;
    child.on('message', (told: Told) => {
      isEnded ||= 'counts' in told;
      hear(told);
    });
    child.once('error', reject);
    child.once('exit', (code) =>
      isEnded ? resolve() : reject(new Error(`the process of share ${share} ended with status ${code}`)),
    );
  });
}

function whole(text: string | undefined, otherwise: number): number {
  const number = Number(text ?? otherwise);
  if (Number.isInteger(number) && number >= 0) return number;
  console.error(`${text ?? ''} is no whole number`);
  process.exit(2);
}
