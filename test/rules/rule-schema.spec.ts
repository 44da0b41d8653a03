import { readFileSync, readdirSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { actionCatalogue } from '../../src/actions/index.js';
import { lookupCatalogue } from '../../src/actions/lookups/index.js';
import { configJsonSchema } from '../../src/config/config-schema.js';
import { isJsonObject } from '../../src/core/json.js';
import type { Json } from '../../src/core/json.js';
import { ruleSchema } from '../../src/rules/language/rule-schema.js';
import { builtInSets } from '../../src/rules/sources/built-in-sets.js';

const schema = ruleSchema({ actions: actionCatalogue(), lookups: lookupCatalogue(), sets: [...builtInSets().keys()] });
const validate = new Ajv({ strict: false, allErrors: true }).compile(schema);
const root = fileURLToPath(new URL('../../', import.meta.url));

function errors(text: string): string[] {
  return validate(parse(text))
    ? []
    : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

function filesIn(folder: string): Array<readonly [string, string]> {
  return readdirSync(join(root, folder))
    .filter((name) => !name.endsWith('.test.yaml'))
    .map((name) => [`${folder}/${name}`, readFileSync(join(root, folder, name), 'utf8')] as const);
}

const examples = ['docs/rules.md', 'docs/guide.md'].flatMap((page) =>
  [...readFileSync(join(root, page), 'utf8').matchAll(/```yaml\n(.*?)```/gs)].map(
    ([, text = ''], index) => [`${page} ${index + 1}`, text] as const,
  ),
);

describe('forgehand schema', () => {
  it.each([
    ...filesIn('config/rules/acme'),
    ...filesIn('config/rules/starters'),
    ...filesIn('config/rules/organization'),
    ...filesIn('test/rules/loops').filter(([, text]) => text.startsWith('# no loop')),
    ...examples,
  ])('takes %s', (_name, text) => {
    expect(errors(text)).toEqual([]);
  });

  it('and that of the config are draft-07, under the addresses of docs/schemastore.json', () => {
    const catalog = JSON.parse(readFileSync(join(root, 'docs/schemastore.json'), 'utf8')) as {
      schemas: Array<{ name: string; url: string; fileMatch: string[] }>;
    };
    const config = configJsonSchema();

    expect(new Ajv().validateSchema(schema)).toBe(true);
    expect(new Ajv().validateSchema(config)).toBe(true);
    expect(catalog.schemas.map(({ url, name }) => [url, name])).toEqual([
      [config['$id'], config['title']],
      [schema['$id'], schema['title']],
    ]);
    const isMatch = (of: number, path: string): boolean => {
      const all = catalog.schemas[of]?.fileMatch ?? [];
      return (
        all.some((glob) => !glob.startsWith('!') && matchesGlob(path, glob)) &&
        !all.some((glob) => glob.startsWith('!') && matchesGlob(path, glob.slice(1)))
      );
    };
    expect(['config/forgehand.example.yaml', 'etc/forgehand/forgehand.yaml'].map((path) => isMatch(0, path))).toEqual([
      true,
      true,
    ]);
    expect(
      ['x/.forgehand/rules.yaml', 'x/.forgehand/index.yaml', 'x/.forgehand/rules.test.yaml'].map((path) =>
        isMatch(1, path),
      ),
    ).toEqual([true, false, false]);
  });

  it('offers the built-in sets, and takes other files', () => {
    const file = (ref: string): string[] => errors(`version: 1\norg: acme\nextends: [${ref}]\n`);

    expect(JSON.stringify(schema['properties'])).toContain('"forgehand/stale@1"');
    expect([file('forgehand/stale@1'), file('base.yaml')]).toEqual([[], []]);
    expect(file('{a: b}')).not.toEqual([]);
  });

  it('marks what it can know to be wrong', () => {
    const wrong = filesIn('test/rules/broken').filter(([name]) =>
      /unknown-key-in-a-rule|unknown-filter|unknown-event-kind|unknown-mode|unknown-action|unknown-parameter|missing-parameter|unknown-lookup\.yaml|text-for-a-limit|unknown-subject/.test(
        name,
      ),
    );

    expect(wrong.length).toBeGreaterThanOrEqual(8);
    expect(wrong.filter(([, text]) => errors(text).length === 0).map(([name]) => name)).toEqual([]);
  });

  it('describes every key, action, parameter, lookup and kind', () => {
    const lacking: string[] = [];
    const walk = (value: Json, path: string): void => {
      if (Array.isArray(value)) value.forEach((item, index) => walk(item, `${path}[${index}]`));
      if (!isJsonObject(value)) return;
      for (const [name, property] of Object.entries(isJsonObject(value.properties) ? value.properties : {})) {
        const isTold =
          isJsonObject(property) && typeof property.description === 'string' && property.description.length > 3;
        // Conditions over `use` only choose; what they choose between is described.
        if (!isTold && !path.endsWith('.if') && !(name === 'with' && path.endsWith('.then')))
          lacking.push(`${path}.${name}`);
      }
      if ('const' in value && typeof value.const === 'string' && !('description' in value) && !path.includes('.if.'))
        lacking.push(path);
      for (const [key, item] of Object.entries(value)) walk(item, `${path}.${key}`);
    };
    walk(schema, '');

    expect(lacking).toEqual([]);
  });
});
