import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { makeProgram } from '../../src/cli/run-cli.js';
import { ROOT } from '../services/with-services.mjs';

/** `store copy` for a command inside another. */
function pathsOf(command: Command, above: readonly string[] = []): string[][] {
  return command.commands.flatMap((inner) => {
    const path = [...above, inner.name()];
    return inner.commands.length > 0 ? pathsOf(inner, path) : [path];
  });
}

const commands = pathsOf(makeProgram(() => undefined)).map((path) => path.join(' '));
const e2e = readdirSync(join(ROOT, 'test/e2e'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(join(ROOT, 'test/e2e', file), 'utf8'))
  .join('\n');
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8').split('## Commands')[1]?.split('\n## ')[0] ?? '';

describe('commands of the command line', () => {
  it.each(commands)('%s is run as it was built', (command) => {
    expect(e2e).toContain(
      command
        .split(' ')
        .map((word) => `'${word}'`)
        .join(', '),
    );
  });

  it.each(commands)('%s stands in the table of the README', (command) => {
    expect(readme).toMatch(new RegExp(`^\\|.*\`${command}[ \`]`, 'm'));
  });
});
