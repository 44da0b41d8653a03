import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { actionCatalogue } from '../../src/actions/index.js';
import { lookupCatalogue } from '../../src/actions/lookups/index.js';
import { RevisionKeeper } from '../../src/rules/revisions/revision-keeper.js';
import type { Problem } from '../../src/core/problem.js';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import { loadRules } from '../../src/rules/language/load/load-rules.js';
import type { LoadResult, RuleFile } from '../../src/rules/language/revision.js';
import { InMemoryRevisionStore } from '../fakes/in-memory-revision-store.js';
import { ManualClock } from '../fakes/manual-clock.js';

const FOLDER = fileURLToPath(new URL('./broken/', import.meta.url));
const names = readdirSync(FOLDER).sort();
const engine = new CelEngine();

/** As the bot loads what it is to run. */
function load(files: readonly RuleFile[]): LoadResult {
  const environment = {
    org: 'acme',
    actions: actionCatalogue(),
    lookups: lookupCatalogue(),
    powers: new Set<string>(),
    engine,
    checkTypes: true,
  };
  return loadRules(files, { ...environment, secrets: new Set(['mirror_token']) });
}

interface Expected {
  place: string;
  wrong: string;
  fix: string | null;
}

function read(name: string): { file: RuleFile; expected: Expected } {
  const text = readFileSync(FOLDER + name, 'utf8');
  const [, place = '', wrong = ''] = /^# wrong: (\S+) ?(.*)$/m.exec(text) ?? [];
  return { file: { path: name, text }, expected: { place, wrong, fix: /^# fix: (.*)$/m.exec(text)?.[1] ?? null } };
}

function problemsOf(file: RuleFile): readonly Problem[] {
  const result = load([file]);
  return result.ok ? [] : result.problems;
}

describe('a corpus of broken rule files', () => {
  it.each(names)('%s is told once, where it is wrong', (name) => {
    const { file, expected } = read(name);
    const problems = problemsOf(file);

    expect(problems.map(({ line, col }) => `${line}:${col}`)).toEqual([expected.place]);
    expect(problems[0]?.message).toContain(expected.wrong);
    if (expected.fix !== null) expect(problems[0]?.hint).toContain(expected.fix);
  });

  it('has at least 60 kinds of mistake, 45 of them with a proposed fix', () => {
    const all = names.map((name) => ({ name, expected: read(name).expected }));

    expect(all.length).toBeGreaterThanOrEqual(60);
    expect(new Set(all.map(({ name }) => name.replace(/^\d+-/, ''))).size).toBe(all.length);
    expect(all.filter(({ expected }) => expected.fix !== null).length).toBeGreaterThanOrEqual(45);
  });

  it('tells the mistakes of all files at once, in the order of files and lines', () => {
    const files = names.filter((name) => !name.includes('two-rules')).map((name) => read(name).file);
    const result = load(
      files.map((file) => ({ ...file, text: file.text.replaceAll('id: x', `id: x${file.path.slice(0, 3)}`) })),
    );
    const problems = result.ok ? [] : result.problems;

    expect(new Set(problems.map(({ file }) => file)).size).toBe(files.length);
    expect(problems.map(({ file, line }) => `${file} ${String(line).padStart(3)}`)).toEqual(
      problems.map(({ file, line }) => `${file} ${String(line).padStart(3)}`).sort(),
    );
  });

  it('keeps the running revision, whatever of them comes after it', async () => {
    const good: RuleFile = {
      path: 'r.yaml',
      text: 'version: 1\norg: acme\nrules:\n  - {id: x, on: push, do: {milestone.ensure: {title: a}}}\n',
    };
    let files = [good];
    let changed: () => void = () => undefined;
    const keeper = new RevisionKeeper(
      {
        all: [
          {
            name: 'acme',
            source: {
              read: () => Promise.resolve(files),
              watch: (listener: () => void) => void (changed = listener),
              close: () => undefined,
            },
          },
        ],
      },
      { load: async (_org, given) => load(given) },
      { list: async () => [] },
      new InMemoryRevisionStore(),
      new ManualClock(),
      { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
      { raise: () => undefined, resolve: () => undefined },
    );
    await keeper.start();
    const active = await keeper.active('acme');

    for (const name of names) {
      files = [read(name).file];
      changed();
      await keeper.stop();
      expect(keeper.heldBack('acme')).toHaveLength(1);
      expect(await keeper.active('acme')).toBe(active);
    }
    expect(active).not.toBeNull();
  });
});
