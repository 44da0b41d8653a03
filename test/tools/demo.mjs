// `npm run demo`: works in an empty clone, so it imports no package. Installs and builds when needed, then runs `forgehand demo`.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
const PROGRAM = 'dist/cli/forgehand.js';
/** Nobody should wonder whether something still happens. */
const HEARTBEAT_MS = 5_000;

const changedAt = (path) => (existsSync(join(ROOT, path)) ? statSync(join(ROOT, path)).mtimeMs : 0);

// npm writes this file last: without it an install was broken off.
if (changedAt('node_modules/.package-lock.json') < changedAt('package-lock.json')) {
  await step('installing packages (npm ci)', 'npm', [
    'ci',
    '--include=dev',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]);
}
if (changedAt(PROGRAM) < newestSource()) await step('building (npm run build)', 'npm', ['run', 'build', '--silent']);
process.exitCode = await run(process.execPath, [join(ROOT, PROGRAM), 'demo', ...process.argv.slice(2)]);

function newestSource() {
  const inSrc = readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.spec\.tsx?$/.test(entry.name))
    .map((entry) => statSync(join(entry.parentPath ?? entry.path, entry.name)).mtimeMs);
  return Math.max(
    ...inSrc,
    changedAt('tsconfig.json'),
    changedAt('tsconfig.build.json'),
    changedAt('node_modules/.package-lock.json'),
  );
}

async function step(what, command, args) {
  const startedAt = Date.now();
  const seconds = () => Math.round((Date.now() - startedAt) / 1000);
  console.error(`${what} …`);
  const heartbeat = setInterval(() => console.error(`${what} … ${seconds()} s`), HEARTBEAT_MS);
  const status = await run(command, args);
  clearInterval(heartbeat);
  if (status !== 0) {
    console.error(`${what} failed`);
    process.exit(3);
  }
  console.error(`${what}: done in ${seconds()} s`);
}

/** What the child prints on stdout before the demo starts goes to stderr: `--json` must stay readable for machines. */
function run(command, args) {
  const isDemo = command === process.execPath;
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: isDemo ? process.cwd() : ROOT,
      stdio: ['inherit', isDemo ? 'inherit' : 2, 'inherit'],
      shell: !isDemo && process.platform === 'win32',
    });
    // A Ctrl-C reaches the child by the terminal too; a signal sent to this process alone is passed on.
    const pass = (signal) => child.kill(signal);
    process.on('SIGTERM', pass);
    process.on('SIGINT', () => {});
    child.on('error', (error) => {
      console.error(`${command} could not be started: ${error.message}`);
      resolve(3);
    });
    child.on('close', (status, signal) => {
      process.off('SIGTERM', pass);
      resolve(status ?? (signal === 'SIGINT' ? 130 : 143));
    });
  });
}
