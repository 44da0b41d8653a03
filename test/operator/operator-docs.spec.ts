import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { configJsonSchema } from '../../src/config/config-schema.js';
import { configKeys, operatorDocs } from './operator-docs.js';

const docs = operatorDocs();
const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');

describe('generated pages for operators', () => {
  it.each([...docs.keys()])('docs/%s is what the definitions say (npm run docs -- operator)', (name) => {
    expect(read(`docs/${name}`)).toBe(docs.get(name));
  });

  it('says of every key of the config what it does', () => {
    const keys = configKeys();

    expect(keys.length).toBeGreaterThan(50);
    expect(keys.filter(({ says }) => says === '').map(({ path }) => path)).toEqual([]);
  });

  it('says which keys take a secret', () => {
    const types = new Map(configKeys().map(({ path, type }) => [path, type]));

    expect(types.get('forges[].auth.token')).toBe('secret');
    expect(types.get('orgs[].hooks[].secret')).toBe('secret or list of secret');
    expect(types.get('orgs[].secrets')).toBe('map of secret');
    expect(types.get('store.url')).toBe('string or secret');
  });

  it('shows every key that an operator meets first in the example config', () => {
    const example = read('config/forgehand.example.yaml');
    const required = configKeys().filter(({ otherwise }) => otherwise === 'required');

    for (const { path } of required) expect(example).toContain(`${path.split('.').at(-1)}:`);
  });

  it('has a schema for editors that takes the example config and refuses what the bot refuses', () => {
    const isValid = new Ajv({ strict: false, formats: { uri: true } }).compile(configJsonSchema());
    const example = parse(read('config/forgehand.example.yaml')) as Record<string, unknown>;

    expect(isValid(example)).toBe(true);
    expect(isValid({ ...example, retenton: {} })).toBe(false);
    expect(isValid({ ...example, store: {} })).toBe(false);
  });
});
