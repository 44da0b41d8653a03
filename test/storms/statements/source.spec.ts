import { describe, expect, it } from '@jest/globals';
import { isSent, sourceStatements, statementsIn } from './source.js';

const SOURCE = `
/** SELECT in a comment */
const ONE = 'SELECT 1';
const PART = (table: string): string => \`SELECT id FROM \${table} WHERE org = $1\`;
const WHOLE = \`
WITH x AS (\${PART('runs')}) UPDATE runs SET \${1 + 1} = 2\`;
const PROSE = 'Select a rule';
`;

describe('storms/statements: source', () => {
  it('finds each text that begins as a statement', () => {
    expect(statementsIn('a.ts', SOURCE)).toEqual([
      { place: 'a.ts:3', pieces: ['SELECT 1'] },
      { place: 'a.ts:4', pieces: ['SELECT id FROM ', ' WHERE org = $1'] },
      { place: 'a.ts:5', pieces: ['\nWITH x AS (', ') UPDATE runs SET ', ' = 2'] },
    ]);
  });

  it.each([
    [['SELECT id FROM ', ' WHERE org = $1'], 'WITH x AS (SELECT id FROM runs WHERE org = $1) TABLE x', true],
    [['SELECT id FROM ', ' WHERE org = $1'], 'SELECT id FROM runs', false],
    [['SELECT a', 'b', 'a'], 'SELECT a b', false],
    [
      ['SELECT x::text FROM unnest(:ids::text[]) WHERE a = :org'],
      'SELECT x::text FROM unnest($1::text[]) WHERE a = $2',
      true,
    ],
  ])('says whether %j was sent in %s', (pieces, text, expected) => {
    expect(isSent({ pieces }, ['SELECT 2', text])).toBe(expected);
  });

  it('finds those of the store', () => {
    const places = sourceStatements().map(({ place }) => place);

    expect(places.length).toBeGreaterThan(200);
    expect(places.filter((place) => /migrations|whole-tables/.test(place))).toEqual([]);
  });
});
