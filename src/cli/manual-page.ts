import { VERSION } from '../platform/version.js';
import type { CommandRow } from './command-table.js';

/** What the table of commands does not say. */
const ENVIRONMENT = {
  FORGEHAND_CONFIG: 'The config, where no --config is given.',
  NO_COLOR: 'No colours.',
  FORCE_COLOR: 'Colours in a pipe too; 0 means none.',
  PAGER: 'Shows lists that are longer than the terminal. Default: less, where it is installed.',
};
const EXIT_STATUS = {
  0: 'Done.',
  1: 'The answer is no: a check failed, or there are findings.',
  2: 'The command line or a file is wrong.',
  3: 'It could not be done.',
  4: 'A plan has changes.',
  74: 'The disk did not confirm a write.',
};
const FILES = {
  'config/forgehand.yaml': 'The config, else the first that is there of the next two.',
  '$XDG_CONFIG_HOME/forgehand/forgehand.yaml': 'The config of a user; ~/.config where the variable is not set.',
  '/etc/forgehand/forgehand.yaml': 'The config of the machine.',
};

/** `forgehand(1)` in the language of man(7). @param table of every command (commandTable) */
export function manualPage([program, ...commands]: readonly CommandRow[]): string {
  return [
    `.TH FORGEHAND 1 "" "Forgehand ${VERSION}" "Forgehand"`,
    '.SH NAME',
    `forgehand \\- ${roff(program?.summary ?? '')}`,
    '.SH SYNOPSIS',
    '.B forgehand',
    roff(program?.usage ?? ''),
    '.SH OPTIONS',
    ...(program?.options ?? []).map(({ flags, summary }) => entry(flags, summary)),
    '.SH COMMANDS',
    ...commands.flatMap(ofCommand),
    ...['ENVIRONMENT', 'FILES', 'EXIT STATUS'].flatMap((title, n) => [
      `.SH ${title}`,
      ...Object.entries([ENVIRONMENT, FILES, EXIT_STATUS][n] ?? {}).map(([name, text]) => entry(name, text)),
    ]),
    '',
  ].join('\n');
}

function ofCommand({ path, usage, summary, operands, options, inner }: CommandRow): string[] {
  return [
    `.SS "forgehand${roff(path)}${inner.length > 0 ? '' : ` ${roff(usage)}`}"`,
    roff(summary),
    ...operands.map((operand) => entry(operand.name, operand.summary)),
    ...options.filter(({ names }) => !names.includes('--help')).map((option) => entry(option.flags, option.summary)),
  ];
}

function entry(name: string, text: string): string {
  return `.TP\n.B "${roff(name)}"\n${roff(text)}`;
}

/** A text as it is read: no escape, no request at the start of a line, no end of a quoted argument. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replace(
      /[^\0-\x7f]/gu,
      (character) => `\\[u${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`,
    )
    .replace(/^(?=[.'])/gm, '\\&');
}
