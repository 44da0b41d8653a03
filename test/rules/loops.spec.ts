import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { actionCatalogue } from '../../src/actions/index.js';
import { lookupCatalogue } from '../../src/actions/lookups/index.js';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import { loadRules } from '../../src/rules/language/load/load-rules.js';
import { aWholeEnvironment } from '../builders/whole-environment.js';

const FOLDER = fileURLToPath(new URL('./loops/', import.meta.url));
const sets = readdirSync(FOLDER).map((name) => {
  const text = readFileSync(FOLDER + name, 'utf8');
  return { name, text, loop: /^# loop: (.*)$/m.exec(text)?.[1]?.split(' ') ?? null };
});
const engine = new CelEngine();

/** As `line: rule, rule` of each cycle told; other problems as they are. */
function loopsIn(name: string, text: string): string[] {
  const environment = { org: 'acme', actions: actionCatalogue(), lookups: lookupCatalogue(), engine, checkTypes: true };
  const result = loadRules([{ path: name, text }], {
    ...environment,
    powers: new Set(['branch.delete', 'repo.create_for_user']),
    secrets: new Set(),
  });
  return (result.ok ? [] : result.problems).map(({ line, message }) => {
    const chain = /^these rules start each other without end: (.*)$/.exec(message)?.[1];
    return chain === undefined ? message : `${line}: ${[...new Set(chain.split(/ -\(.*?\)-> /))].sort().join(' ')}`;
  });
}

describe('loop proof', () => {
  it('is asked 42 times, 18 of them with a cycle', () => {
    expect(sets).toHaveLength(42);
    expect(sets.filter(({ loop }) => loop)).toHaveLength(18);
  });

  it.each(sets)('$name', ({ name, text, loop }) => {
    expect(loopsIn(name, text)).toEqual(loop ? [`5: ${loop.join(' ')}`] : []);
  });

  it('names the effects and events between the rules', () => {
    const { name, text } = sets.find((set) => set.name.includes('three-rules')) ?? { name: '', text: '' };
    const result = loadRules([{ path: name, text }], aWholeEnvironment(engine));

    expect(result.ok ? '' : result.problems[0]?.message).toBe(
      'these rules start each other without end: a -(branch.create: branch.created)-> b -(branch.create: branch.created)-> c -(branch.create: branch.created)-> a',
    );
  });
});
