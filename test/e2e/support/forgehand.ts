import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import type { StatusReport } from '../../../src/api/operations/answers.js';
import { reachRunning } from '../../../src/cli/reach-bot.js';
import { readConfig } from '../../../src/config/read-config.js';
import { byPath } from '../../integration/support/by-path.js';
import { until } from '../../services/until.js';
import { Child } from './child.js';
import { FORGEHAND } from './built.js';
import { runHere } from './run-here.js';
import type { CommandResult } from './run-here.js';
import type { Place } from './a-place.js';

export type { CommandResult };

/** They go on until somebody stops them, or are asked at a terminal. */
const ALWAYS_PROCESSES = new Set(['start', 'sandbox', 'demo', 'init']);
/** They ask no bot and open no store. */
const ALONE = new Set(['check', 'notify', 'schema', 'test', 'version']);

/**
 * Run a command of the built bot to its end, with the config and the environment of a place. A spec's first run of each command is a process, as
 * people start it. Its others are run by the same program in this process, for a start takes most of the time of a command; but for those that open
 * the embedded store themselves, in a thread that would take longer here.
 */
export async function forgehand(place: Pick<Place, 'dir' | 'env'>, ...args: string[]): Promise<CommandResult> {
  const [name = ''] = args;
  const opensNoStore = ALONE.has(name) || existsSync(join(place.dir, 'data/run/control.sock'));
  if (!ALWAYS_PROCESSES.has(name) && !isFirst(name) && opensNoStore) return runHere(place, args);
  const child = new Child([FORGEHAND, ...args], place.env, place.dir);
  const { code } = await child.ended;
  return { code, stdout: child.stdout, stderr: child.stderr };
}

const startedBy = new Map<string, Set<string>>();

/** Outside of specs, as in benches and storms, each run is a process. */
const isSpec = process.env['JEST_WORKER_ID'] !== undefined;

function isFirst(command: string): boolean {
  if (!isSpec) return true;
  const spec = expect.getState().testPath ?? '';
  const started = startedBy.get(spec) ?? new Set();
  startedBy.set(spec, started);
  return started.size < started.add(command).size;
}

/** The value that a command prints with `--json`. */
export async function askJson<T>(place: Pick<Place, 'dir' | 'env'>, ...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await forgehand(place, ...args, '--json');
  if (code !== 0) throw new Error(`forgehand ${args.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as T;
}

/**
 * Wait until a running bot's control API answers so: without a process of a command for each look, which costs more than most work that is
 * waited for.
 * @param path such as `/v1/status`
 * @param withinMs after that the answer is returned as it is; default: the test's own time limit ends it
 * @returns the answer
 * @throws Error when no bot runs there
 */
export async function untilAnswer<T>(
  { configFile }: Pick<Place, 'configFile'>,
  path: string,
  isWanted: (answer: T) => boolean,
  withinMs = Infinity,
): Promise<T> {
  const running = await reachRunning(readConfig(configFile, { reader: 'command' }));
  if (!running) throw new Error(`no bot runs on ${configFile}`);
  const bot = byPath(running);
  try {
    const end = Date.now() + withinMs;
    let answer = await bot.get<T>(path);
    const isEnough = (): boolean => isWanted(answer) || Date.now() > end;
    await until(async () => isEnough() || ((answer = await bot.get<T>(path)), isEnough()), 100);
    return answer;
  } finally {
    await bot.close();
  }
}

/** The rows of the first page of a list, as soon as they are wanted. */
export async function untilRows<Row>(
  place: Pick<Place, 'configFile'>,
  path: string,
  isWanted: (rows: Row[]) => boolean,
): Promise<Row[]> {
  return (await untilAnswer<{ rows: Row[] }>(place, path, ({ rows }) => isWanted(rows))).rows;
}

/** The same for what the bot says about itself. */
export function untilStatus(
  place: Place,
  isWanted: (status: StatusReport) => boolean,
  withinMs?: number,
): Promise<StatusReport> {
  return untilAnswer(place, '/v1/status', isWanted, withinMs);
}
