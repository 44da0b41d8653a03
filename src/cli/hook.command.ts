import { Command } from 'commander';
import type { HookReport } from '../housekeeping/doctor/install-hook.js';
import type { SetExit } from './command-options.js';
import { plain, table } from './print.js';
import { whichOrg } from './which-org.js';
import { colour } from './terminal.js';
import { botCommand } from './bot-command.js';
import type { SentTo } from '../api/operations/index.js';

interface InstallOptions extends Omit<SentTo<'installHook'>, 'org' | 'isNew'> {
  readonly org?: string;
  readonly dryRun: boolean;
  readonly new: boolean;
}

/** Exit: 0 the webhook is correct (on a dry run: would be), 1 the command left it alone, or something is left to do. */
export function hookCommand(exit: SetExit): Command {
  const install = botCommand('install', 'create or repair the webhook of an organization', {
    ask: (bot, { org, new: isNew, ...wish }: InstallOptions) =>
      bot.call('installHook', { ...wish, org: whichOrg(bot.config, org).label, isNew }),
    show: (report, { dryRun }) => describe(report, dryRun),
    after: ({ notes }) => exit(notes.length > 0 ? 1 : 0),
  })
    .option('--org <name>', 'organization. Required when the config has several')
    .option('--dry-run', 'show the changes, and make none', false)
    .option('--all-events', 'subscribe to every event, not only to those that the rules use', false)
    .option('--hook <number>', 'take over this webhook, even if it points elsewhere')
    .option('--new', 'add a webhook even if there is one for another bot', false)
    .option('--recreate', 'replace our webhook; the only way to change its secret', false)
    .option('--keep-filter', 'keep the branch filter', false)
    .option('--without-authorization', 'the webhook has no Authorization header (the server does not show it)', false)
    .addHelpText(
      'after',
      '\nExit codes: 0 the webhook is correct, 1 the command left it alone or something is left to do, 2 wrong command line or file, 3 could not be done.',
    );
  return new Command('hook').description('manage the webhook of an organization').addCommand(install);
}

function describe({ org, does, hook, changes, written, notes, later = [] }: HookReport, dryRun: boolean): string {
  const name = `webhook${hook === null ? '' : ` ${hook}`} of ${plain(org)}`;
  const doneWords = { create: 'made', repair: 'repaired', replace: 'made in place of the old one' };
  const head =
    does === 'refused'
      ? colour.red(`the webhook of ${plain(org)} was not touched`)
      : does === 'nothing'
        ? colour.green(`${name} is as it should be`)
        : written
          ? colour.green(`${name} is ${doneWords[does]}`)
          : `${name} would be ${doneWords[does]}${dryRun ? ' (nothing was written)' : ''}`;
  const rows = changes.map(({ field, before, after }) => [field, plain(before ?? '-'), plain(after)]);
  return [
    head,
    ...(rows.length > 0 ? [table(['field', 'before', 'after'], rows, '')] : []),
    ...notes.map((line) => colour.yellow(plain(line))),
    ...(later.length > 0
      ? [
          `rules that come later and use other events need \`forgehand hook install\` again (or now --all-events): ${plain(later.join(', '))}`,
        ]
      : []),
  ].join('\n');
}
