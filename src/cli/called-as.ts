import { basename, delimiter, dirname } from 'node:path';
import { variable } from '../config/environment-file.js';

type ReadVariable = (name: string) => string | null;

const PROGRAM = 'forgehand';
/** A command in a text: the name of the program, then that of a command or an option. */
const COMMAND = /(?<![\w./@-]|npx )forgehand (?=(--)?([a-z]+))/g;

/** Other words behind the name of the program are words of a sentence. */
export const COMMAND_NAMES: ReadonlySet<string> = new Set(
  'init start reload sandbox demo check schema status doctor hook notify activity deliveries gaps runs explain rules backtest test try promote replay retry release resolve plan apply approve findings audit acts pause resume schedules housekeeping operators orgs console erase backup restore store completion man version'.split(
    ' ',
  ),
);

/**
 * What a person types in front of a command: `forgehand` where it is on the path and was started so; else `npx forgehand`, which finds it in the folder of
 * the program and of projects that use it.
 */
export function calledAs(read: ReadVariable = variable, script: string | undefined = process.argv[1]): string {
  const isOnPath =
    script !== undefined &&
    basename(script) === PROGRAM &&
    read('npm_command') === null &&
    (read('PATH') ?? '').split(delimiter).includes(dirname(script));
  return isOnPath ? PROGRAM : `npx ${PROGRAM}`;
}

/** The commands that a text for people names, as this person has to type them. */
export function asCalled(text: string, called = calledAs()): string {
  return text.replace(COMMAND, (whole, option: string | undefined, name: string) =>
    option !== undefined || COMMAND_NAMES.has(name) ? `${called} ` : whole,
  );
}
