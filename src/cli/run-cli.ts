import { Command, CommanderError } from 'commander';
import { BotError, InvalidFile, UserError, messageOf } from '../core/errors.js';
import { formatProblem } from '../core/problem.js';
import type { SetExit } from './command-options.js';
import { actsCommand } from './acts.command.js';
import { activityCommand } from './activity.command.js';
import { applyCommand } from './apply.command.js';
import { approveCommand } from './approve.command.js';
import { auditCommand } from './audit.command.js';
import { backtestCommand } from './backtest.command.js';
import { backupCommand } from './backup.command.js';
import { checkCommand } from './check.command.js';
import { optionDescription } from './command-table.js';
import { completionCommand } from './completion.command.js';
import { consoleCommand } from './console.command.js';
import { deliveriesCommand } from './deliveries.command.js';
import { demoCommand } from './demo.command.js';
import { doctorCommand } from './doctor.command.js';
import { eraseCommand } from './erase.command.js';
import { explainCommand } from './explain.command.js';
import { findingsCommand } from './findings.command.js';
import { gapsCommand } from './gaps.command.js';
import { hookCommand } from './hook.command.js';
import { housekeepingCommand } from './housekeeping.command.js';
import { initCommand } from './init.command.js';
import { manCommand } from './man.command.js';
import { notifyCommand } from './notify.command.js';
import { operatorsCommand } from './operators.command.js';
import { orgsCommand } from './orgs.command.js';
import { pauseCommand, resumeCommand } from './pause.command.js';
import { promoteCommand } from './promote.command.js';
import { plain } from './print.js';
import { planCommand } from './plan.command.js';
import { reloadCommand } from './reload.command.js';
import { replayCommand } from './replay.command.js';
import { releaseCommand } from './release.command.js';
import { retryCommand } from './retry.command.js';
import { resolveCommand } from './resolve.command.js';
import { restoreCommand } from './restore.command.js';
import { rulesCommand } from './rules.command.js';
import { runsCommand } from './runs.command.js';
import { schedulesCommand } from './schedules.command.js';
import { schemaCommand } from './schema.command.js';
import { sandboxCommand } from './sandbox.command.js';
import { DISK_FAILED, startCommand } from './start.command.js';
import { storeCommands } from './store.command.js';
import { statusCommand } from './status.command.js';
import { testCommand } from './test.command.js';
import { tryCommand } from './try.command.js';
import { VERSION } from '../platform/version.js';
import { versionCommand } from './version.command.js';
import { noPagerOption } from './pager.js';
import { colour, keepForPager, showKept, writeErr, writeOut } from './terminal.js';

/** 0 done · 1 the answer is no (a check failed, nothing was retried) · 2 the command line or a file is wrong · 3 it could not be done · 4 a plan has changes · 74 the disk did not confirm a write. */
const EXIT = { ok: 0, no: 1, usage: 2, failed: 3 } as const;

/** Every command, in the order of `--help`. */
const COMMANDS: ReadonlyArray<(exit: SetExit) => Command> = [
  initCommand,
  startCommand,
  reloadCommand,
  sandboxCommand,
  demoCommand,
  checkCommand,
  notifyCommand,
  schemaCommand,
  statusCommand,
  doctorCommand,
  hookCommand,
  activityCommand,
  deliveriesCommand,
  gapsCommand,
  runsCommand,
  explainCommand,
  rulesCommand,
  backtestCommand,
  testCommand,
  tryCommand,
  promoteCommand,
  replayCommand,
  retryCommand,
  releaseCommand,
  resolveCommand,
  planCommand,
  applyCommand,
  approveCommand,
  findingsCommand,
  auditCommand,
  actsCommand,
  pauseCommand,
  resumeCommand,
  schedulesCommand,
  housekeepingCommand,
  operatorsCommand,
  orgsCommand,
  consoleCommand,
  eraseCommand,
  backupCommand,
  restoreCommand,
  storeCommands,
  completionCommand,
  manCommand,
  versionCommand,
];

/** The whole command line; what a command answers beside "done" goes to `exit`. */
export function makeProgram(exit: SetExit): Command {
  const program = new Command('forgehand')
    .description('Automate Gitea and Forgejo organizations with rules and policies.')
    .version(VERSION, '-V, --version')
    .showHelpAfterError('(forgehand --help shows the commands)')
    // Options belong to the command they stand behind, also to one inside another.
    .enablePositionalOptions()
    .addHelpText(
      'after',
      '\nExit codes: 0 done, 1 the answer is no, 2 wrong command line or file, 3 could not be done, 4 a plan has changes.',
    );
  for (const make of COMMANDS) program.addCommand(answering(make(exit), 'forgehand'));
  program.hook('preAction', (_, command) => pageList(command));
  return program.configureOutput({ writeOut, writeErr }).exitOverride();
}

/** @returns the exit code; never throws, never prints a stack. */
export async function runCli(args: readonly string[]): Promise<number> {
  let code: number = EXIT.ok;
  try {
    await makeProgram((outcome) => (code = outcome))
      .parseAsync(args, { from: 'user' })
      .finally(showKept);
    return code;
  } catch (error) {
    return report(error);
  }
}

/** Lists alone have the option, and those that go on never end. */
function pageList(command: Command): void {
  const { pager, json, follow } = command.opts<{ pager?: boolean; json?: boolean; follow?: boolean }>();
  if (pager && !json && !follow) keepForPager();
  // It is no option of what the command asks the bot.
  command.setOptionValue('pager', undefined);
}

/**
 * A wrong command line comes back as an error, and says where to look. Of the commands inside it too: else a wrong option there would end the
 * process with a code of the library's own.
 */
function answering(command: Command, above: string): Command {
  const path = `${above} ${command.name()}`;
  for (const inner of command.commands) answering(inner, path);
  if (command.options.some(({ long }) => long === '--limit')) command.addOption(noPagerOption());
  command.configureOutput({ writeOut, writeErr }).configureHelp({ optionDescription });
  return command.showHelpAfterError(`(${path} --help shows what it takes)`).exitOverride();
}

function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (error instanceof InvalidFile) {
    for (const problem of error.problems) writeErr(`${colour.red('error')} ${plain(formatProblem(problem))}\n`);
    return EXIT.usage;
  }
  if (error instanceof UserError) {
    writeErr(`${colour.red('error')} ${error.message}\n`);
    return error.code === 'FLUSH_FAILED' ? DISK_FAILED : EXIT.failed;
  }
  const code =
    error instanceof BotError ? error.code : ((error as NodeJS.ErrnoException | undefined)?.code ?? 'INTERNAL');
  const message = messageOf(error);
  writeErr(`${colour.red('error')} ${message.split('\n', 1)[0]} [${code}]\n`);
  return EXIT.failed;
}
