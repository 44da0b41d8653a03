import { Command } from 'commander';
import { storeCommand } from './command-options.js';
import { plain, print, table, when } from './print.js';
import { withBot } from './reach-bot.js';
import { writeErr } from './terminal.js';

interface Common {
  readonly config: string;
  readonly json: boolean;
}

export function consoleCommand(): Command {
  const open = storeCommand(
    'open',
    'print a link that logs one browser in, once, within a minute (default command)',
  ).action(({ config, json }: Common) =>
    withBot(config, async (bot) => {
      const link = await bot.call('consoleLink');
      if (!json)
        writeErr(
          `Open this link until ${when(link.expiresAt)} UTC. It works once and logs you in as the owner of the bot.\n`,
        );
      print(json, link, () => link.url);
    }),
  );
  const sessions = storeCommand('sessions', 'list the browsers that are logged in').action(({ config, json }: Common) =>
    withBot(config, async (bot) => {
      const { sessions: all } = await bot.call('consoleSessions');
      const head = ['id', 'name', 'by', 'browser', 'began (UTC)', 'last seen (UTC)', 'ends (UTC)'];
      print(json, all, () =>
        table(
          head,
          all.map(({ id, name, kind, agent, madeAt, seenAt, endsAt }) => [
            id,
            plain(name),
            kind,
            plain(agent),
            when(madeAt),
            when(seenAt),
            when(endsAt),
          ]),
          'no browser is logged in: forgehand console prints a link',
        ),
      );
    }),
  );
  const end = storeCommand('end', 'end a session at once')
    .argument('<id>', 'full id of the session, from `forgehand console sessions`')
    .action((id: string, { config, json }: Common) =>
      withBot(config, async (bot) => {
        const { session } = await bot.call('endConsoleSession', { id });
        print(json, session, () => `the session of ${plain(session.name)} has ended`);
      }),
    );
  return new Command('console')
    .description('open the Console in a browser, list and end its sessions')
    .addCommand(open.exitOverride(), { isDefault: true })
    .addCommand(sessions.exitOverride())
    .addCommand(end.exitOverride());
}
