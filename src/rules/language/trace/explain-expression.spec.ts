import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ExpressionError } from '../expression-engine.js';
import { CelEngine } from '../expressions/cel-engine.js';
import { explainExpression, hasMoreToTell } from './explain-expression.js';
import type { ExplainOptions, ExpressionReport, PartReport } from './explain-expression.js';

const engine = new CelEngine();
const DATA = {
  event: {
    tag: 'v1.4.0',
    draft: false,
    number: 12,
    note: null,
    labels: [{ name: 'kind/bug' }, { name: 'size/s', color: '#fff' }],
    created: '2026-07-01T00:00:00Z',
    files: { added: ['a.yml', 'b.md'] },
  },
  repo: { name: 'web', private: false },
  now: new Date('2026-07-30T12:00:00Z'),
  lookups: {
    none: null,
    mirrors: [
      { remote: 'https://a', error: '', tries: 0 },
      { remote: 'https://b', error: 'timed out', tries: 3 },
      { remote: 'https://c', error: 'refused', tries: 9 },
    ],
    tokens: ['canary-1', 'canary-2'],
    matrix: [{ rows: [{ ok: true }] }, { rows: [{ ok: true }, { ok: false }] }],
  },
};
const values = Object.fromEntries(Object.entries(DATA).map(([name, value]) => [name, engine.bind(value)]));

function explain(source: string, options: ExplainOptions = {}): ExpressionReport {
  return explainExpression(engine.compile(source, Object.keys(DATA)), values, engine, options);
}

function texts(parts: readonly PartReport[]): string[] {
  return parts.map(({ text, offset, value }) => `${text}@${offset}=${value}`);
}

describe('rules/language/trace/explain-expression', () => {
  it.each<[string, boolean | null, string[]]>([
    ['event.draft', false, ['event.draft@0=false']],
    ['event.tag == "x" && event.number > 5', false, ['event.tag == "x"@0=false']],
    ['event.number > 5 && event.tag == "x"', false, ['event.tag == "x"@20=false']],
    ['event.draft || repo.private', false, ['event.draft@0=false', 'repo.private@15=false']],
    ['event.draft || event.number > 5', true, ['event.number > 5@15=true']],
    ['!(event.draft || event.number > 5)', false, ['event.number > 5@17=true']],
    [
      'event.number > 5 && (event.draft || event.tag == "x") && !repo.private',
      false,
      ['event.draft@21=false', 'event.tag == "x"@36=false'],
    ],
    ['event.nothing == 1 || repo.private', null, ['event.nothing == 1@0=null']],
    ['event.nothing == 1 || !repo.private', true, ['repo.private@23=false']],
    ['event.nothing == 1 && repo.private', false, ['repo.private@22=false']],
  ])('%s is %s because of %j', (source, value, parts) => {
    const report = explain(source);

    expect(report.value).toBe(value);
    expect(texts(report.parts)).toEqual(parts);
  });

  it.each([
    [
      'event.draft && repo.private && event.number > 100',
      3,
      ['event.draft@0=false', 'repo.private@15=false', 'event.number > 100@31=false'],
    ],
    ['event.number > 5 && repo.private && event.tag == "v1.4.0"', 1, ['repo.private@20=false']],
    [
      '(event.draft && repo.private) || event.number > 100',
      1,
      ['event.draft@1=false', 'repo.private@16=false', 'event.number > 100@33=false'],
    ],
    ['!(event.number > 5 && event.tag != "")', 1, ['event.number > 5@2=true', 'event.tag != ""@22=true']],
  ])('looked at whole, %s is %i away', (source, away, parts) => {
    const report = explain(source, { thorough: true });

    expect(report.away).toBe(away);
    expect(texts(report.parts)).toEqual(parts);
  });

  it.each([
    ['minor(event.tag) == "1.5"', { 'minor(event.tag)': '1.4' }],
    ['event.tag == "x"', {}],
    ['event.labels.size() > 5', { 'event.labels.size()': 2 }],
    ['event.labels.map(l, l.name) == []', { 'event.labels.map(l, l.name)': ['kind/bug', 'size/s'] }],
    ['now - event.created < duration("24h")', { 'now - event.created': '2548800s' }],
    ['event.number + 1 == size(repo.name)', { 'event.number + 1': 13, 'size(repo.name)': 3 }],
    ['"a.yml" in event.files.added.filter(f, false)', { 'event.files.added.filter(f, false)': '(list of 0)' }],
  ])('shows what the sides of %s gave', (source, seen) => {
    expect(explain(source, { result: false }).parts[0]?.seen).toEqual(seen);
  });

  it.each<[string, object | null]>([
    ['lookups.mirrors.all(m, m.error == "")', { of: 3, index: 1, seen: { 'm.error': 'timed out' }, parts: [] }],
    ['lookups.mirrors.exists(m, m.error == "refused")', { of: 3, index: 2, seen: { 'm.error': 'refused' } }],
    ['lookups.mirrors.all(m, m.remote != "")', null],
    [
      'lookups.mirrors.exists(m, m.error == "x")',
      {
        of: 3,
        index: null,
        nearest: null,
        others: [{ 'm.error': '' }, { 'm.error': 'timed out' }, { 'm.error': 'refused' }],
      },
    ],
    ['lookups.mirrors.exists_one(m, m.tries > 5)', { of: 3, index: 2, seen: { 'm.tries': 9 } }],
    [
      'lookups.mirrors.exists_one(m, m.tries > 1)',
      { of: 3, index: null, others: [{ 'm.tries': 0 }, { 'm.tries': 3 }, { 'm.tries': 9 }] },
    ],
    ['event.labels.all(l, l.color == "#fff")', { of: 2, index: 0, seen: { 'l.color': '(absent)' } }],
    ['event.files.added.exists(f, glob(f, "*.yaml"))', { of: 2, index: null, others: [{ f: 'a.yml' }, { f: 'b.md' }] }],
    ['lookups.tokens.exists(t, t == "x")', { of: 2, others: [{ t: '(hidden)' }, { t: '(hidden)' }] }],
    ['[].exists(x, x == 1)', { of: 0, index: null, others: [] }],
  ])('finds the element that decided %s', (source, loop) => {
    for (const options of [{}, { raw: DATA }]) {
      const [part] = explain(source, options).parts;

      if (loop) expect(part?.loop).toMatchObject(loop);
      else expect(part?.loop).toBeNull();
    }
  });

  it('goes on inside the predicate, for the element that decided', () => {
    const source = 'lookups.mirrors.all(m, m.remote.startsWith("https://") && (m.error == "" || m.tries < 3))';
    const loop = explain(source).parts[0]?.loop;

    expect(loop).toMatchObject({ index: 1, seen: { 'm.remote': 'https://b', 'm.error': 'timed out', 'm.tries': 3 } });
    expect(loop?.parts.map(({ text, offset }) => [text, source.slice(offset, offset + text.length)])).toEqual([
      ['m.error == ""', 'm.error == ""'],
      ['m.tries < 3', 'm.tries < 3'],
    ]);
  });

  it('tells the element that came nearest, where none was as wanted', () => {
    const source = 'lookups.mirrors.exists(m, m.tries > 5 && m.error == "timed out" && m.remote == "https://b")';
    const loop = explain(source, { thorough: true }).parts[0]?.loop;

    expect(loop).toMatchObject({ index: null, nearest: 1, seen: { 'm.tries': 3 } });
    expect(loop?.parts.map(({ text }) => text)).toEqual(['m.tries > 5']);
  });

  it('keeps places in loops inside loops', () => {
    const source = '!repo.private && lookups.matrix.all(x, x.rows.size() > 0 && x.rows.all(r, r.ok && true))';
    const outer = explain(source).parts[0]?.loop?.parts[0];
    const inner = outer?.loop?.parts[0];

    expect([outer, inner].map((part) => part && source.slice(part.offset, part.offset + part.text.length))).toEqual([
      'x.rows.all(r, r.ok && true)',
      'r.ok',
    ]);
    expect(outer?.loop?.index).toBe(1);
  });

  it.each([
    ['event.draft', true, false],
    ['event.draft && repo.private', true, false],
    ['event.draft && repo.private', false, true],
    ['event.draft || repo.private', true, true],
    ['event.tag == "x"', false, true],
    ['lookups.mirrors.all(m, m.error == "")', true, false],
    ['lookups.mirrors.exists(m, m.error == "")', true, true],
    ['!lookups.mirrors.exists(m, m.error == "")', true, true],
    ['!(event.draft && repo.private)', false, false],
    ['event.draft || repo.private', false, true],
  ])('%s, when it is %s, has more to tell: %s', (source, value, expected) => {
    expect(hasMoreToTell(engine.compile(source, Object.keys(DATA)), value)).toBe(expected);
  });

  it('never says otherwise than the expression itself', () => {
    const leaf = fc.constantFrom(
      'event.draft',
      'event.number > 5',
      'event.nothing',
      'event.tag == "x"',
      '!repo.private',
      'lookups.mirrors.exists(m, m.tries > 5)',
      'event.labels.all(l, has(l.color))',
      '(event.draft ? repo.private : event.number == 12)',
    );
    const { tree } = fc.letrec<{ tree: string }>((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        leaf,
        fc
          .tuple(tie('tree'), fc.constantFrom('&&', '||'), tie('tree'))
          .map(([left, operator, right]) => `(${left}) ${operator} ${right}`),
        tie('tree').map((inner) => `!(${inner})`),
      ),
    }));
    fc.assert(
      fc.property(tree, fc.boolean(), fc.boolean(), (source, isThorough, isKnown) => {
        const value = truth(source);
        const report = explain(source, {
          thorough: isThorough,
          ...(isKnown && value !== null ? { result: value } : {}),
        });

        expect(report.value).toBe(value);
        expect(report.parts.length).toBeGreaterThan(0);
        for (const { text, value: told } of report.parts) expect(truth(text)).toBe(told);
      }),
      { numRuns: 200 },
    );
  });
});

function truth(source: string): boolean | null {
  try {
    const value = engine.compile(source, Object.keys(DATA)).evaluate(values);
    return typeof value === 'boolean' ? value : null;
  } catch (error) {
    if (error instanceof ExpressionError) return null;
    throw error;
  }
}
