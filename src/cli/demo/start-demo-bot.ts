import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../../config/read-config.js';
import { startBot, type RunningBot } from '../../main.js';
import { createLogger } from '../../observability/logger.js';
import { reachBot, type Reach } from '../reach-bot.js';
import { writeOperatorFile, type OperatorFile } from './operator-file.js';

export interface DemoBot {
  readonly bot: RunningBot;
  readonly reach: Reach;
  readonly configFile: string;
  /** Where its endpoint is reached on this machine. */
  readonly webhook: string;
}

/**
 * Writes the bot's config and starts it in this process.
 * @param hook points the organization's hook at the endpoint; the bot is closed again where that fails
 */
export async function startDemoBot<Hook>(
  file: OperatorFile,
  hook: (bot: Omit<DemoBot, 'reach'>) => Promise<Hook>,
): Promise<DemoBot & Hook> {
  const configFile = writeOperatorFile(file);
  const log = createWriteStream(join(file.folder, 'bot.log'));
  const bot = await startBot(readConfig(configFile), { role: 'all', logger: createLogger('info', log) });
  try {
    const webhook = `http://127.0.0.1:${new URL(bot.webhookUrl ?? '').port}/webhooks/${file.org}`;
    const facts = { bot, configFile, webhook };
    return { ...(await hook(facts)), ...facts, reach: await reachBot(configFile) };
  } catch (error) {
    await bot.close();
    throw error;
  }
}
