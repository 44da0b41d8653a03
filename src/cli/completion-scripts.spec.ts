import { spawnSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { commandTable } from './command-table.js';
import { COMPLETION_SCRIPTS } from './completion-scripts.js';
import { manualPage } from './manual-page.js';
import { makeProgram } from './run-cli.js';

const TABLE = commandTable(makeProgram(() => undefined));

function outputOf(command: string, args: string[], input?: string): string {
  const { error, status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', input });
  if (error) throw error;
  if (status !== 0 || stderr !== '') throw new Error(`${command} ended with ${status}: ${stderr}`);
  return stdout;
}

const isThere = (command: string): boolean => spawnSync(command, ['--version']).error === undefined;

/** What each shell would offer for the words of a command line, the last of which is being typed. */
const OFFERS = {
  bash: (words) =>
    outputOf(
      'bash',
      [
        '-c',
        `eval "$0"; forgehand() { echo acme; }; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _forgehand; printf '%s\\n' "\${COMPREPLY[@]}"`,
      ]
        .concat(COMPLETION_SCRIPTS.bash(TABLE))
        .concat(words),
    ),
  // The functions of zsh's own completion, told apart: what they are given is what would be shown.
  zsh: (words) =>
    outputOf(
      'zsh',
      [
        '-fc',
        `compdef() {}; _files() {}; _message() {}; forgehand() { echo acme }; compadd() { print -l -- "\${@:2}" }; _describe() { print -l -- "\${list[@]%%:*}" }
words=("$@"); CURRENT=$#; eval "$0"; _forgehand`,
      ]
        .concat(COMPLETION_SCRIPTS.zsh(TABLE))
        .concat(words),
    ),
  fish: (words) =>
    outputOf(
      'fish',
      ['--no-config', '-c', 'echo $argv[1] | source; function forgehand; echo acme; end; complete -C $argv[2]']
        .concat(COMPLETION_SCRIPTS.fish(TABLE))
        .concat(words.join(' ')),
    ),
} satisfies Record<keyof typeof COMPLETION_SCRIPTS, (words: string[]) => string>;

describe('cli/completion-scripts', () => {
  describe.each(['bash', 'zsh', 'fish'] as const)('%s', (shell) => {
    // It is on every machine that builds this; the others are tried where somebody installed them.
    const test = shell === 'bash' || isThere(shell) ? it : it.skip;
    const offered = (...words: string[]): string[] =>
      OFFERS[shell](words)
        .split('\n')
        .map((line) => line.split('\t')[0] ?? '');

    test.each([
      [['forgehand', 'sta'], ['start', 'status'], []],
      [['forgehand', 'store', ''], ['copy'], ['runs']],
      [['forgehand', 'store', 'copy', '--'], ['--from', '--to'], ['--role']],
      [['forgehand', 'start', '--role', ''], ['web', 'worker', 'scheduler', 'console', 'all'], ['--config']],
      [['forgehand', 'runs', '--org', ''], ['acme'], ['runs']],
      [['forgehand', '-'], ['--version'], []],
    ])('%j => %j', (words, wanted, unwanted) => {
      const offers = offered(...words);

      expect(offers).toEqual(expect.arrayContaining(wanted));
      for (const word of unwanted) expect(offers).not.toContain(word);
    });
  });

  it('bash takes --role=w as people type it', () => {
    expect(OFFERS.bash(['forgehand', 'start', '--role', '=', 'w']).trim().split('\n')).toEqual(['web', 'worker']);
  });
});

describe('cli/manual-page', () => {
  const page = manualPage(TABLE);

  it('has each command and option, and no path of the machine that wrote it', () => {
    for (const { path } of TABLE.slice(1)) expect(page).toContain(`.SS "forgehand${path}`);
    expect(page).toContain('.B "\\-c, \\-\\-config <file>"');
    expect(page).not.toContain(process.cwd());
    expect(page).not.toMatch(/[^\0-\x7f]/);
  });

  (isThere('groff') ? it : it.skip)('is set without a warning', () => {
    expect(outputOf('groff', ['-ww', '-man', '-Tutf8'], page)).toContain('FORGEHAND(1)');
  });
});
