import { Command } from 'commander';
import { UserError } from '../core/errors.js';
import { storeCommand, type BotOptions } from './bot-command.js';
import { orgOption, type SetExit } from './command-options.js';
import type { Destination, TestedDestination } from './notify-destinations.js';
import { plain, print, table } from './print.js';

interface TestOptions extends BotOptions {
  readonly to?: string;
  readonly org?: string;
  readonly rules?: string;
}

export function notifyCommand(exit: SetExit): Command {
  const test = storeCommand('test', 'send one test message to each destination of the rules and of the alerts')
    .option('--to <name>', 'only this destination: `alerts`, ORG/SECRET or SECRET')
    .addOption(orgOption())
    .option('--rules <dir>', 'the rules of the organization, where they come from a repository (with --org)')
    .action(async (options: TestOptions) => {
      const { destinationsIn, testDestination } = await import('./notify-destinations.js');
      const destinations = chosen(await destinationsIn(options), options.to);
      const tested: TestedDestination[] = [];
      for (const one of destinations) tested.push(await testDestination(one));
      print(options.json, { destinations: tested }, () =>
        table(
          ['destination', 'format', 'outcome', 'why'],
          tested.map(({ name, format, outcome, text }) => [plain(name), format, outcome, plain(text)]),
          'no destinations: no rule uses notify, and the config has no alerts',
        ),
      );
      if (tested.some(({ outcome }) => outcome !== 'taken')) exit(1);
    });
  return new Command('notify').description('messages to chats, mail and other services').addCommand(test);
}

function chosen(all: readonly Destination[], to: string | undefined): readonly Destination[] {
  if (to === undefined) return all;
  const those = all.filter(({ name }) => name === to || name.endsWith(`/${to}`));
  if (those.length > 0) return those;
  const names = all.length === 0 ? 'there is none' : `there are ${all.map(({ name }) => name).join(', ')}`;
  throw new UserError('NO_SUCH_DESTINATION', `no destination is called ${to}; ${names}`);
}
