import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { OPERATIONS } from '../../src/api/operations/index.js';
import { routeOf, type AnyOperation } from '../../src/api/operations/operation.js';
import { makeProgram } from '../../src/cli/run-cli.js';
import { OPERATOR_SCOPES } from '../../src/core/operators.js';
import { ROOT } from '../services/with-services.mjs';

const operations = Object.entries(OPERATIONS) as Array<[string, AnyOperation]>;

const sources = new Map(
  readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('spec.ts'))
    .map((file) => [file, readFileSync(join(ROOT, 'src', file), 'utf8')]),
);
const commandLine = [...sources].flatMap(([file, text]) => (file.startsWith('cli/') ? [text] : [])).join('\n');

/** Whether the command line knows these words: `housekeeping run`. */
function isCommand(words: string): boolean {
  let commands = makeProgram(() => undefined).commands;
  for (const word of words.split(' ')) {
    const found = commands.find((command) => command.name() === word);
    if (!found) return false;
    commands = found.commands;
  }
  return true;
}

describe('operations of the control API', () => {
  it.each(operations)('%s has a scope, schemas, and a command that calls it or a reason why none does', (name, one) => {
    const { scope, input, answer, command, summary } = one;

    expect([...OPERATOR_SCOPES, 'owner']).toContain(scope);
    expect([input, answer].every((schema) => schema instanceof z.ZodType)).toBe(true);
    expect(summary).not.toBe('');
    if (typeof command === 'string') {
      expect([command, isCommand(command)]).toEqual([command, true]);
      expect(commandLine).toMatch(new RegExp(`\\.(call|read)\\(\\s*'${name}'|what: .*'${name}'`));
    } else expect(command.none).not.toBe('');
  });

  it.each(operations)('%s changes something only where its scope is more than to read', (_, { route, scope }) => {
    expect(scope === 'read').toBe(route.startsWith('GET '));
  });

  it.each(operations)('%s has a field of its input for each part of its path', (_, one) => {
    const inPath = [...routeOf(one).path.matchAll(/:(\w+)/g)].map(([, field]) => field);

    expect(Object.keys(one.input.shape)).toEqual(expect.arrayContaining(inPath));
  });

  it('are told by their paths in the table alone', () => {
    const elsewhere = [...sources].flatMap(([file, text]) =>
      file.startsWith('api/operations/') || !/['"`]((GET|POST) )?\/v1\//.test(text) ? [] : [file],
    );

    expect(elsewhere).toEqual([]);
  });
});
