import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { checkKeys, scanJson } from './scan-json.js';

/** Both checks, as the endpoint makes them. */
function refuse(text: string, within: typeof caps = caps): string | null {
  const keys = scanJson(Buffer.from(text), within);
  const flaw = typeof keys === 'number' ? checkKeys(JSON.parse(text), keys) : keys;
  return flaw && flaw.text;
}

const caps = { maxDepth: 64, maxNodes: 100_000 };
const nested = (depth: number, open = '[', close = ']'): string => open.repeat(depth) + close.repeat(depth);

describe('core/scan-json', () => {
  it.each([
    ['64 levels', nested(64)],
    ['the escaped look of a key', '{"a":1,"b":"a","c":["a","a"]}'],
    ['one key in several objects', '[{"a":1},{"a":1},{"a":{"a":1}}]'],
    ['braces and quotes inside strings', '{"a":"}{][,:\\"\\\\"}'],
    ['a key that ends in a backslash', '{"a\\\\":1,"b":2}'],
    ['an empty object, list and key', '{"":{},"a":[]}'],
    ['constructor as a key', '{"constructor":1,"prototype":2}'],
  ])('%s => accepted', (_title, text) => {
    expect(refuse(text)).toBeNull();
  });

  it.each([
    ['65 levels of lists', nested(65), /deeper than 64/],
    ['65 levels of objects', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`, /deeper than 64/],
    ['a million levels', nested(1_000_000), /deeper than 64/],
    ['a million levels never closed', '['.repeat(1_000_000), /deeper than 64/],
    ['more than 100,000 values', `[${'1,'.repeat(100_000)}1]`, /more than 100000/],
    ['more than 100,000 empty objects', `[${'{},'.repeat(100_000)}{}]`, /more than 100000/],
    ['a key twice', '{"a":1,"a":2}', /twice/],
    ['a key twice with the same value', '{"a":1,"b":{},"a":1}', /twice/],
    ['a key twice, once escaped', '{"repository":1,"\\u0072epository":2}', /twice/],
    ['a __proto__ key', '{"a":{"__proto__":{"x":1}}}', /__proto__/],
    ['an escaped __proto__ key', '{"\\u005f_proto__":{}}', /__proto__/],
    ['a number of a million digits', `[${'9'.repeat(1_000_000)}]`, /number/],
    ['a string never closed', '["abc', /without end/],
    ['a string closed by an escaped quote alone', '["abc\\"', /without end/],
  ])('%s => refused', (_title, text, reason) => {
    expect(refuse(text)).toMatch(reason);
  });

  it('takes as long for long strings of backslashes as for others', () => {
    const text = `["${'\\\\'.repeat(2_000_000)}"]`;

    expect(refuse(text)).toBeNull();
  });

  it('accepts whatever JSON a serializer writes within the caps', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        const hasProto = text.includes('__proto__');
        expect(hasProto || refuse(text) === null).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('counts the depth that a parser finds', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const depthOf = (v: unknown): number =>
          typeof v === 'object' && v !== null ? 1 + Math.max(0, ...Object.values(v).map(depthOf)) : 0;
        const depth = depthOf(value);
        fc.pre(depth > 0 && !JSON.stringify(value).includes('__proto__'));
        expect(refuse(JSON.stringify(value), { ...caps, maxDepth: depth })).toBeNull();
        expect(refuse(JSON.stringify(value), { ...caps, maxDepth: depth - 1 })).toMatch(/deeper/);
      }),
      { numRuns: 300 },
    );
  });

  it('counts values as a parser finds them', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const countOf = (v: unknown): number =>
          typeof v === 'object' && v !== null
            ? 1 + Object.values(v).reduce((sum: number, one) => sum + countOf(one), 0)
            : 1;
        const count = countOf(value);
        fc.pre(!JSON.stringify(value).includes('__proto__'));
        expect(refuse(JSON.stringify(value), { maxDepth: 64, maxNodes: count })).toBeNull();
        expect(refuse(JSON.stringify(value), { maxDepth: 64, maxNodes: count - 1 })).toMatch(/more than/);
      }),
      { numRuns: 500 },
    );
  });

  it('never throws, whatever the text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', 'a', '1', ' ', '\u0000') }),
        (text) => {
          const found = scanJson(Buffer.from(text), caps);
          expect(['object', 'number']).toContain(typeof found);
        },
      ),
      { numRuns: 2000 },
    );
  });
});
