import { Command } from 'commander';
import { configOption, jsonOption } from './command-options.js';
import { print } from './print.js';
import { withBot, type Reach } from './reach-bot.js';

/** Options of every command that talks to the bot. */
export interface BotOptions {
  readonly config: string;
  readonly json: boolean;
}

interface BotCommand<Options, Value> {
  /** The option that the argument of the command is read as. */
  readonly argument?: keyof Options & string;
  /** Before the bot is reached. @throws UserError where the options do not go together */
  readonly check?: (options: Options) => void;
  readonly ask: (bot: Reach, options: Options) => Promise<Value>;
  readonly show: (value: Value, options: Options) => string | Promise<string>;
  /** What follows from it, such as the exit code. */
  readonly after?: (value: Value, options: Options) => void;
}

/** A command that asks the bot one thing (or opens its store when none runs) and prints the answer. */
export function botCommand<Options extends object, Value>(
  name: string,
  summary: string,
  { argument, check, ask, show, after }: BotCommand<Options, Value>,
): Command {
  return storeCommand(name, summary).action(async (...args: unknown[]) => {
    const { config, json, ...rest } = args.at(-2) as BotOptions;
    const options = { ...rest, ...(argument === undefined ? {} : { [argument]: args[0] }) } as Options;
    check?.(options);
    await withBot(config, async (bot) => {
      const value = await ask(bot, options);
      const text = json ? '' : await show(value, options);
      print(json, value, () => text);
      after?.(value, options);
    });
  });
}

/** A command that talks to the bot in a way of its own. */
export function storeCommand(name: string, summary: string): Command {
  return new Command(name).description(summary).addOption(configOption()).addOption(jsonOption());
}
