import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { gitEnvironment } from '../../config/git-environment.js';

const TIMEOUT_MS = 3_000;
const run = promisify(execFile);

/**
 * The commit of a folder that lies in a git checkout, as git tells it. Null where it lies in none, where there is no git, and where rule files
 * of it are not as the commit has them: the commit would then say what is not so.
 */
export async function checkoutCommit(folder: string): Promise<string | null> {
  const args = [
    '-C',
    folder,
    '--no-optional-locks',
    '-c',
    'core.fsmonitor=false',
    'status',
    '--porcelain=v2',
    '--branch',
    '--ignored',
    '-z',
    '--',
    '.',
  ];
  try {
    const { stdout } = await run('git', args, {
      timeout: TIMEOUT_MS,
      encoding: 'utf8',
      windowsHide: true,
      env: gitEnvironment(),
    });
    return commitIn(stdout);
  } catch {
    return null;
  }
}

/** Of the answer of `git status --porcelain=v2 --branch -z`: what is told of other files than rule files does not matter. */
function commitIn(status: string): string | null {
  const [headers, changed] = [
    status.split('\0').filter((line) => line.startsWith('# ')),
    status.split('\0').filter((line) => /^[^#]/.test(line)),
  ];
  // A folder that is new as a whole is told by its name alone.
  if (changed.some((line) => /(?:\.ya?ml|\/)$/i.test(line) && !/\.test\.ya?ml$/i.test(line))) return null;
  const [, commit] =
    headers
      .map((line) => /^# branch\.oid ([0-9a-f]{40}(?:[0-9a-f]{24})?)$/.exec(line))
      .find((match) => match !== null) ?? [];
  return commit ?? null;
}
