import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { GOALS, readEvidence, renderPage, TABLES, tablesIn } from '../evidence/evidence.js';

const PAGE = readFileSync('docs/evidence.md', 'utf8');
const EVIDENCE = readEvidence();

describe('architecture/evidence', () => {
  it('has in docs/evidence.md the tables that evidence/*.json gives: npm run docs:evidence', () => {
    expect(PAGE).toBe(renderPage(PAGE, EVIDENCE));
  });

  it('shows every table once', () => {
    expect(tablesIn(PAGE).sort()).toEqual(Object.keys(TABLES).sort());
  });

  it('knows every goal, and of every run its commit, date, machine, and whether what is wanted is met', () => {
    const runs = EVIDENCE.flatMap(({ goal, runs }) => runs.map((run) => ({ goal, ...run })));

    expect(EVIDENCE.filter(({ goal }) => !GOALS.includes(goal))).toEqual([]);
    expect(runs.length).toBeGreaterThan(0);
    for (const { goal, commit, date, machine, wanted, met } of runs)
      expect({ goal, commit, date, machine, isJudged: met !== null }).toEqual({
        goal,
        commit: expect.stringMatching(/^[0-9a-f]{7,}(, [0-9a-f]{7,})*$/),
        date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
        machine: expect.stringMatching(/core/),
        isJudged: wanted !== null,
      });
  });

  it('sees a table that was changed by hand', () => {
    const changed = PAGE.replace(/(<!-- table effects -->\n.*\n.*\n\| )/, '$1not ');

    expect(changed).not.toBe(PAGE);
    expect(renderPage(changed, EVIDENCE)).toBe(PAGE);
    expect(() => renderPage('<!-- table guesses -->\n<!-- end -->', EVIDENCE)).toThrow('there is no table guesses');
  });
});
