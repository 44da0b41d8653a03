import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { missingTest, type NamedTest } from './named-tests.js';

/** What recorded servers do that catches clients out, and the tests that hold each part of the bot to it. */
const TRAPS = JSON.parse(readFileSync('test/reliability/traps.json', 'utf8')) as Record<
  string,
  Record<string, NamedTest[]>
>;

describe('architecture/traps', () => {
  it('names every trap, for the client and for what is behind it', () => {
    expect(Object.keys(TRAPS)).toEqual([
      'transient 405',
      '301 of a renamed repository',
      '307 of a renamed owner',
      '500 for a mistake of the client',
      'credentials refused in a mirror address',
      'a permission that does not tell the truth',
      'missing headers',
    ]);
    expect(
      Object.entries(TRAPS).filter(
        ([, parts]) =>
          !('client' in parts) ||
          Object.keys(parts).length < 2 ||
          Object.values(parts).some((tests) => tests.length === 0),
      ),
    ).toEqual([]);
  });

  it('names tests that exist', () => {
    const all = Object.values(TRAPS).flatMap((parts) => Object.values(parts).flat());

    expect(all.flatMap((test) => missingTest(test) ?? [])).toEqual([]);
    expect(all.length).toBeGreaterThan(14);
  });
});
