// `npm run WHAT -- NAME [ARGUMENTS]`: one npm script for many programs.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const SWC = ['--import', join(ROOT, 'test/register-swc.mjs')];

/**
 * Run the program that the command line names, and end as it ends. Status 2, with the names, where it names none.
 * @param programs by name: the file, and whether it needs PostgreSQL and Redis
 */
export function runProgram(what, programs) {
  const [name = '', ...args] = process.argv.slice(2);
  if (!Object.hasOwn(programs, name)) {
    const names = Object.keys(programs).sort().join(', ');
    console.error(
      `${name === '' ? 'name missing' : `there is no ${name}`}: npm run ${what} -- NAME, with NAME one of ${names}`,
    );
    process.exitCode = 2;
    return;
  }
  const { file, needsServices = false } = programs[name];
  const services = needsServices ? [join(ROOT, 'test/services/run-with.mjs'), process.execPath] : [];
  const { status } = spawnSync(process.execPath, [...services, ...SWC, join(ROOT, file), ...args], {
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}
