import { Command, InvalidArgumentError, Option } from 'commander';

/** Where a command says how it ended. */
export type SetExit = (code: number) => void;

export const configOption = (): Option => new Option('-c, --config <file>', 'the operator config').default('config/forgehand.yaml').env('FORGEHAND_CONFIG');
export const jsonOption = (): Option => new Option('--json', 'print JSON').default(false);
export const limitOption = (): Option => new Option('-n, --limit <count>', 'maximum number of rows').default(20).argParser(wholeNumber(1, 1000));

export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < min || value > max) throw new InvalidArgumentError(`a whole number from ${min} to ${max} is wanted.`);
    return value;
  };
}

/** A command that talks to the bot (or opens its store when none runs). */
export function storeCommand(name: string, summary: string): Command {
  return new Command(name).description(summary).addOption(configOption()).addOption(jsonOption());
}
