// First step of the build: TypeScript to JavaScript in dist/, and the files that are read as they stand. It checks no types (`npm run test:types`).
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(fileURLToPath(import.meta.url));
const ASSETS = ['console/ui/theme.css'];

rmSync(join(ROOT, 'dist'), { recursive: true, force: true });
const tsc = join(ROOT, 'node_modules/typescript-7/bin/tsc');
const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { cwd: ROOT, stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);
for (const path of ASSETS) cpSync(join(ROOT, 'src', path), join(ROOT, 'dist', path));
