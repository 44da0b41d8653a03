import { Help, type Command, type Option } from 'commander';

/** An option as completion and manual need it. */
export interface OptionRow {
  /** As `--help` shows it, such as `-c, --config <file>`. */
  readonly flags: string;
  /** What can be typed: `-c` and `--config`. */
  readonly names: readonly string[];
  readonly summary: string;
  readonly value: OptionValue;
}

/** What stands behind an option: nothing, one of a few words, a file, an organization of the config, or any text. */
export type OptionValue =
  | { readonly kind: 'none' | 'file' | 'org' | 'text' }
  | { readonly kind: 'choice'; readonly choices: readonly string[] };

/** A command, or one inside another. */
export interface CommandRow {
  /** ` store copy`: its names behind that of the program, each behind a space; '' = the program itself. */
  readonly path: string;
  readonly usage: string;
  readonly summary: string;
  readonly operands: ReadonlyArray<{ readonly name: string; readonly summary: string }>;
  readonly options: readonly OptionRow[];
  readonly inner: ReadonlyArray<{ readonly name: string; readonly summary: string }>;
}

const HELP = new Help();
const FILES = /[<[](file|files|folder|dir|path)[>\]]/;

/** Every command with its options and values, the program itself first. */
export function commandTable(command: Command, path = ''): CommandRow[] {
  const { commands } = command;
  const row: CommandRow = {
    path,
    usage: command.usage(),
    summary: command.description(),
    operands: command.registeredArguments.map((one) => ({ name: one.name(), summary: HELP.argumentDescription(one) })),
    options: HELP.visibleOptions(command).map(optionRow),
    inner: commands.map((inner) => ({ name: inner.name(), summary: inner.description() })),
  };
  return [row, ...commands.flatMap((inner) => commandTable(inner, `${path} ${inner.name()}`))];
}

function optionRow(option: Option): OptionRow {
  const names = [option.short, option.long].filter((name) => name !== undefined);
  return { flags: option.flags, names, summary: optionDescription(option), value: valueOf(option) };
}

function valueOf({ required, optional, argChoices, flags, long }: Option): OptionValue {
  if (!required && !optional) return { kind: 'none' };
  if (argChoices) return { kind: 'choice', choices: argChoices };
  return { kind: FILES.test(flags) ? 'file' : long === '--org' ? 'org' : 'text' };
}

/** A flag that is not given is off: nobody needs to read that. */
export function optionDescription(option: Option): string {
  const isOff = option.defaultValue === false;
  return HELP.optionDescription(isOff ? Object.create(option, { defaultValue: { value: undefined } }) : option);
}
