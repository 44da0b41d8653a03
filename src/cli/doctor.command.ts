import { Option, type Command } from 'commander';
import type { SetExit } from './command-options.js';
import { whichOrg } from './which-org.js';
import type { SentTo } from '../api/operations/index.js';
import { pageCommand } from './page-command.js';
import { plain } from './print.js';
import { Progress } from './progress.js';
import type { Reach } from './reach-bot.js';
import { colour } from './terminal.js';

interface DoctorOptions {
  readonly org?: string;
  readonly fresh: boolean;
  readonly operations: boolean;
  readonly system: boolean;
  readonly root?: string;
}

/** Exit: 0 nothing is wrong, 1 something is. */
export function doctorCommand(exit: SetExit): Command {
  return pageCommand('doctor', 'diagnose problems between forge and bot, with the fix for each', {
    page: async (
      bot,
      { org: typed, fresh, operations, system: _, root: __, ...place }: DoctorOptions & SentTo<'doctor'>,
    ) => {
      const isFirst = place.after === undefined;
      const org = typed && whichOrg(bot.config, typed).label;
      if (fresh && org === undefined && isFirst) await lookAtAll(bot);
      return {
        running: bot.running,
        config: bot.config.file,
        ...(await bot.call('doctor', { org, operations, ...place })),
      };
    },
    show: async ({ config, ...report }, { operations }) => {
      const { describeDoctor } = await import('./print-doctor.js');
      return `${colour.dim(`config: ${plain(config)}`)}\n${describeDoctor(report, operations)}`;
    },
    join: ({ forges, ...report }, further) => ({
      ...report,
      forges: [...new Map([...forges, ...further.forges].map((forge) => [forge.id, forge])).values()],
    }),
    after: ({ findings }) => exit(findings > 0 ? 1 : 0),
    instead: async ({ system, root, config, json }) => {
      if (!system) return false;
      const { doctorSystem } = await import('./system/doctor-system.js');
      exit((await doctorSystem(config, json, root)) > 0 ? 1 : 0);
      return true;
    },
  })
    .addOption(new Option('--org <name>', 'look at this organization now. Default: answer for all from what is known'))
    .option('--fresh', 'look at all organizations now, one after the other', false)
    .option('--operations', 'probe every operation, not only those that the rules need, and list them', false)
    .option('--system', 'look at this machine instead: unit, user, modes of files, limits, clock, disk, ports', false)
    .option('--root <dir>', 'with --system: look below this folder, such as the root of an image. Default: /')
    .addHelpText(
      'after',
      '\nExit codes: 0 nothing is wrong, 1 there are findings, 2 wrong command line or file, 3 the check was not possible.',
    );
}

/** One short call for each organization: whoever ends it keeps what was seen by then. */
async function lookAtAll(bot: Reach): Promise<void> {
  const orgs = (await bot.call('organizations')).filter(({ isWhole }) => isWhole);
  const progress = new Progress('organizations', orgs.length);
  for (const { name } of orgs) {
    await bot.call('doctor', { org: name, limit: 1 });
    progress.add(1);
  }
  progress.end();
}
