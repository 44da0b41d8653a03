import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Inputs of the build; specs are not among them. */
const INPUTS = [
  'src',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'nest-cli.json',
  'compile.mjs',
  'bundle.mjs',
  'rolldown.config.mjs',
];

/** Whether `dist` is missing, unfinished, or older than a source. The build ends with the bundle, its compiled code and the embedded store's template. */
export function isBuildStale(root) {
  const folder = join(root, 'dist/store/embedded');
  const hasTemplate = existsSync(folder) && readdirSync(folder).some((name) => /^template-.*\.tar\.gz$/.test(name));
  const bundle = statSync(join(root, 'dist/bundle/run-cli.cjs'), { throwIfNoEntry: false });
  if (!hasTemplate || !bundle) return true;
  const builtAt = bundle.mtimeMs;
  return INPUTS.some((input) => newest(join(root, input)) > builtAt);
}

function newest(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return 0;
  if (!stat.isDirectory()) return /\.spec\.tsx?$/.test(path) ? 0 : stat.mtimeMs;
  // The folder's own time tells of files that went.
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}
