import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import type { Role } from '../../../src/config/app-config.js';
import { readConfig } from '../../../src/config/read-config.js';
import { reachBot } from '../../../src/cli/reach-bot.js';
import { startBot, type RunningBot } from '../../../src/main.js';
import { createLogger } from '../../../src/observability/logger.js';
import { createTestDatabase, POSTGRES_URL } from '../../services/test-stores.js';
import { byPath, type ByPath } from './by-path.js';

export interface BotOptions {
  /** The config as a value; JSON is YAML. */
  readonly config: object;
  /** Rule and other files below the folder of the config: path -> text. */
  readonly files: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  /**
   * Default `shared`: a config with an embedded store gets a database of its own on the PostgreSQL of the tests, where there is one. An embedded
   * store is an engine of its own, which takes more time than most specs. `embedded` for a spec that is about that store.
   */
  readonly store?: 'shared' | 'embedded';
  /** Left out = one process with all of them. Else each is a bot of its own, and the last one has the control socket. */
  readonly roles?: readonly Role[];
}

/** A whole bot in this process, with its control API and everything it logged. */
export interface TestBot {
  readonly dir: string;
  readonly url: string;
  readonly reach: ByPath;
  /** The config of the one that commands reach. */
  readonly configFile: string;
  /** Where its processes listen: `metrics http://…`. */
  readonly places: readonly string[];
  log(): string;
  write(path: string, text: string): void;
  /** Stop it; the folder stays. */
  stop(): Promise<void>;
  /** Stop it and remove the folder. */
  close(): Promise<void>;
}

const STORE_URL = 'FORGEHAND_TEST_STORE';
const DATA_KEY = 'FORGEHAND_TEST_DATA_KEY';

/** The config with its embedded store exchanged for a database of its own, and what is to be done in the end. */
async function withSharedStore(options: BotOptions): Promise<{ options: BotOptions; drop: () => Promise<void> }> {
  const { config, env, store = 'shared' } = options;
  const url = (config as { store?: { url?: unknown } }).store?.url;
  // A spec that names a folder of its own is about that folder.
  if (store === 'embedded' || !POSTGRES_URL || (url !== undefined && url !== 'embedded:./data'))
    return { options, drop: async () => {} };
  const database = await createTestDatabase();
  return {
    options: {
      ...options,
      config: {
        control: { socket: 'data/control.sock' },
        keys: { data: { env: DATA_KEY } },
        ...config,
        store: { url: { env: STORE_URL } },
      },
      env: { ...env, [STORE_URL]: database.url, [DATA_KEY]: 'one key for all processes of these tests' },
    },
    drop: () => database.drop(),
  };
}

export async function aBot(given: BotOptions): Promise<TestBot> {
  const { options, drop } = await withSharedStore(given);
  try {
    return await startedBot(options, drop);
  } catch (error) {
    await drop();
    throw error;
  }
}

async function startedBot(
  { config: given, files, env, roles = ['all'] }: BotOptions,
  drop: () => Promise<void>,
): Promise<TestBot> {
  // Many bots run at once on one machine, and most specs look at no page.
  const config = { console: { enabled: false }, ...given };
  const dir = mkdtempSync(join(tmpdir(), 'fh-bot-'));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text, { mode: 0o600 });
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  const configs = roles.map((role, n) => {
    const isLast = n === roles.length - 1;
    const name = isLast ? 'forgehand.yaml' : `${role}.yaml`;
    const control = { socket: `run/${isLast ? 'control' : role}.sock` };
    write(name, JSON.stringify(roles.length > 1 ? { ...config, control } : config));
    return { role, file: join(dir, name) };
  });
  const file = join(dir, 'forgehand.yaml');
  const lines: string[] = [];
  const destination = new Writable({
    write: (chunk: Buffer, _encoding, done) => (lines.push(chunk.toString()), done()),
  });
  const bots: RunningBot[] = [];
  // Commands read the config again, with the environment of their process.
  const before = new Map(Object.keys(env).map((name) => [name, process.env[name]]));
  Object.assign(process.env, env);
  try {
    for (const one of configs)
      bots.push(await startBot(readConfig(one.file), { role: one.role, logger: createLogger('debug', destination) }));
  } catch (error) {
    for (const bot of bots) await bot.close();
    rmSync(dir, { recursive: true, force: true });
    throw error;
  }
  const reach = byPath(await reachBot(file));
  let isStopped = false;
  const stop = async (): Promise<void> => {
    if (isStopped) return;
    isStopped = true;
    await reach.close();
    for (const bot of bots) await bot.close();
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  };
  return {
    dir,
    url: bots.map(({ webhookUrl }) => webhookUrl).find((url) => url !== null) ?? '',
    reach,
    configFile: file,
    places: bots.flatMap(({ places }) => places),
    log: () => lines.join(''),
    write,
    stop,
    close: async () => {
      await stop();
      await drop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
