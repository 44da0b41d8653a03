import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Inputs of the build; specs are not among them. */
const INPUTS = ['src', 'package.json', 'tsconfig.json', 'tsconfig.build.json', 'nest-cli.json', 'rolldown.config.mjs'];

/** Whether `dist` is missing, unfinished, or older than a source. The build's last step writes the embedded store's template. */
export function isBuildStale(root) {
  const folder = join(root, 'dist/store/embedded');
  const template = existsSync(folder) && readdirSync(folder).find((name) => /^template-.*\.tar\.gz$/.test(name));
  if (!template) return true;
  const builtAt = statSync(join(folder, template)).mtimeMs;
  return INPUTS.some((input) => newest(join(root, input)) > builtAt);
}

function newest(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return 0;
  if (!stat.isDirectory()) return path.endsWith('.spec.ts') ? 0 : stat.mtimeMs;
  // The folder's own time tells of files that went.
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}
