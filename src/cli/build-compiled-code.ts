import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { keepCompiledCode, loadProgram } from '../platform/load-program.js';

// Last step of the build: `node dist/cli/build-compiled-code.js`. V8 compiles a function when it is first called, so a bot is started and a folder
// checked here, and what was compiled for it is kept for every later start. The manual page is written by the same commands.

const RULE = `version: 1
org: acme
rules:
  - id: first
    on: push
    do: [{ label.ensure: { name: first, color: '#00aabb' } }]
`;

/** Named as `man` in package.json. */
const MANUAL = fileURLToPath(new URL('../man/forgehand.1', import.meta.url));

const { runCli } = await loadProgram('run-cli', () => import('./run-cli.js'));
const folder = mkdtempSync(join(tmpdir(), 'forgehand-build-'));
const output: string[] = [];
const print = process.stdout.write.bind(process.stdout);
process.stdout.write = (text) => Boolean(output.push(String(text)));
try {
  const config = join(folder, 'forgehand.json');
  for (const name of ['token', 'hook']) writeFileSync(join(folder, name), name.repeat(10), { mode: 0o600 });
  writeFileSync(join(folder, 'rules.yaml'), RULE);
  writeFileSync(
    config,
    JSON.stringify({
      // Nobody listens there: the bot starts, and says that the forge is not reached.
      forges: [
        { id: 'forge', base_url: 'http://127.0.0.1:9/api/v1', auth: { type: 'token', token: { file: 'token' } } },
      ],
      orgs: [
        {
          name: 'acme',
          forge: 'forge',
          hooks: [{ id: 'acme', secret: { file: 'hook' } }],
          rules: { path: 'rules.yaml' },
        },
      ],
      store: { url: 'embedded:./data' },
      server: { host: '127.0.0.1', port: 0 },
      console: { listen: 0 },
    }),
  );
  await succeed(['man']);
  mkdirSync(dirname(MANUAL), { recursive: true });
  writeFileSync(MANUAL, output.splice(0).join(''));
  await succeed(['check', join(folder, 'rules.yaml')]);
  const stopped = runCli(['start', '--config', config]);
  while (!output.some((line) => line.includes('forgehand.started'))) {
    const code = await Promise.race([stopped, sleep(100)]);
    if (code !== undefined) throw new Error(`the bot ended with ${code}:\n${output.join('')}`);
  }
  await succeed(['status', '--config', config]);
  process.kill(process.pid, 'SIGTERM');
  await stopped;
} finally {
  process.stdout.write = print;
  rmSync(folder, { recursive: true, force: true });
}
console.log(`compiled code of the bundle: ${Math.round(keepCompiledCode() / 1024)} kB`);

async function succeed(args: string[]): Promise<void> {
  if ((await runCli(args)) !== 0) throw new Error(`forgehand ${args.join(' ')}:\n${output.join('')}`);
}
