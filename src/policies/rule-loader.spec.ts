import { describe, expect, it } from '@jest/globals';
import type { Outcome } from './thread/rule-thread.js';
import { CelEngine } from '../rules/language/expressions/cel-engine.js';
import { makeRuleLoader } from './rule-loader.js';

const GOOD = [
  {
    path: 'a.yaml',
    text: `
version: 1
org: acme
rules:
  - id: greet
    on: push
    do: [{label.ensure: {name: pushed, color: '#d73a4a'}}]
`,
  },
];

/** A loader whose thread keeps what it is asked, and answers that its memory did not do. */
function aLoader() {
  const tried: unknown[] = [];
  const thread = {
    order: async (order: unknown): Promise<Outcome> => {
      tried.push(order);
      return { is: 'ended', why: 'memory', at: -1 };
    },
  };
  const loader = makeRuleLoader(
    new CelEngine(),
    { orgs: [] },
    { list: async () => [] },
    { now: () => new Date(), monotonicMs: () => 0 },
    thread,
  );
  return { tried, loader };
}

describe('policies/rule-loader', () => {
  it('has new files tried in the thread before it looks at them', async () => {
    const { tried, loader } = aLoader();

    expect(await loader.load('acme', GOOD, false)).toMatchObject({
      ok: false,
      problems: [{ message: expect.stringContaining('takes more than') }],
    });
    expect(tried).toHaveLength(1);
  });

  it('begins no thread for the files of the active revision', async () => {
    const { tried, loader } = aLoader();

    expect(await loader.load('acme', GOOD, true)).toMatchObject({ ok: true });
    expect(tried).toEqual([]);
  });
});
