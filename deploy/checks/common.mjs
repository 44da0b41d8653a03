// What the checks of deploy/ share: running commands, and tools that come from package registries.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findCommand } from '../../test/services/find-binaries.mjs';

export const DEPLOY = dirname(dirname(fileURLToPath(import.meta.url)));
export const ROOT = dirname(DEPLOY);
const LONG_MS = 1_800_000;

/** A check that this machine cannot make. The message says why. */
export class Skipped extends Error {}

export function expect(isTrue, otherwise) {
  if (!isTrue) throw new Error(otherwise);
}

export function run(command, args, { cwd = ROOT, env = process.env, input, timeout = LONG_MS } = {}) {
  const done = spawnSync(command, args, { cwd, env, input, encoding: 'utf8', timeout, maxBuffer: 2 ** 28 });
  const text = `${done.stdout ?? ''}${done.stderr ?? ''}`.trim();
  return { status: done.error ? -1 : (done.status ?? -1), text, out: done.stdout ?? '' };
}

/** @returns what the command wrote; an error with its last words when it fails */
export function must(command, args, options) {
  const { status, text } = run(command, args, options);
  expect(status === 0, `${command} ${args.join(' ').slice(0, 500)} ended with ${status}: ${text.slice(-2_000)}`);
  return text;
}

/** The full path of a command, or the check is skipped. */
export function need(name, what, extra = []) {
  const found = findCommand(name, extra);
  if (!found) throw new Skipped(`${name} is not there: ${what}`);
  return found;
}

/** Folder for tools, outside the repository: they stay there from one run to the next. */
function cacheFolder(name) {
  const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'forgehand-deploy-check', name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** The unpacked folder of an npm package that no package.json names, such as a schema. */
export function npmPackage(spec) {
  const folder = cacheFolder(spec.replaceAll('/', '-'));
  const unpacked = join(folder, 'package');
  if (existsSync(unpacked)) return unpacked;
  const part = mkdtempSync(join(folder, 'part-'));
  const { status, text } = run('npm', ['pack', '--silent', '--pack-destination', part, spec], { cwd: part });
  if (status !== 0) throw new Skipped(`npm pack ${spec} did not come through: ${text.split('\n').at(-1)}`);
  must('tar', [
    'xzf',
    join(
      part,
      readdirSync(part).find((name) => name.endsWith('.tgz')),
    ),
    '-C',
    part,
  ]);
  renameSync(join(part, 'package'), unpacked);
  return unpacked;
}

/** A command from PATH, else built by Go from its module proxy. */
export function goTool(name, module) {
  const bin = cacheFolder('go-bin');
  const found = findCommand(name, [bin]);
  if (found) return found;
  const go = need('go', `it builds ${name}`, ['/usr/local/go/bin']);
  const { status, text } = run(go, ['install', module], { cwd: bin, env: { ...process.env, GOBIN: bin } });
  if (status !== 0) throw new Skipped(`go install ${module} did not come through: ${text.split('\n').at(-1)}`);
  return join(bin, name);
}

/** The folder of a Go module's source. */
export function goModule(module) {
  const go = need('go', `it brings ${module}`, ['/usr/local/go/bin']);
  const { status, text, out } = run(go, ['mod', 'download', '-json', module], { cwd: cacheFolder('go-bin') });
  if (status !== 0) throw new Skipped(`go mod download ${module} did not come through: ${text.split('\n').at(-1)}`);
  return JSON.parse(out).Dir;
}
