import { spawnSync } from 'node:child_process';
import { copyFileSync, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../../test/services/with-services.mjs';

export interface Packages {
  readonly mb: number;
  /** The largest first. */
  readonly largest: ReadonlyArray<{ readonly name: string; readonly mb: number }>;
}

/** What `npm ci --omit=dev` installs, in a folder that is removed again. @returns null when npm cannot install it */
export function installedPackages(): Packages | null {
  const folder = mkdtempSync(join(tmpdir(), 'forgehand-packages-'));
  try {
    for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(ROOT, name), join(folder, name));
    const args = ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
    if (spawnSync('npm', args, { cwd: folder, stdio: ['ignore', 2, 2] }).status !== 0) return null;
    const modules = join(folder, 'node_modules');
    const sizes = packagesIn(modules).map((name) => ({ name, mb: bytesOf(join(modules, name)) / 1024 ** 2 }));
    return { mb: bytesOf(modules) / 1024 ** 2, largest: sizes.sort((a, b) => b.mb - a.mb) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function packagesIn(modules: string): string[] {
  return readdirSync(modules)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) =>
      name.startsWith('@') ? readdirSync(join(modules, name)).map((own) => `${name}/${own}`) : [name],
    );
}

/** Bytes on the disk, as `du` counts them: many small files take more than their text. */
function bytesOf(path: string): number {
  const stat = lstatSync(path);
  const own = stat.blocks * 512;
  return stat.isDirectory() ? readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), own) : own;
}
