import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
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
const page = readFileSync(join(ROOT, 'docs/commands.md'), 'utf8');

describe('commands of the command line', () => {
  it.each(commands)('%s is run as it was built', (command) => {
    expect(e2e).toContain(
      command
        .split(' ')
        .map((word) => `'${word}'`)
        .join(', '),
    );
  });

  it.each(commands)('%s stands in the table of docs/commands.md', (command) => {
    expect(page).toMatch(new RegExp(`^\\|.*\`${command}[ \`]`, 'm'));
  });

  it('each loads only what all of them need before it knows which one it is', () => {
    const loaded = loadedAtOnce(join(ROOT, 'src/cli/run-cli.ts'));
    const own = [...loaded].map((file) => relative(join(ROOT, 'src'), file).split(sep).join('/'));

    expect(own.length).toBeGreaterThan(20);
    expect(
      own.filter((file) =>
        /^(actions|forge|store|pipeline|sandbox\/(?!profile)|rules\/(?!language\/revision)|policies|queue)(?!.*\.port\.ts$)/.test(
          file,
        ),
      ),
    ).toEqual([]);
  });
});

/** A file and all that it imports at once, and they do; not what is imported later or for its types alone. */
function loadedAtOnce(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const [, target = ''] of readFileSync(file, 'utf8').matchAll(
    /^(?:import|export)\s+(?!type\s)(?:[^'";]*?\sfrom\s+)?['"](\.[^'"]+)['"]/gm,
  ))
    loadedAtOnce(join(dirname(file), target.replace(/\.js$/, '.ts')), seen);
  return seen;
}
