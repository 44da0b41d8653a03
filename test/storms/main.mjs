// npm run storms -- [NAME] [OPTIONS]: what needs hours or chance. The tests of every change (npm test) have fixed seeds and one short storm.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ROOT, withServices } from '../services/with-services.mjs';

const chaos = (name) => ({ program: 'test/chaos/main.ts', args: [name], services: true });

/** What each name runs. Without a name all of them run, one after the other. */
const STORMS = {
  storm: { ...chaos('storm'), does: 'everything at once for ten minutes' },
  G1: { ...chaos('G1'), does: 'the receiver is killed: an acknowledged delivery stays' },
  G2: { ...chaos('G2'), does: 'workers are killed in the middle of their calls' },
  G3: { ...chaos('G3'), does: 'the forge answers wrongly, or has its effect late' },
  G4: { ...chaos('G4'), does: 'webhooks are lost, in virtual time' },
  G5: { ...chaos('G5'), does: 'Redis is emptied and killed' },
  G6: { ...chaos('G6'), does: 'PostgreSQL is killed' },
  G13: { ...chaos('G13'), does: 'ten years of schedules in 30 zones, in virtual time' },
  G14: { ...chaos('G14'), does: 'one organization floods the bot' },
  power: { ...chaos('power'), does: 'power cuts under the embedded store' },
  peer: { ...chaos('peer'), does: 'the storm of G2 against a bare Bull worker' },
  simulation: { program: 'test/simulation/main.ts', args: [], does: 'the core under virtual time, by seeds' },
  'planted-bugs': {
    program: 'test/simulation/keep-seeds.ts',
    args: [],
    does: 'a seed of the simulation for each planted bug and each point of a kill',
  },
  compare: {
    program: 'test/storms/compare-time.mjs',
    args: [join(ROOT, 'dist'), '120', '4000'],
    does: 'whether the time of a check tells where a signature is wrong; on the built bot',
  },
  statements: {
    program: 'test/storms/statements/main.ts',
    args: [],
    services: true,
    does: 'whether a statement of the store costs more, the longer the store keeps what happened',
  },
  fuzz: { program: 'test/fuzz/main.ts', args: [], does: 'a million spoiled deliveries' },
  mutants: { program: 'test/mutation/run.mjs', args: [], does: 'mutants of the deciding code, and what notices them' },
};

const HELP = `npm run storms -- [NAME] [OPTIONS]      NAME --help prints the options of a name; without a name all of them run

${Object.entries(STORMS)
  .map(([name, { does }]) => `  ${name.padEnd(14)}${does}`)
  .join('\n')}

Status: 0 when every storm that ran holds its goal; 1 otherwise; 2 for a wrong command.`;

const [name, ...options] = process.argv.slice(2);
if (name === '--help' || name === '-h') console.log(HELP);
else if (name !== undefined && !(name in STORMS)) {
  console.error(`no such storm: ${name}\n\n${HELP}`);
  process.exitCode = 2;
} else process.exitCode = await runAll(name === undefined ? Object.keys(STORMS) : [name]);

async function runAll(names) {
  let worst = 0;
  for (const one of names) {
    if (names.length > 1) console.log(`storm ${one}: ${STORMS[one].does}`);
    const status = await run(STORMS[one]);
    if (names.length > 1) console.log(`storm ${one}: ${status === 0 ? 'holds' : `ended with ${status}`}`);
    worst = Math.max(worst, status);
  }
  return worst;
}

async function run({ program, args, services }) {
  const start = (env) =>
    new Promise((resolve) => {
      const loader = program.endsWith('.ts') ? ['--import', join(ROOT, 'test/register-swc.mjs')] : [];
      const child = spawn(process.execPath, [...loader, join(ROOT, program), ...args, ...options], {
        cwd: ROOT,
        stdio: 'inherit',
        env: { ...process.env, ...env },
      });
      child.on('close', (status) => resolve(status ?? 1));
    });
  if (!services || options.includes('--help')) return start({});
  return withServices(({ env }) => start(env), { log: (line) => console.error(`services: ${line}`) });
}
