import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Handover } from '../../verifier/handover.js';

const PROGRAM = fileURLToPath(new URL('../../verifier/verify-forge.js', import.meta.url));

/** Runs the verification as a process of its own, its output passed on. Resolves to its exit status. */
export function runVerifier(folder: string, handover: Handover, json: boolean): Promise<number> {
  const file = join(folder, 'handover.json');
  writeFileSync(file, JSON.stringify(handover), { mode: 0o600 });
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [PROGRAM, file, ...(json ? ['--json'] : [])], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}
