import { describe, expect, it } from '@jest/globals';
import { STEPS_PER_DECISION } from '../propose/bindings.js';
import { CelEngine } from './cel-engine.js';

const engine = new CelEngine();
const worst = (source: string): number => engine.compile(source, ['event', 'vars']).worstCase;

describe('rules/language/expressions/worst-case', () => {
  it.each([
    'event.ref == "refs/heads/main" && event.number > 3',
    'event.title.startsWith("feat") || event.title.matches("^fix(\\\\(.*\\\\))?:")',
    'event.labels.exists(l, l.name == "bug")',
    '["a", "b"].all(a, ["c", "d"].exists(c, event.title.contains(a + c)))',
  ])('is within the budget of a decision: %s', (source) => {
    expect(worst(source)).toBeLessThanOrEqual(STEPS_PER_DECISION);
  });

  it.each([
    'event.commits.all(c, event.commits.all(d, c.id != d.id))',
    'event.commits.exists(c, c.message.matches("^(feat|fix)"))',
    'event.commits.exists(c, c.id in vars.ids)',
    'event.commits.exists(c, c == event.head)',
  ])('is over it when lists are long: %s', (source) => {
    expect(worst(source)).toBeGreaterThan(STEPS_PER_DECISION);
  });
});
