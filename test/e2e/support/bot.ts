import type { Role } from '../../../src/config/app-config.js';
import type { Place } from './a-place.js';
import { FORGEHAND } from './built.js';
import type { Ended } from './child.js';
import { Child } from './child.js';

/** One process of the bot, as an operator starts it. */
export interface Bot {
  readonly role: Role;
  /** `http://127.0.0.1:PORT`; of a role without an endpoint the empty text. */
  readonly url: string;
  /** Where else it listens, as told: `metrics http://…`. */
  readonly places: readonly string[];
  readonly child: Child;
  /** With everything it has in hand. */
  kill(): Promise<void>;
  /** As a supervisor does; resolves with how it ended. */
  stop(): Promise<Ended>;
}

/**
 * Start a process of the bot and wait until it says that it is up.
 * @param program of another build than ours
 */
export async function startBot(
  place: Place,
  role: Role = 'all',
  configFile = place.configFile,
  program = FORGEHAND,
): Promise<Bot> {
  const child = new Child([program, 'start', '--config', configFile, '--role', role], place.env, place.dir);
  const { webhooks, places } = await child.line((line) => {
    const told = parse(line);
    return told?.msg === 'forgehand.started' ? told : undefined;
  });
  return {
    role,
    child,
    url: webhooks ?? '',
    places: places ?? [],
    kill: async () => void (await child.end('SIGKILL')),
    stop: () => child.end('SIGTERM'),
  };
}

interface Line {
  msg?: string;
  webhooks?: string | null;
  places?: string[];
}

function parse(line: string): Line | null {
  try {
    return JSON.parse(line) as Line;
  } catch {
    return null;
  }
}
