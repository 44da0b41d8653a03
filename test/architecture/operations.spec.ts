import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import { OPERATIONS } from '../../src/api/operations/index.js';
import { openApi } from '../../src/api/operations/openapi.js';
import { routeOf, type AnyOperation } from '../../src/api/operations/operation.js';
import { makeProgram } from '../../src/cli/run-cli.js';
import { OPERATOR_SCOPES } from '../../src/core/operator-scopes.js';
import { ROOT } from '../services/with-services.mjs';

interface Body {
  readonly content: { readonly 'application/json': { readonly schema: object } };
}

/** An operation of an OpenAPI document. */
interface Described {
  readonly operationId: string;
  readonly parameters: ReadonlyArray<{ readonly name: string; readonly in: 'path' | 'query' }>;
  readonly requestBody?: Body;
  readonly responses: { readonly '200': Body };
}

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

/** Those that are sent a draft, or work for whoever sent one, and keep nothing in the store. */
const WITH_DRAFTS = ['checkDraft', 'tryDraft', 'tryOnObject', 'draftFixture', 'startBacktest', 'cancelBacktest'];

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

  it.each(operations)('%s changes something only where its scope is more than to read', (name, one) => {
    const { route, scope, changesNothing = false } = one;

    expect(scope === 'read').toBe(route.startsWith('GET ') || changesNothing);
    expect(changesNothing).toBe(WITH_DRAFTS.includes(name));
  });

  it.each(operations)('%s says what the record of the act keeps, where it takes more than to read', (_, one) => {
    expect(one.about !== undefined).toBe(one.scope !== 'read');
    expect(Object.keys(one.input.shape)).toEqual(expect.arrayContaining([...(one.about ?? [])]));
    expect((one.about ?? []).filter((field) => /text|files|address|token|secret|reason|^org$/.test(field))).toEqual([]);
  });

  it.each(operations)('%s has a field of its input for each part of its path', (_, one) => {
    const inPath = [...routeOf(one).path.matchAll(/:(\w+)/g)].map(([, field]) => field);

    expect(Object.keys(one.input.shape)).toEqual(expect.arrayContaining(inPath));
  });

  it('are an OpenAPI document in which every path has its fields and every schema compiles', () => {
    const { paths } = openApi(OPERATIONS) as unknown as { paths: Record<string, Record<string, Described>> };
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, one]) => ({ ...one, route: `${method.toUpperCase()} ${path}` })),
    );
    const ajv = new Ajv2020({ strict: false, validateFormats: false });

    expect(described.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(OPERATIONS).sort());
    for (const { route, parameters, requestBody, responses } of described) {
      const inPath = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
      expect([...route.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)).toEqual(inPath);
      for (const body of [requestBody, responses['200']])
        if (body) expect(() => ajv.compile(body.content['application/json'].schema)).not.toThrow();
    }
  });

  it('are told by their paths in the table alone', () => {
    const elsewhere = [...sources].flatMap(([file, text]) =>
      file.startsWith('api/operations/') || !/['"`]((GET|POST) )?\/v1\//.test(text) ? [] : [file],
    );

    expect(elsewhere).toEqual([]);
  });
});
