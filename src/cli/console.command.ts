import { Command } from 'commander';
import { SESSIONS } from '../api/lists.js';
import type { SentTo } from '../api/operations/index.js';
import { botCommand, storeCommand, type BotOptions } from './bot-command.js';
import { listTable } from './print-list.js';
import { plain, print, when } from './print.js';
import { withBot } from './reach-bot.js';
import { writeErr } from './terminal.js';

export function consoleCommand(): Command {
  const open = storeCommand(
    'open',
    'print a link that logs one browser in, once, within a minute (default command)',
  ).action(({ config, json }: BotOptions) =>
    withBot(config, async (bot) => {
      const link = await bot.call('consoleLink');
      if (!json)
        writeErr(
          `Open this link until ${when(link.expiresAt)} UTC. It works once and logs you in as the owner of the bot.\n`,
        );
      print(json, link, () => link.url);
    }),
  );
  const sessions = botCommand('sessions', 'list the browsers that are logged in', {
    ask: async (bot) => (await bot.call('consoleSessions')).sessions,
    show: (all) => listTable(SESSIONS, all),
  });
  const end = botCommand('end', 'end a session at once', {
    argument: 'id',
    ask: async (bot, options: SentTo<'endConsoleSession'>) => (await bot.call('endConsoleSession', options)).session,
    show: ({ name }) => `the session of ${plain(name)} has ended`,
  }).argument('<id>', 'full id of the session, from `forgehand console sessions`');
  return new Command('console')
    .description('open the Console in a browser, list and end its sessions')
    .addCommand(open.exitOverride(), { isDefault: true })
    .addCommand(sessions.exitOverride())
    .addCommand(end.exitOverride());
}
