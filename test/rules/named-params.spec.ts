import { describe, expect, it } from '@jest/globals';
import { actionCatalogue } from '../../src/actions/index.js';
import { lookupCatalogue } from '../../src/actions/lookups/index.js';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import { loadRules } from '../../src/rules/language/load/load-rules.js';

const engine = new CelEngine();
const actions = actionCatalogue();
const lookups = lookupCatalogue();
const POWERS = [...actions.values()].flatMap(({ power }) => power ?? []);

/** Lines and words of what is wrong with one parameter. */
function told(use: string, where: 'do' | 'lookup', name: string, value: string): string[] {
  const with_ = `          ${name}: ${value}\n`;
  const lookup = `    lookup:\n      x:\n        use: ${use}\n        with:\n${with_}`;
  const step = `    do:\n      - use: ${use}\n        with:\n${with_}`;
  const other = '    do: {milestone.ensure: {title: a}}\n';
  const text = `version: 1\norg: acme\nrules:\n  - id: r\n    on: pull_request.opened\n${where === 'do' ? step : lookup + other}`;
  const result = loadRules([{ path: 'r.yaml', text }], {
    ...{ org: 'acme', actions, lookups, powers: new Set(POWERS), secrets: new Set<string>(), engine },
    checkTypes: true,
  });
  const line = text.split('\n').findIndex((one) => one.startsWith(`          ${name}: `)) + 1;
  return result.ok ? [] : result.problems.filter((one) => one.line === line).map(({ message }) => message);
}

const all = [
  ...[...actions.values()].map(({ name, params }) => ({ use: name, where: 'do' as const, params })),
  ...[...lookups.values()].map(({ name, params }) => ({ use: name, where: 'lookup' as const, params })),
].flatMap(({ use, where, params }) =>
  Object.entries(params).map(([name, spec]) => ({
    ...{ use, where, name, type: spec.type as string },
    names: spec.names ?? (spec.type === 'integer' ? 'number' : undefined),
  })),
);
const of = (kind: (one: (typeof all)[number]) => boolean) =>
  all.filter(kind).map((one) => [`${one.where} ${one.use} ${one.name}`, one] as const);

describe('parameters that name something', () => {
  it.each(of(({ names }) => names === 'number'))('%s takes a number of the forge and no other text', (_, one) => {
    for (const value of [
      '"${{ event.pull_request.title }}"',
      '"${{ event.pull_request.draft ? event.pull_request.title : event.pull_request.body }}"',
      '"x${{ event.number }}"',
      'twelve',
      '"${{ event.number }} "',
      '"${{ now }}"',
      '"${{ event.pull_request.draft }}"',
    ])
      expect(told(one.use, one.where, one.name, value)).not.toEqual([]);
    for (const value of ['12', '"12"', '"${{ event.number }}"'])
      expect(told(one.use, one.where, one.name, value).filter((text) => /number of the forge/.test(text))).toEqual([]);
  });

  it.each(of(({ names }) => names !== undefined && names !== 'number'))('%s takes no full ref', (_, one) => {
    const values = [
      'refs/heads/x',
      'refs/tags/v1',
      'refs/for/main',
      '"refs/heads/${{ repo.name }}"',
      '"${{ \'refs/heads/\' + repo.name }}"',
    ];
    for (const value of values)
      expect(told(one.use, one.where, one.name, value)).toEqual([
        `${one.use}: ${one.name}: a ${one.names === 'ref' ? 'branch or tag' : (one.names ?? '')} is named without "refs/…"`,
      ]);
    for (const value of ['x', 'v1.0', 'release/refs']) expect(told(one.use, one.where, one.name, value)).toEqual([]);
  });

  it.each([
    ['issue.get', 'number', '0'],
    ['comments.list', 'number', '-1'],
    ['jobs.of_attempt', 'run', '0'],
  ])('lookup %s takes no %s below 1', (use, name, value) => {
    expect(told(use, 'lookup', name, value)).toEqual([`${use}: ${name}: must be a positive whole number`]);
  });

  it.each(of(({ names }) => names === 'number'))('%s takes a number with and without quotes', (_, one) => {
    for (const value of ['7', '"7"']) expect(told(one.use, one.where, one.name, value)).toEqual([]);
  });

  it.each(
    of(
      ({ type, use, name }) => type === 'time' || (/^(?:since|before)$/.test(name) && /^(?:issues|comments)/.test(use)),
    ),
  )('%s takes no time that does not exist', (_, one) => {
    for (const value of ['"2027-02-30T12:00:00Z"', '"2027-01-31T24:00:00Z"', '"2027-13-01T00:00:00Z"'])
      expect(told(one.use, one.where, one.name, value)).toEqual([expect.stringContaining(one.name)]);
    expect(told(one.use, one.where, one.name, '"2027-01-31T12:00:00Z"')).toEqual([]);
  });

  it('finds parameters of each kind', () => {
    expect(of(({ names }) => names === 'number').length).toBeGreaterThan(15);
    expect(of(({ names }) => names === 'branch').length).toBeGreaterThan(5);
    expect(of(({ names }) => names === 'tag').length).toBeGreaterThan(4);
    expect(of(({ names }) => names === 'ref').length).toBeGreaterThan(1);
    expect(of(({ type }) => type === 'time').length).toBeGreaterThan(1);
  });
});
