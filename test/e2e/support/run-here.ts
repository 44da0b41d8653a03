import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ROOT } from '../../services/with-services.mjs';
import type { Place } from './a-place.js';

export interface CommandResult {
  /** null = ended by a signal */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Program {
  runCli(args: readonly string[]): Promise<number>;
}

/** What it prints, its folder and its environment belong to the process: one at a time. */
let turn: Promise<unknown> = Promise.resolve();

/** The built command line, called as `dist/cli/forgehand.js` calls it, with the folder and the environment of a place. */
export function runHere(place: Pick<Place, 'dir' | 'env'>, args: readonly string[]): Promise<CommandResult> {
  const mine = turn.then(() => run(place, args));
  turn = mine.catch(() => undefined);
  return mine;
}

async function run({ dir, env }: Pick<Place, 'dir' | 'env'>, args: readonly string[]): Promise<CommandResult> {
  const program = createRequire(import.meta.url)(join(ROOT, 'dist/bundle/run-cli.cjs')) as Program;
  const before = { env: { ...process.env }, dir: process.cwd() };
  const told = { stdout: '', stderr: '' };
  const putBack = (['stdout', 'stderr'] as const).map((name) => {
    const { write } = process[name];
    process[name].write = ((text: string | Uint8Array) => ((told[name] += String(text)), true)) as typeof write;
    return () => void (process[name].write = write);
  });
  const { PATH = '', HOME = '', TMPDIR } = process.env;
  setEnvironment({ PATH, HOME, ...(TMPDIR === undefined ? {} : { TMPDIR }), NO_COLOR: '1', ...env });
  process.chdir(dir);
  try {
    const code = await program.runCli(args);
    return { code, ...told };
  } finally {
    for (const back of putBack) back();
    setEnvironment(before.env);
    process.chdir(before.dir);
  }
}

function setEnvironment(env: Readonly<Record<string, string | undefined>>): void {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
}
