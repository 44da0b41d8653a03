// The test command. Plain Node without packages at the top: in an empty clone it installs them first.
//   node test/run.mjs [TIER...] [--keep-durations] [-- [PATH...] JEST ARGS...]      tiers: lint types unit architecture integration e2e
// A PATH is a part of a spec's path: only those specs of the tier run. --keep-durations writes how long each spec took to test/durations.json,
// by which the longest are started first.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { ROOT, withServices } from './services/with-services.mjs';
import { fastFolder } from './tools/fast-folder.mjs';
import { isBuildStale } from './tools/is-build-stale.mjs';

const inTest = (folders) => `^${ROOT.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}/test/(${folders})/`;

/** Workers for each processor: a tier that computes keeps one busy; a tier that waits for other processes leaves room for more. */
const COMPUTES = 1;
const WAITS = 1.5;
/** One PostgreSQL serves them all. */
const MOST_WORKERS = 8;

/** Ends a test or hook that hangs. No test is about it: what starts processes may take minutes on a busy machine. */
const HANGS_MS = '900000';

/** Every spec belongs to exactly one tier: unit is what no other tier claims. */
const TIERS = {
  unit: {
    jest: ['--testPathIgnorePatterns', '/node_modules/', inTest('architecture|integration|conformance|e2e')],
    workers: COMPUTES,
  },
  architecture: { jest: ['--testPathPatterns', inTest('architecture')], workers: COMPUTES },
  integration: {
    jest: ['--testPathPatterns', inTest('integration|conformance'), '--testTimeout', HANGS_MS],
    workers: COMPUTES,
    services: true,
  },
  e2e: {
    jest: ['--testPathPatterns', inTest('e2e'), '--testTimeout', HANGS_MS],
    workers: WAITS,
    services: true,
    built: true,
    browser: true,
  },
};
const DURATIONS = join(ROOT, 'test/durations.json');
/** Shorter specs need no place in the order. */
const LEAST_KEPT_S = 5;

const startedAt = Date.now();
const say = (line) => console.log(`[tests +${Math.round((Date.now() - startedAt) / 1000)}s] ${line}`);
const [wanted, jestArgs, keepsDurations] = readArguments(process.argv.slice(2));
const paths = pathsAtFront(jestArgs);
const total = { passed: 0, failed: 0, skipped: 0 };
const children = new Set();
let countedSeconds = 0;
process.once('exit', () => children.forEach((child) => child.kill('SIGTERM')));

installPackages();
const tiers = Object.keys(TIERS).filter((tier) => wanted.includes(tier));
const withServers = tiers.filter((name) => TIERS[name].services);
const needed = ['postgres', 'redis', 'pgbouncer', ...(tiers.some((name) => TIERS[name].browser) ? ['chromium'] : [])];
const isBuilt = tiers.some((name) => TIERS[name].built) ? build() : null;
// What computes runs beside what waits: either alone leaves processors idle.
await Promise.all([
  computingTiers(),
  withServers.length > 0 && withServices(runServiceTiers, { log: (line) => say(`services: ${line}`), only: needed }),
]);

if (total.failed > 0) process.exitCode = 1;
sayProcessorTime('services');
if (countedSeconds > 0) say(`all: ${Math.round(countedSeconds / 6) / 10} minutes of processor time`);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);

function readArguments(args) {
  const cut = args.indexOf('--');
  const given = cut === -1 ? args : args.slice(0, cut);
  const names = given.filter((name) => name !== '--keep-durations');
  const known = ['lint', 'types', ...Object.keys(TIERS)];
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    console.error(`no such tier: ${unknown.join(', ')} (there are: ${known.join(', ')})`);
    process.exit(2);
  }
  return [names.length > 0 ? names : known, cut === -1 ? [] : args.slice(cut + 1), names.length < given.length];
}

function installPackages() {
  // npm writes this file last: without it an install was broken off.
  if (existsSync(join(ROOT, 'node_modules/.package-lock.json'))) return;
  say('installing packages: npm ci');
  const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: ROOT,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (npm.status !== 0) {
    say('npm ci failed');
    process.exit(1);
  }
}

async function computingTiers() {
  if (wanted.includes('types')) await checkTypes();
  for (const name of tiers.filter((name) => !TIERS[name].services)) await runTier(name, {});
  // Last, when most of what starts processes has ended.
  if (wanted.includes('lint')) await checkStyle();
}

/** Oxlint and oxfmt, each counted as one failed test where it finds anything. */
async function checkStyle() {
  for (const script of ['lint', 'format']) {
    say(`npm run ${script}`);
    if ((await stream('npm', ['run', '--silent', script], {}, script)) === 0) continue;
    total.failed += 1;
    say(`${script} failed (counted as one failed test)`);
  }
}

/** TypeScript 7 takes a third of the time; the build and the linter need the interface of 6. */
async function checkTypes() {
  say('type check: tsc --noEmit');
  const status = await stream(
    process.execPath,
    [join(ROOT, 'node_modules/typescript/bin/tsc'), '--noEmit', '-p', 'tsconfig.json'],
    {},
    'type check',
  );
  if (status === 0) return;
  total.failed += 1;
  say('type check failed (counted as one failed test)');
}

/** e2e starts what users start: the built command line. */
async function build() {
  if (isBuildStale(ROOT)) say('building: npm run build');
  const status = isBuildStale(ROOT) ? await stream('npm', ['run', '--silent', 'build'], {}, 'build') : 0;
  if (status === 0) return;
  total.failed += 1;
  say('build failed (counted as one failed test)');
}

async function runServiceTiers({ env, missing }) {
  if (missing.length > 0) {
    const line = `!!! WITHOUT ${missing.join(' AND ').toUpperCase()}: every test of integration, conformance and e2e that needs it is left out and counted as skipped`;
    say(line);
    if (process.env.REQUIRE_SERVICES === '1') {
      total.failed += 1;
      say('REQUIRE_SERVICES=1: that is a failure (counted as one failed test)');
    }
  }
  await isBuilt;
  await Promise.all(withServers.map((tier) => runTier(tier, env)));
  if (missing.length > 0) say(`!!! left out for want of ${missing.join(' and ')}: see "skipped" below`);
}

async function runTier(tier, env) {
  say(`tier ${tier}`);
  const folder = mkdtempSync(join(tmpdir(), 'forgehand-jest-'));
  // An embedded store is a thousand files, each flushed when it is made: on a disk that costs more than all else a test does.
  const scratch = mkdtempSync(join(fastFolder(), 'fh-'));
  const outputFile = join(folder, 'result.json');
  const args = [
    '--import',
    // As an address: threads of a spec inherit it, and may begin in another folder.
    new URL('register-swc.mjs', import.meta.url).href,
    '--no-warnings',
    join(ROOT, 'node_modules/jest/bin/jest.js'),
    '--passWithNoTests',
    '--json',
    '--outputFile',
    outputFile,
    ...(jestArgs.some((arg) => /^(-i|-w|--runInBand|--maxWorkers)/.test(arg))
      ? []
      : ['--maxWorkers', String(workersOf(TIERS[tier]))]),
    ...TIERS[tier].jest.map(onlyPaths),
    ...(tier === 'unit' && paths.length > 0 ? ['--testPathPatterns', paths.join('|')] : []),
    ...jestArgs,
  ];
  const status = await stream(
    process.execPath,
    args,
    { ...env, TMPDIR: scratch, FORGEHAND_TEST_DISK: tmpdir() },
    `tier ${tier}`,
  );
  addResult(tier, status, outputFile);
  for (const one of [folder, scratch]) rmSync(one, { recursive: true, force: true });
}

/** At least two where specs wait. What only computes leaves half of the processors to the tiers beside it. */
function workersOf({ workers, services }) {
  const share = services || withServers.length === 0 ? workers : workers / 2;
  const most = services ? Math.floor(MOST_WORKERS / withServers.length) : MOST_WORKERS;
  return Math.min(most, Math.max(services ? 2 : 1, Math.round(availableParallelism() * share)));
}

/** Takes the arguments before the first option out. */
function pathsAtFront(args) {
  const end = args.findIndex((arg) => arg.startsWith('-'));
  return args.splice(0, end === -1 ? args.length : end);
}

/** The pattern of a tier, narrowed to the paths of the command line. Jest itself would add them to it. */
function onlyPaths(arg, index, args) {
  return args[index - 1] === '--testPathPatterns' && paths.length > 0
    ? arg.replace('^', `^(?=.*(${paths.join('|')}))`)
    : arg;
}

function addResult(tier, status, outputFile) {
  let result;
  try {
    result = JSON.parse(readFileSync(outputFile, 'utf8'));
  } catch {
    total.failed += 1;
    say(`tier ${tier}: jest ended with ${status} and left no result (counted as one failed test)`);
    return;
  }
  if (keepsDurations) keepDurations(result.testResults);
  // A file that could not be loaded has no tests to count: it counts as one failed test.
  const broken = result.numRuntimeErrorTestSuites;
  const failed = result.numFailedTests + broken + (status !== 0 && result.numFailedTests + broken === 0 ? 1 : 0);
  const skipped = result.numPendingTests + result.numTodoTests;
  total.passed += result.numPassedTests;
  total.failed += failed;
  total.skipped += skipped;
  say(`tier ${tier}: ${result.numPassedTests} passed, ${failed} failed, ${skipped} skipped`);
}

/** Specs that ran get their new time, those that are gone lose theirs. */
function keepDurations(specs) {
  const kept = Object.entries(JSON.parse(readFileSync(DURATIONS, 'utf8')));
  const run = specs.map(({ name, startTime, endTime }) => [
    relative(ROOT, name).replaceAll('\\', '/'),
    Math.round((endTime - startTime) / 1000),
  ]);
  const all = Object.entries(Object.fromEntries([...kept, ...run]));
  const long = all.filter(([path, seconds]) => seconds >= LEAST_KEPT_S && existsSync(join(ROOT, path)));
  writeFileSync(
    DURATIONS,
    `${JSON.stringify(Object.fromEntries(long.sort(([a], [b]) => (a < b ? -1 : 1))), null, 2)}\n`,
  );
}

/** Run with its output passed on; when it has been silent for a while, say that it still runs. */
function stream(command, args, env, what) {
  return new Promise((resolve) => {
    const began = Date.now();
    // `--json` prints the result on stdout; the reporter speaks on stderr.
    const toStdout = !args.includes('--json');
    const child = spawn(command, args, {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.add(child);
    let heardAt = Date.now();
    const pass = (to) => (bytes) => {
      heardAt = Date.now();
      to.write(bytes);
    };
    if (toStdout) child.stdout.on('data', pass(process.stdout));
    else child.stdout.resume();
    child.stderr.on('data', pass(process.stdout));
    const timer = setInterval(() => {
      if (Date.now() - heardAt < 9_500) return;
      heardAt = Date.now();
      say(`${what} still running (${Math.round((Date.now() - began) / 1000)} s)`);
    }, 1_000);
    child.on('exit', () => sayProcessorTime(what));
    child.on('close', (status) => {
      clearInterval(timer);
      children.delete(child);
      resolve(status ?? 1);
    });
  });
}

/** What ended children, with theirs, have used of the processors. Linux alone tells; elsewhere null. */
function childSeconds() {
  if (!existsSync('/proc/self/stat')) return null;
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
  // In hundredths of a second: time of children in user mode, and in the kernel.
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

/** Called when a child has ended: what was added since the last one ended was used by it. */
function sayProcessorTime(what) {
  const seconds = childSeconds();
  if (seconds === null) return;
  say(`${what}: ${Math.round(seconds - countedSeconds)} s of processor time`);
  countedSeconds = seconds;
}
