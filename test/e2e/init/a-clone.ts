import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FORGEHAND } from '../support/built.js';

export interface Answer {
  readonly code: number;
  readonly out: string;
}

/** A folder in which `npx forgehand` runs the built program, as in a clone. */
export interface Clone {
  readonly dir: string;
  readonly env: Readonly<Record<string, string>>;
  /** A command as a page or a terminal says it. */
  sh(command: string, more?: Readonly<Record<string, string>>): Promise<Answer>;
  read(path: string): string;
  has(path: string): boolean;
  /** Every file but data and state: path -> content. */
  files(): Record<string, string>;
  remove(): void;
}

export function aClone(): Clone {
  const dir = mkdtempSync(join(tmpdir(), 'fh-init-'));
  const bin = join(dir, '.bin');
  mkdirSync(bin);
  // npx takes half a second, and looks for a package.
  writeFileSync(
    join(bin, 'npx'),
    `#!/bin/sh\n[ "$1" = forgehand ] || exit 127\nshift\nexec "${process.execPath}" "${FORGEHAND}" "$@"\n`,
  );
  chmodSync(join(bin, 'npx'), 0o755);
  const env = { PATH: `${bin}:${process.env.PATH ?? ''}`, HOME: process.env.HOME ?? '' };
  return {
    dir,
    env,
    sh: (command, more = {}) =>
      new Promise((resolve) => {
        const options = { cwd: dir, env: { ...env, NO_COLOR: '1', ...more }, encoding: 'utf8' } as const;
        execFile('sh', ['-c', command], options, (error, stdout, stderr) =>
          resolve({ code: error ? Number(error.code ?? 1) : 0, out: stdout + stderr }),
        );
      }),
    read: (path) => readFileSync(join(dir, path), 'utf8'),
    has: (path) => existsSync(join(dir, path)),
    files: () =>
      Object.fromEntries(
        ['config', 'rules', 'rules/acme'].flatMap((folder) =>
          readdirSync(join(dir, folder), { withFileTypes: true })
            .filter((entry) => entry.isFile())
            .map(({ name }) => [`${folder}/${name}`, readFileSync(join(dir, folder, name), 'utf8')]),
        ),
      ),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** The commands of a page: what stands in its blocks of shell, one block one command. */
export function commandsOf(page: string): string[] {
  return [...page.matchAll(/^( *)```sh\n([\s\S]*?)^\1```/gm)].map(([, indent = '', text = '']) =>
    text.replaceAll(new RegExp(`^${indent}`, 'gm'), '').trimEnd(),
  );
}

/** Labels of an issue of the sandbox that `init --sandbox` set up. */
export async function labelsOf(clone: Clone, repo: string, number: number): Promise<string[]> {
  const [, token = ''] = /^FORGE_TOKEN=(.*)$/m.exec(clone.read('config/forgehand.env')) ?? [];
  const [, api = ''] = /base_url: (\S+)/.exec(clone.read('config/forgehand.yaml')) ?? [];
  const answer = await fetch(`${api}/repos/${repo}/issues/${number}`, { headers: { authorization: `token ${token}` } });
  const { labels } = (await answer.json()) as { labels: Array<{ name: string }> };
  return labels.map(({ name }) => name);
}
