// First step of the build, as nest-cli.json describes it (`nest build` does the same): TypeScript to JavaScript in dist/, and the files that are read as they
// stand. It checks no types (`npm test -- types`).
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(fileURLToPath(import.meta.url));
const { sourceRoot, compilerOptions } = JSON.parse(readFileSync(join(ROOT, 'nest-cli.json'), 'utf8'));
const { tsConfigPath, deleteOutDir, assets } = compilerOptions;

if (deleteOutDir) rmSync(join(ROOT, 'dist'), { recursive: true, force: true });
const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [tsc, '-p', tsConfigPath], { cwd: ROOT, stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);
for (const path of assets) cpSync(join(ROOT, sourceRoot, path), join(ROOT, 'dist', path));
