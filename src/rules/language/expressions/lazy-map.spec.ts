import { describe, expect, it } from '@jest/globals';
import type { CelInput } from '@bufbuild/cel';
import { LazyMap } from './lazy-map.js';

function aMap(source: object): { map: LazyMap; asked: string[] } {
  const asked: string[] = [];
  const map = new LazyMap(source, (value, field) => {
    asked.push(field);
    return value as CelInput;
  });
  return { map, asked };
}

describe('rules/language/expressions/lazy-map', () => {
  it('converts a field when it is first asked for, and once', () => {
    const { map, asked } = aMap({ a: 1n, b: null, c: 'x' });

    expect([map.get('b'), map.get('c'), map.get('b'), map.get('c')]).toEqual([null, 'x', null, 'x']);
    expect(asked).toEqual(['b', 'c']);
  });

  it('tells how many fields there are and their names without converting any', () => {
    const { map, asked } = aMap({ a: 1n, b: undefined });

    expect([map.size, [...map.keys()], map.has('a'), map.has('b')]).toEqual([1, ['a'], true, false]);
    expect(asked).toEqual([]);
  });

  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
    'has no field %s that the object does not have itself',
    (name) => {
      const { map } = aMap({ a: 1n });

      expect([map.get(name), map.has(name)]).toEqual([undefined, false]);
    },
  );

  it('walks its fields in the order of the object', () => {
    const { map } = aMap({ b: 2n, gone: undefined, a: 1n });
    const walked: unknown[] = [];
    map.forEach((value, name) => walked.push([name, value]));

    expect([[...map], [...map.entries()], [...map.values()], walked]).toEqual([
      [
        ['b', 2n],
        ['a', 1n],
      ],
      [
        ['b', 2n],
        ['a', 1n],
      ],
      [2n, 1n],
      [
        ['b', 2n],
        ['a', 1n],
      ],
    ]);
  });
});
