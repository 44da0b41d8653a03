import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../../config/read-config.js';
import type { AppConfig } from '../../config/app-config.js';
import { UserError } from '../../core/errors.js';
import { startBot } from '../../main.js';
import { createLogger } from '../../observability/logger.js';
import { reachRunning, type Reach } from '../reach-bot.js';

const LOOK_EVERY_MS = 500;
/** Arrivals among which a delivery is looked for: on the first start, polling brings many entries of old history. */
const LOOKED_AT = 1000;

/** The bot on the new config: the one that runs, else one in this process. */
export interface LiveBot {
  readonly config: AppConfig;
  readonly reach: Reach;
  /** Whether another process runs it. */
  readonly isElsewhere: boolean;
  /** Where browsers find its Console; null = it serves none. */
  readonly consoleUrl: string | null;
  /** From now on it logs, as `forgehand start` does. */
  startLogging(): void;
  close(): Promise<void>;
}

export async function openBot(configFile: string): Promise<LiveBot> {
  const running = await reachRunning(readConfig(configFile, { reader: 'command' }));
  if (running)
    return {
      config: running.config,
      reach: running,
      isElsewhere: true,
      consoleUrl: consoleIn(running.config),
      startLogging: () => undefined,
      close: () => running.close(),
    };
  const config = readConfig(configFile);
  const logger = createLogger('silent');
  const bot = await startBot(config, { role: 'all', logger });
  const reach = await reachRunning(config);
  if (!reach) {
    await bot.close();
    throw new UserError('NOT_REACHED', 'the bot started and does not answer on its control socket');
  }
  return {
    config,
    reach,
    isElsewhere: false,
    consoleUrl: bot.consoleUrl,
    startLogging: () => void (logger.level = config.log.level),
    close: async () => {
      await reach.close();
      await bot.close();
    },
  };
}

/** As the config of another process says it. */
function consoleIn({ console: { enabled, listen, publicUrl } }: AppConfig): string | null {
  return enabled ? (publicUrl ?? `http://${listen}`) : null;
}

/** @returns whether a delivery of the organization arrived, before or within this time */
export async function heardWithin(
  { reach }: Pick<LiveBot, 'reach'>,
  org: string,
  seconds: number,
  stopping: AbortSignal,
): Promise<boolean> {
  const until = Date.now() + seconds * 1000;
  for (;;) {
    const { rows } = await reach.call('deliveries', { org, limit: LOOKED_AT });
    if (rows.some(({ source }) => source === 'webhook')) return true;
    if (Date.now() >= until || stopping.aborted) return false;
    await sleep(LOOK_EVERY_MS, undefined, { signal: stopping }).catch(() => undefined);
  }
}
