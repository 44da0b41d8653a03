import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { FORGEHAND } from '../../test/e2e/support/built.js';

export interface Loading {
  readonly cpuS: number;
  readonly rssMb: number;
}

/** What a start loads before it does anything: the command line, and the chunk with the modules of the bot. */
const SCRIPT = `
import { readdirSync } from 'node:fs';
const dist = new URL(process.argv[1]);
const { loadProgram } = await import(new URL('platform/load-program.js', dist));
const main = readdirSync(new URL('bundle/', dist)).find((name) => /^main-.*\\.cjs$/.test(name));
const [cpu, { rss }] = [process.cpuUsage(), process.memoryUsage()];
for (const name of ['run-cli', main.slice(0, -'.cjs'.length)]) await loadProgram(name);
const { user, system } = process.cpuUsage(cpu);
console.log(JSON.stringify({ cpuS: (user + system) / 1e6, rssMb: (process.memoryUsage().rss - rss) / 2 ** 20 }));
`;

/** What loading takes, each time in a process of its own. */
export function loadings(rounds: number): Loading[] {
  const dist = `${pathToFileURL(join(dirname(FORGEHAND), '..')).href}/`;
  return Array.from({ length: rounds }, () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', SCRIPT, dist], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`loading ended with ${status}: ${stderr}`);
    return JSON.parse(stdout) as Loading;
  });
}
