import { describe, expect, it } from '@jest/globals';
import { CelEngine } from './expressions/cel-engine.js';
import { MAPS } from './grammar.js';
import { loadRules } from './load/load-rules.js';
import type { RuleFile } from './revision.js';
import type { MapName } from './shapes.js';
import { aWholeEnvironment } from '../../../test/builders/whole-environment.js';

const engine = new CelEngine();
const SHARED: RuleFile = { path: 'shared', shared: 'shared', text: 'version: 1\n' };

function problemsOf(files: readonly RuleFile[]) {
  const result = loadRules(files, aWholeEnvironment(engine));
  return result.ok ? [] : result.problems;
}

const HEAD = 'version: 1\norg: acme\n';
/** A file in which a map has one key alone, in the last line. */
const PLACES: Readonly<Record<Exclude<MapName, 'shared_file'>, string>> = {
  file: '',
  rule: `${HEAD}rules:\n - \n   `,
  policy: `${HEAD}policies:\n - \n   `,
  where: `${HEAD}rules:\n - where:\n    `,
  subjects: `${HEAD}policies:\n - subjects:\n    `,
  lookup: `${HEAD}rules:\n - on: push\n   lookup:\n    one:\n     use: labels.list\n     `,
  step: `${HEAD}rules:\n - do:\n    label.ensure: {}\n    `,
  fix: `${HEAD}policies:\n - fix:\n    label.ensure: {}\n    `,
  limits: `${HEAD}rules:\n - limits:\n    `,
  policy_limits: `${HEAD}policies:\n - limits:\n    `,
  schedule: `${HEAD}rules:\n - schedule:\n    `,
  coalesce: `${HEAD}rules:\n - coalesce:\n    `,
  expectation: `${HEAD}policies:\n - expect:\n    one:\n     `,
  protection: `${HEAD}policies:\n - subjects: {repos: x}\n   protections:\n    - `,
};
/** Of keys that stand there already, or that are looked at only beside another one. */
const OTHER_PLACES: Readonly<Record<string, string>> = {
  'lookup.use': `${HEAD}rules:\n - on: push\n   lookup:\n    one:\n     `,
  'step.use': `${HEAD}rules:\n - do:\n    `,
  'fix.use': `${HEAD}policies:\n - fix:\n    `,
  'step.with': `${HEAD}rules:\n - do:\n    use: label.ensure\n    `,
  'fix.with': `${HEAD}policies:\n - fix:\n    use: label.ensure\n    `,
  'policy.variables': `${HEAD}policies:\n - subjects: {org: acme}\n   `,
};
const keysOf = (name: MapName): string[] => Object.keys(MAPS[name].keys);

describe('rules/language/grammar', () => {
  it.each(
    (Object.keys(PLACES) as Array<keyof typeof PLACES>).flatMap((name) =>
      keysOf(name).map((key) => [name, key] as const),
    ),
  )('a wrong value is told where it stands: %s.%s', (name, key) => {
    const start = OTHER_PLACES[`${name}.${key}`] ?? PLACES[name];
    const text = `${start}${key}: [[1]]\n`;
    const lines = text.trimEnd().split('\n');
    const col = (lines.at(-1)?.lastIndexOf('[[') ?? 0) + 1;

    expect(problemsOf([{ path: 'r', text }]).filter((one) => one.line === lines.length && one.col >= col)).not.toEqual(
      [],
    );
  });

  it.each(keysOf('shared_file'))('a wrong value of a shared file is told in its line: %s', (key) => {
    const files = [
      { path: 'r', text: `${HEAD}extends: shared\n` },
      { ...SHARED, text: `${key === 'version' ? '' : 'version: 1\n'}${key}: [[1]]\n` },
    ];

    expect(
      problemsOf(files).filter(({ file, line }) => file === 'shared' && line === (key === 'version' ? 1 : 2)),
    ).not.toEqual([]);
  });
});
