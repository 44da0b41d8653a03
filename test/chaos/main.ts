// npm run storms -- storm|GOAL|power|peer [--seed N] [--minutes N] [--deployment embedded|distributed] [--slice|--full [--resume FILE]] [--logs DIR] [--json]
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { requireBuild } from '../e2e/support/built.js';
import { ROOT } from '../services/with-services.mjs';
import { isBuildStale } from '../tools/is-build-stale.mjs';
import { canStartOwnPostgres, canStartOwnRedis } from '../services/own-server.mjs';
import {
  bigStorm,
  deploymentsOf,
  GOALS,
  overloadOf,
  powerCutsOf,
  SEGMENTS,
  stormsOf,
  type Goal,
  type StormGoal,
} from './goals.js';
import { FULL, runTimeGoal, tellTimeGoal } from './time/run-time-goal.js';
import { LOSSES, runLossGoal, tellLossGoal } from './loss-goal.js';
import { runOverload } from './overload/overload-goal.js';
import { linesOfOverload, wrongOf } from './overload/overload-report.js';
import { runPowerCuts } from './power/power-goal.js';
import { linesOfPower, wrongOfPower } from './power/power-report.js';
import { runBullPeer } from './peer/bull-peer.js';
import { faultsOf, linesOf, type StormReport } from './report.js';
import type { Deployment } from './rig/fleet.js';
import { runStorm, type Storm } from './storm.js';

const HELP = `npm run storms -- NAME [options]      kills the bot, its stores and its connections, and lets the forge's own ledger judge

  storm               everything at once
  ${GOALS.filter((goal) => goal !== 'power').join(', ')}
                      one goal's own count; G13 and, without --deployment, G4 in virtual time
  power               cuts of the power under the embedded store
  peer                the storm of G2 against a bare Bull worker

  --seed N            the schedule of every blow and fault; a new one when left out
  --minutes N         length of the storm (10)
  --deployment NAME   embedded or distributed; of the storm the second when left out, of a goal both
  --slice             the small counts of a goal
  --settle SECONDS    settle time of the bot in place of 6 (its default is 60)
  --full              the full count of a goal, in runs of their own
  --resume FILE       keep what the runs gave in this file, and go on from there
  --logs DIR          keep what the processes print in this folder, and the bot's own folder when anything is wrong
  --json              the reports as JSON lines on stdout, all else on stderr

Status: 0 nothing lost, doubled, phantom or stuck, and every planned fault hit; 1 otherwise; 2 the storm is void, or the command was wrong.`;

const options = readOptions();
const say = (line: string): void => void (options.json ? process.stderr : process.stdout).write(`${line}\n`);
process.exitCode = await main();

async function main(): Promise<number> {
  // Virtual time alone: neither a build nor a server is needed.
  if (options.only === 'G13') return timeGoal();
  if (options.only === 'G4' && options.deployment === null) return lossGoal();
  requireBuild();
  if (isBuildStale(ROOT)) {
    say('the build is older than the sources: npm run build');
    return 2;
  }
  if (options.only === 'power') return powerGoal();
  if (!canStartOwnPostgres || !canStartOwnRedis) {
    say(
      'a PostgreSQL and a Redis of its own are needed, and this machine has no binaries of theirs: see test/services',
    );
    return 2;
  }
  const { seed, only, peer } = options;
  say(`seed ${seed}`);
  if (peer) return runBullPeer(seed, say);
  say('new policies of its bots are trusted (orgs[].trusted: true): nobody is there to approve them');
  if (only === 'G14') return overloadGoal();
  const storms = only
    ? goalStorms(only)
    : [{ id: 'storm', storm: settled(bigStorm(options.deployment ?? 'distributed', seed, options.minutes)) }];
  return sumUp(await runAll(storms));
}

async function lossGoal(): Promise<number> {
  say(`seed ${options.seed}`);
  const report = await runLossGoal(options.seed, LOSSES, say);
  const { lines, holds } = tellLossGoal(report);
  for (const line of lines) say(line);
  if (options.json) process.stdout.write(`${JSON.stringify(report)}\n`);
  return holds ? 0 : 1;
}

async function powerGoal(): Promise<number> {
  const { seed, slice, full, json } = options;
  say(`seed ${seed}`);
  const report = await runPowerCuts(powerCutsOf(slice ? 'slice' : full ? 'full' : 'ci', seed), say);
  for (const line of linesOfPower(report)) say(line);
  const wrong = wrongOfPower(report);
  for (const line of wrong) say(`  wrong: ${line}`);
  if (json) process.stdout.write(`${JSON.stringify(report)}\n`);
  return wrong.length > 0 ? 1 : 0;
}

async function overloadGoal(): Promise<number> {
  const { deployment, full, slice, seed, logs, json } = options;
  let isWrong = false;
  for (let segment = 0; segment < (full ? SEGMENTS.G14 : 1); segment += 1) {
    for (const one of deployment ? [deployment] : deploymentsOf('G14')) {
      const report = await runOverload(overloadOf(one, slice ? 'slice' : 'ci', seed + segment), say, logs ?? undefined);
      for (const line of linesOfOverload(report)) say(line);
      const wrong = wrongOf(report);
      for (const line of wrong) say(`  wrong: ${line}`);
      if (json) process.stdout.write(`${JSON.stringify(report)}\n`);
      isWrong ||= wrong.length > 0;
    }
  }
  return isWrong ? 1 : 0;
}

async function timeGoal(): Promise<number> {
  say(`seed ${options.seed}`);
  const report = await runTimeGoal({ ...FULL, seed: options.seed }, say);
  const { lines, holds } = tellTimeGoal(report);
  for (const line of lines) say(line);
  if (options.json) process.stdout.write(`${JSON.stringify(report)}\n`);
  return holds ? 0 : 1;
}

interface Planned {
  /** What the resume file knows it by. */
  readonly id: string;
  readonly storm: Storm;
}

function goalStorms(goal: StormGoal): Planned[] {
  const deployments = options.deployment ? [options.deployment] : deploymentsOf(goal);
  const segments = options.full ? SEGMENTS[goal] : 1;
  return Array.from({ length: segments }, (_, segment) => segment).flatMap((segment) =>
    deployments.flatMap((deployment) =>
      stormsOf(goal, deployment, options.slice ? 'slice' : 'ci', options.seed + segment).map((storm, part) => ({
        id: `${goal}${options.slice ? ' slice' : ''}/${deployment}/${segment}/${part}/${options.seed + segment}/${options.settle ?? storm.settleS}`,
        storm: settled(storm),
      })),
    ),
  );
}

function settled(storm: Storm): Storm {
  return options.settle === null ? storm : { ...storm, settleS: options.settle };
}

async function runAll(storms: readonly Planned[]): Promise<StormReport[]> {
  const done = new Map<string, StormReport>(Object.entries(readResume()));
  for (const [n, { id, storm }] of storms.entries()) {
    if (done.has(id)) {
      say(`${id}: done before`);
      continue;
    }
    say(`run ${n + 1} of ${storms.length}: ${id}`);
    const report = await runStorm(storm, say, options.logs ?? undefined);
    tell(report);
    done.set(id, report);
    if (options.resume) writeFileSync(options.resume, JSON.stringify(Object.fromEntries(done)));
  }
  return storms.flatMap(({ id }) => done.get(id) ?? []);
}

function readResume(): Record<string, StormReport> {
  if (!options.resume || !existsSync(options.resume)) return {};
  return JSON.parse(readFileSync(options.resume, 'utf8')) as Record<string, StormReport>;
}

function tell(report: StormReport): void {
  for (const line of linesOf(report)) say(line);
  for (const line of faultsOf(report).wrong) say(`  wrong: ${line}`);
  if (options.json) process.stdout.write(`${JSON.stringify(report)}\n`);
}

function sumUp(reports: readonly StormReport[]): number {
  const sum = (of: (report: StormReport) => number): number => reports.reduce((total, report) => total + of(report), 0);
  const judged = reports.map(faultsOf);
  const isVoid = judged.some((one) => one.isVoid);
  const isWrong = judged.some(({ wrong }) => wrong.length > 0);
  if (reports.length > 1)
    say(
      `${reports.length} runs: ${sum(({ phases, receiverKills }) => phases.kills + receiverKills)} kills, ${sum(({ wanted }) => wanted)} effects wanted, ${sum(({ made }) => made)} made`,
    );
  if (isVoid) say('void: fewer than 30 % of the kills fell between sent and its answer');
  say(
    `lost ${sum(({ lost }) => lost.length)}, doubled ${sum(({ doubled }) => doubled.length)}, phantom ${sum(({ phantom }) => phantom.length)}, stuck ${sum(({ stuck }) => stuck.length)}`,
  );
  if (isVoid && !isWrong) return 2;
  return isWrong ? 1 : 0;
}

interface Options {
  readonly seed: number;
  readonly minutes: number;
  readonly deployment: Deployment | null;
  readonly only: Goal | null;
  readonly settle: number | null;
  readonly slice: boolean;
  readonly full: boolean;
  readonly resume: string | null;
  readonly peer: boolean;
  readonly logs: string | null;
  readonly json: boolean;
}

function readOptions(): Options {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        seed: { type: 'string' },
        minutes: { type: 'string', default: '10' },
        deployment: { type: 'string' },
        settle: { type: 'string' },
        slice: { type: 'boolean', default: false },
        full: { type: 'boolean', default: false },
        resume: { type: 'string' },
        logs: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) {
      console.log(HELP);
      process.exit(0);
    }
    const { deployment, settle } = values;
    const [name = 'storm', ...more] = positionals;
    if (deployment !== undefined && deployment !== 'embedded' && deployment !== 'distributed')
      throw new Error('--deployment is embedded or distributed');
    const only = (GOALS as readonly string[]).includes(name) ? (name as Goal) : null;
    if (more.length > 0 || (only === null && name !== 'storm' && name !== 'peer'))
      throw new Error(`one of storm, ${GOALS.join(', ')}, peer`);
    if ((values.full || values.slice) && only === null) throw new Error('--full and --slice go with a goal');
    if (values.full && values.slice) throw new Error('--slice is the small count, --full the whole one: one of them');
    // Else the first process that ends has nowhere to leave what it printed.
    if (values.logs !== undefined) mkdirSync(values.logs, { recursive: true });
    return {
      seed: values.seed === undefined ? randomInt(1, 2 ** 31) : number('--seed', values.seed),
      minutes: number('--minutes', values.minutes),
      deployment: deployment ?? null,
      only,
      settle: settle === undefined ? null : number('--settle', settle),
      slice: values.slice,
      full: values.full,
      resume: values.resume ?? null,
      peer: name === 'peer',
      logs: values.logs ?? null,
      json: values.json,
    };
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${HELP}`);
    process.exit(2);
  }
}

function number(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new Error(`${name} is a number above 0`);
  return value;
}
