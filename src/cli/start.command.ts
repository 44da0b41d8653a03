import { closeSync, openSync, writeSync } from 'node:fs';
import { Command, Option } from 'commander';
import type { Role } from '../config/app-config.js';
import type { FlushFailed } from '../platform/flush.js';
import type { RunningBot } from '../main.js';
import { configOption } from './command-options.js';
import { calledAs } from './called-as.js';
import { writeOut } from './terminal.js';
import { untilStopped } from './until-stopped.js';

export function startCommand(): Command {
  return new Command('start')
    .description('run the bot until SIGTERM or SIGINT; SIGHUP reloads the config')
    .addOption(configOption())
    .addOption(
      new Option('--role <role>', 'role of this process')
        .choices(['web', 'worker', 'scheduler', 'console', 'all'])
        .default('all'),
    )
    .action(async (options: { config: string; role: Role }) => {
      const [{ readConfig }, { createLogger }] = await Promise.all([
        import('../config/read-config.js'),
        import('../observability/logger.js'),
      ]);
      const config = readConfig(options.config, { reader: options.role });
      const logger = createLogger(config.log.level);
      const { startBot } = await import('../main.js');
      const starting = startBot(config, { role: options.role, logger, onFlushFailed: endAtOnce });
      onHangup(starting);
      // Heard from the beginning: a bot that is told to stop while it starts still closes what it opened.
      const stopped = untilStopped(async () => (await starting).close());
      // A service's log is read by others; a person at a terminal is the one who started the bot.
      const isForPerson = process.stdout.isTTY && config.store.kind === 'embedded';
      await Promise.all([stopped, starting.then((bot) => (isForPerson ? printLink(bot) : undefined))]);
    });
}

/** SIGHUP reads the config again, as of other servers; what is wrong with it is in the log. One that comes while the bot starts is heeded then. */
function onHangup(starting: Promise<Pick<RunningBot, 'reload'>>): void {
  const hadTerminal = hasTerminal();
  process.on('SIGHUP', () => {
    // A terminal that was closed sends the same signal, and ends what was started in it.
    if (hadTerminal && !hasTerminal()) return void process.kill(process.pid, 'SIGTERM');
    starting.then((bot) => bot.reload()).catch(() => undefined);
  });
}

function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}

/** Written to the terminal alone, past the log. */
async function printLink(bot: Pick<RunningBot, 'consoleLink'>): Promise<void> {
  const link = await bot.consoleLink();
  if (link) writeOut(`Open the Console within a minute: ${link}\n(later: ${calledAs()} console)\n`);
}

/** Exit code of a process that ended because the disk did not confirm a write: EX_IOERR of sysexits.h. The units do not start the bot again after it. */
export const DISK_FAILED = 74;

/** Without closing anything: whatever is still done could acknowledge what the disk does not have. */
function endAtOnce(error: FlushFailed): never {
  writeSync(2, `error ${error.message} [${error.code}]\n`);
  process.exit(DISK_FAILED);
}
