import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const BENCH = fileURLToPath(new URL('../', import.meta.url));

/** What we compare with lives in a package of its own below bench/, which is installed when a bench first needs it. */
export function installPeers(peer: string, say: (line: string) => void): boolean {
  const isThere = (): boolean => existsSync(join(BENCH, 'node_modules', peer, 'package.json'));
  if (isThere()) return true;
  say(`installing ${peer} into bench/node_modules ...`);
  // Its progress is ours, but stdout belongs to the figures.
  spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: BENCH, stdio: ['ignore', 2, 2] });
  if (isThere()) return true;
  say(`${peer} could not be installed and is left out`);
  return false;
}
