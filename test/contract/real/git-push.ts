import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

export interface Push {
  /** `http://host:port/owner/name.git`. */
  readonly remote: string;
  /** Never on a command line: git takes it from its environment. */
  readonly authorization: string;
  readonly author: string;
  readonly branch: string;
  /** Where the branch starts; '' = the branch itself where it is there, else the default branch. */
  readonly from: string;
  readonly commits: readonly {
    readonly message: string;
    readonly files: Readonly<Record<string, string>>;
    readonly removed: readonly string[];
  }[];
}

const run = promisify(execFile);
const TIMEOUT_MS = 60_000;

/** Commits on a clone of one's own, pushed by git over HTTP. */
export async function gitPush({ remote, authorization, author, branch, from, commits }: Push): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'forgehand-git-'));
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'http.extraHeader',
    GIT_CONFIG_VALUE_0: `Authorization: ${authorization}`,
    ...Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((who) => [
        [`GIT_${who}_NAME`, author],
        [`GIT_${who}_EMAIL`, `${author}@example.org`],
      ]),
    ),
  };
  const clone = join(folder, 'clone');
  const git = (...args: string[]) => run('git', args, { cwd: clone, env, timeout: TIMEOUT_MS });
  try {
    await mkdir(clone);
    await git('init', '--quiet');
    await git('remote', 'add', 'origin', remote);
    await git('fetch', '--quiet', 'origin');
    const start = await startOf(git, branch, from);
    await git('checkout', '--quiet', '-b', branch, ...(start === null ? [] : [start]));
    for (const { message, files, removed } of commits) {
      for (const [path, text] of Object.entries(files)) {
        await mkdir(dirname(join(clone, path)), { recursive: true });
        await writeFile(join(clone, path), text);
      }
      for (const path of removed) await rm(join(clone, path));
      await git('add', '--all');
      await git('commit', '--quiet', '--message', message);
    }
    await git('push', '--quiet', 'origin', `HEAD:refs/heads/${branch}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type Git = (...args: string[]) => Promise<{ stdout: string }>;

/** @returns null in an empty repository */
async function startOf(git: Git, branch: string, from: string): Promise<string | null> {
  const { stdout } = await git('for-each-ref', '--format=%(refname)', 'refs/remotes/origin');
  const known = stdout.split('\n');
  for (const name of from === '' ? [branch] : [from])
    if (known.includes(`refs/remotes/origin/${name}`)) return `refs/remotes/origin/${name}`;
  if (from !== '') return from;
  const head = await git('ls-remote', '--symref', 'origin', 'HEAD');
  const main = /^ref: refs\/heads\/(\S+)\s+HEAD/m.exec(head.stdout)?.[1];
  return main !== undefined && known.includes(`refs/remotes/origin/${main}`) ? `refs/remotes/origin/${main}` : null;
}
