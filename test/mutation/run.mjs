// npm run storms -- mutants [FILES...]: mutants of src/pipeline/decide, or of these files of it (patterns from the root, separated by spaces). Installs
// Stryker into this folder first. Status 0 only when the score is reached.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const GOAL = 85;
const GOAL_MINUTES = 40;
const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = join(HERE, '../..');
const STRYKER = join(HERE, 'node_modules/@stryker-mutator/core/bin/stryker.js');

if (!existsSync(STRYKER)) run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], HERE);
const files = process.argv.slice(2).filter((one) => !one.startsWith('--'));
const options = process.argv.slice(2).filter((one) => one.startsWith('--') && one !== '--specs-only');
if (process.argv.includes('--specs-only')) process.env.MUTANTS_BY_SPECS_ONLY = '1';
process.env.MUTANTS_FILE = join(ROOT, 'reports/mutants.ndjson');
mkdirSync(join(ROOT, 'reports'), { recursive: true });
rmSync(process.env.MUTANTS_FILE, { force: true });
const startedAt = Date.now();
run(
  process.execPath,
  [
    STRYKER,
    'run',
    ...options,
    ...(files.length > 0 ? ['--mutate', files.join(',')] : []),
    join(HERE, 'stryker.config.mjs'),
  ],
  ROOT,
);
const minutes = (Date.now() - startedAt) / 60_000;

const report = JSON.parse(readFileSync(join(ROOT, 'reports/mutation.json'), 'utf8'));
const total = { Killed: 0, Timeout: 0, Survived: 0, NoCoverage: 0 };
const rows = Object.entries(report.files).map(([path, { mutants, source }]) => {
  const of = { Killed: 0, Timeout: 0, Survived: 0, NoCoverage: 0 };
  for (const { status } of mutants) if (status in of) of[status] += 1;
  for (const status of Object.keys(of)) total[status] += of[status];
  return { path, of, mutants, lines: source.split('\n') };
});
for (const wanted of ['Survived', 'NoCoverage', 'Timeout'])
  for (const { path, mutants, lines } of rows)
    for (const { status, location, mutatorName, replacement } of mutants.filter((mutant) => mutant.status === wanted)) {
      const { line, column } = location.start;
      console.log(
        `${status} ${path}:${line}:${column} ${mutatorName}: ${(lines[line - 1] ?? '').trim().slice(0, 90)} -> ${(replacement ?? '').replace(/\s+/g, ' ').slice(0, 60)}`,
      );
    }
console.log('\n| file | killed | timeout | survived | no test | score |\n|---|---|---|---|---|---|');
for (const { path, of } of rows)
  console.log(`| ${path} | ${of.Killed} | ${of.Timeout} | ${of.Survived} | ${of.NoCoverage} | ${scoreOf(of)} |`);
console.log(
  `| all | ${total.Killed} | ${total.Timeout} | ${total.Survived} | ${total.NoCoverage} | ${scoreOf(total)} |\n`,
);
// A mutant that runs out of time may have been stopped by a busy machine: without them is the score that is certain.
const certain = (100 * total.Killed) / Math.max(1, total.Killed + total.Survived + total.NoCoverage);
console.log(`${minutes.toFixed(1)} min; ${certain.toFixed(1)} % without the ${total.Timeout} timeouts`);
const what = files.length > 0 ? `mutation (${files.length} patterns)` : 'mutation';
console.log(`goal ${what}: wanted ${GOAL} %, measured ${certain.toFixed(1)} %, ${certain >= GOAL ? 'met' : 'missed'}`);
if (files.length === 0)
  console.log(
    `goal mutation-minutes: wanted ${GOAL_MINUTES}, measured ${minutes.toFixed(0)}, ${minutes <= GOAL_MINUTES ? 'met' : 'missed'}`,
  );
process.exitCode = certain >= GOAL ? 0 : 1;

function scoreOf({ Killed, Timeout, Survived, NoCoverage }) {
  const all = Killed + Timeout + Survived + NoCoverage;
  return all === 0 ? '' : `${((100 * (Killed + Timeout)) / all).toFixed(0)} %`;
}

function run(command, args, cwd) {
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit', shell: process.platform === 'win32' });
  if (status !== 0) process.exit(status ?? 1);
}
