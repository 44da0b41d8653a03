import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from '../services/with-services.mjs';
import { isBuildStale } from '../tools/is-build-stale.mjs';
import { fileOf, FOLDER, readEvidence, renderPage, type EvidenceRun, type GoalName } from './evidence.js';
import { EVIDENCE_GOALS, readResume, type EvidenceGoal, type PartResult } from './goals.js';

const HELP = `npm run evidence -- [--nightly] [GOAL...]      the full count of each goal (of all when none is named), written to evidence/GOAL.json and docs/evidence.md

  goals: ${EVIDENCE_GOALS.map(({ name }) => name).join(', ')}, ten-passes
  --nightly: one run of each goal that has many, kept beside its release run
  ten-passes: every tier of the tests, ten times in a row, two busy loops beside; only when named

What is there for this commit is not run again, and a goal that was broken off goes on with the part at which it was.
Status: 0 every goal is met; 1 one is missed; 2 the command was wrong, or the tree has changes that are in no commit.`;

const TEN_PASSES = 'ten-passes';
const NIGHTLY = '--nightly';
const PASSES = 10;
const TIERS = [['types', 'unit', 'architecture'], ['integration'], ['e2e']];
const BUSY_LOOPS = 2;
/** What runs of a commit have given so far; not kept with the project. */
const partialOf = (commit: string): string => join(FOLDER, 'partial', commit);

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    console.log(HELP);
    return 0;
  }
  const isNightly = args.includes(NIGHTLY);
  const named = args.filter((arg) => arg !== NIGHTLY);
  const known: readonly string[] = [...EVIDENCE_GOALS.map(({ name }) => name), TEN_PASSES];
  const unknown = named.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    console.error(`no such goal: ${unknown.join(', ')}\n\n${HELP}`);
    return 2;
  }
  const changed = git('status', '--porcelain', '--', '.', ':!evidence', ':!docs/evidence.md');
  if (changed !== '') {
    console.error(`evidence names a commit, and these changes are in none:\n${changed}`);
    return 2;
  }
  const commit = commitOfSources();
  const goals = EVIDENCE_GOALS.filter(({ name }) => named.length === 0 || named.includes(name));
  const single = isNightly && goals.find(({ nightly }) => !nightly);
  if (single) {
    console.error(`${single.name} has no nightly run, only one count: name it without ${NIGHTLY}`);
    return 2;
  }
  const isBuilt = !goals.some(({ needsBuild }) => needsBuild) || !isBuildStale(ROOT);
  if (!isBuilt && (await run(['build'], join(partialOf(commit), 'build.log'), [])).status !== 0) return 2;
  let isMet = true;
  for (const goal of goals) isMet = (await prove(goal, commit, isNightly)) && isMet;
  if (named.includes(TEN_PASSES)) isMet = (await tenPasses(commit)) && isMet;
  return isMet ? 0 : 1;
}

/** The last commit that changed more than evidence: a commit of evidence does not make it old. */
function commitOfSources(): string {
  return git('log', '-1', '--format=%h', '--', '.', ':!evidence', ':!docs/evidence.md');
}

function git(...args: string[]): string {
  const { stdout, stderr, status } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${args[0]}: ${stderr}`);
  return stdout.trim();
}

async function prove(goal: EvidenceGoal, commit: string, isNightly: boolean): Promise<boolean> {
  const kept = keptRun(goal.name, commit, isNightly);
  if (kept) return tell(goal.name, kept, 'is written for this commit already');
  const folder = join(partialOf(commit), isNightly ? 'nightly' : '');
  const results: PartResult[] = [];
  const loads: number[] = [];
  for (const { id, command } of (isNightly && goal.nightly) || goal.parts) {
    const [resume, whole] = [join(folder, `${id}.resume.json`), join(folder, `${id}.json`)];
    if (!existsSync(whole)) {
      const result = await run(command(resume), join(folder, `${id}.log`), loads);
      // Void, or not possible here: it says nothing about the goal.
      if (result.status === 2) {
        console.error(`${id} ended with status 2: nothing is written; what it left is in ${folder}`);
        process.exit(2);
      }
      writeFileSync(whole, JSON.stringify({ id, ...result, resume: readResume(resume) }));
    }
    results.push(JSON.parse(readFileSync(whole, 'utf8')) as PartResult);
  }
  const date = today();
  const load = loadOf(loads);
  const judged = goal.judge(results, { commit, date, load });
  return keep(goal.name, {
    commit,
    date,
    seed: goal.seed === null ? null : String(goal.seed),
    machine: machineOf(load),
    ...(isNightly && { isNightly }),
    ...judged,
    met: results.every(({ status }) => status === 0),
  });
}

function runsOf(goal: GoalName): readonly EvidenceRun[] {
  return readEvidence().find((evidence) => evidence.goal === goal)?.runs ?? [];
}

function keptRun(goal: GoalName, commit: string, isNightly: boolean): EvidenceRun | undefined {
  return runsOf(goal).find((run) => run.commit === commit && (run.isNightly ?? false) === isNightly);
}

/** In place of what was there, and in the page. A nightly run stands beside the release run of an older commit. */
function keep(goal: GoalName, run: EvidenceRun): boolean {
  const beside = run.isNightly ? runsOf(goal).filter(({ isNightly }) => !isNightly) : [];
  writeFileSync(fileOf(goal), `${JSON.stringify({ goal, runs: [...beside, run] }, null, 2)}\n`);
  const page = join(ROOT, 'docs/evidence.md');
  writeFileSync(page, renderPage(readFileSync(page, 'utf8'), readEvidence()));
  return tell(goal, run, 'is written');
}

function tell(goal: GoalName, { wanted, measured, met }: EvidenceRun, what: string): boolean {
  console.log(`${goal}: evidence/${goal}.json ${what}`);
  console.log(`goal ${goal}: wanted ${wanted}, measured ${measured}, ${met ? 'met' : 'missed'}`);
  return met !== false;
}

/** Its output goes to the terminal and to a log; what went to stdout is the result. */
function run(command: readonly string[], log: string, loads: number[]): Promise<Omit<PartResult, 'id' | 'resume'>> {
  console.log(`npm run ${command.join(' ')}`);
  const startedAt = Date.now();
  mkdirSync(dirname(log), { recursive: true });
  rmSync(log, { force: true });
  const child = spawn('npm', ['run', '--silent', ...command], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
  });
  const timer = setInterval(() => loads.push(loadavg()[0] ?? 0), 10_000);
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    appendFileSync(log, text);
    process.stdout.write(text);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    appendFileSync(log, text);
    process.stderr.write(text);
  });
  const stop = (): void => void child.kill('SIGTERM');
  process.once('exit', stop);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status, signal) => {
      clearInterval(timer);
      process.off('exit', stop);
      // Broken off is no result: the next try begins here.
      if (signal !== null || status === null || status > 128) process.exit(130);
      resolve({ status, stdout, seconds: Math.round((Date.now() - startedAt) / 1000) });
    });
  });
}

interface Pass {
  readonly pass: number;
  readonly tier: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly seconds: number;
}

/** Tier by tier, each kept when it has ended. */
async function tenPasses(commit: string): Promise<boolean> {
  const kept = keptRun(TEN_PASSES, commit, false);
  if (kept) return tell(TEN_PASSES, kept, 'is written for this commit already');
  const folder = partialOf(commit);
  const file = join(folder, `${TEN_PASSES}.json`);
  const done = JSON.parse(readResume(file) ?? '[]') as Pass[];
  const loads: number[] = [];
  const loops = Array.from({ length: BUSY_LOOPS }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  const stop = (): void => loops.forEach((loop) => void loop.kill('SIGKILL'));
  process.once('exit', stop);
  try {
    for (let pass = 1; pass <= PASSES; pass += 1)
      for (const tiers of TIERS) {
        const tier = tiers.join(', ');
        if (done.some((one) => one.pass === pass && one.tier === tier)) continue;
        const { stdout, seconds } = await run(
          ['test', '--', ...tiers],
          join(folder, `pass-${pass}-${tiers[0]}.log`),
          loads,
        );
        const [passed = '0', failed = '1', skipped = '0'] =
          /^(\d+) passed, (\d+) failed, (\d+) skipped$/m.exec(stdout)?.slice(1) ?? [];
        done.push({ pass, tier, passed: Number(passed), failed: Number(failed), skipped: Number(skipped), seconds });
        writeFileSync(file, JSON.stringify(done));
      }
  } finally {
    stop();
    process.off('exit', stop);
  }
  const failed = done.reduce((sum, one) => sum + one.failed, 0);
  return keep(TEN_PASSES, {
    commit,
    date: today(),
    seed: null,
    machine: machineOf(`${loadOf(loads)}, ${BUSY_LOOPS} busy loops beside`),
    wanted: 'failed 0',
    measured: `failed ${failed}`,
    met: failed === 0,
    rows: {
      [TEN_PASSES]: done.map((one) => [
        ...[one.pass, one.tier, one.passed, one.failed, one.skipped].map(String),
        `${one.seconds} s`,
      ]),
    },
  });
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}

/** From when to when, where this try ran something. */
function loadOf(loads: readonly number[]): string {
  if (loads.length === 0) return 'load not kept';
  const [least, most] = [Math.round(Math.min(...loads)), Math.round(Math.max(...loads))];
  return least === most ? `load ${least}` : `load ${least} to ${most}`;
}

function machineOf(load: string): string {
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${availableParallelism()} cores, ${memory} GiB, Node ${process.versions.node.split('.')[0]}, ${load}`;
}
