import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Reason } from '../../src/core/reason.js';
import { sentenceOf } from './reasons.js';
import { actionCatalogue } from '../../src/actions/index.js';
import { lookupCatalogue } from '../../src/actions/lookups/index.js';
import type { Candidate } from '../../src/pipeline/rule-engine.port.js';
import { PureRuleEngine } from '../../src/policies/pure-rule-engine.js';
import { BoundedPureRules, BoundedRuleEngine, tryLoading } from '../../src/policies/thread/bounded-rules.js';
import { RuleThread } from '../../src/policies/thread/rule-thread.js';
import type { ThreadProgram } from '../../src/policies/thread/rule-thread.js';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import { loadRules } from '../../src/rules/language/load/load-rules.js';
import type { Revision } from '../../src/rules/language/revision.js';
import { HEAVY_RULES, aPushOf } from './heavy-rules.js';

/** Far more than anything here takes, however busy the machine. */
const LONG_MS = 900_000;

/** What holds of the thread for rules, wherever its program comes from. */
export function boundedRulesSuite(name: string, program: () => ThreadProgram): void {
  describe(name, () => {
    const engine = new CelEngine();
    const pure = new PureRuleEngine(engine);
    const facts = (commits: number) => ({
      org: 'acme',
      event: aPushOf(commits),
      repo: null,
      bot: null,
      now: new Date('2026-07-30T12:00:00Z'),
    });
    let thread: RuleThread;
    let revision: Revision;
    const the = (id: string): Candidate => {
      const found = pure.find(revision, id);
      if (!found) throw new Error(`no rule ${id}`);
      return found;
    };

    beforeAll(() => {
      thread = new RuleThread(program());
      const env = {
        org: 'acme',
        actions: actionCatalogue(),
        lookups: lookupCatalogue(),
        powers: new Set<string>(),
        secrets: new Set<string>(),
        engine,
      };
      const result = loadRules(HEAVY_RULES, env);
      if (!result.ok) throw new Error(JSON.stringify(result.problems));
      revision = result.revision;
    });
    afterAll(() => thread.stop());

    it('decides a cheap rule at once, in this process', () => {
      const before = thread.generation;

      expect(new BoundedRuleEngine(pure, thread).evaluate(revision, the('cheap'), facts(1), {})).toMatchObject({
        kind: 'decided',
        report: { verdict: 'fired' },
      });
      expect(thread.generation).toBe(before);
    });

    it('decides a rule that may be slow in the thread, and just the same', async () => {
      const bounded = await new BoundedRuleEngine(pure, thread, LONG_MS).evaluate(revision, the('heavy'), facts(3), {});

      expect(bounded).toEqual(pure.evaluate(revision, the('heavy'), facts(3), {}));
      expect(thread.generation).toBeGreaterThan(0);
    }, 300_000);

    it('ends the thread when the deadline passes, names the condition and what to do, and goes on with the next', async () => {
      // Where the deadline finds it is the machine's choice: before it begins, in the loop, or not at all. So longer and shorter ones are tried.
      let stopped: Reason | undefined;
      for (let n = 0; n < 100 && stopped?.params['what'] !== 'condition "second"'; n++) {
        const bounded = new BoundedRuleEngine(pure, thread, 2 ** (n % 9));
        const decided = await bounded.evaluate(revision, the('heavy'), facts(1000), {});
        if (decided.kind === 'decided' && decided.report.verdict === 'error') {
          expect(decided.steps).toEqual([]);
          stopped = decided.report.reason;
        }
      }
      expect(stopped && sentenceOf(stopped)).toMatch(
        /^condition "second" took longer than \d+ ms and was stopped: walk shorter lists, .*\(r\.yaml:12:15\)$/,
      );
      await expect(
        new BoundedRuleEngine(pure, thread, LONG_MS).evaluate(revision, the('heavy'), facts(2), {}),
      ).resolves.toMatchObject({
        report: { verdict: 'fired' },
      });
    }, 300_000);

    it('serves commands that wait where they stand', async () => {
      const own = new RuleThread(program());
      const rules = new BoundedPureRules(pure, own, LONG_MS);

      expect(rules.evaluate(revision, the('heavy'), facts(3), {})).toEqual(
        pure.evaluate(revision, the('heavy'), facts(3), {}),
      );
      expect(rules.evaluate(revision, the('heavy'), facts(4), {})).toMatchObject({ report: { verdict: 'fired' } });
      expect(own.generation).toBe(1);
      await own.stop();
    }, 300_000);

    it('is one thread for what comes without a rest, and is begun again after one', async () => {
      const own = new RuleThread(program(), 100);
      const load = { org: 'acme', files: HEAVY_RULES, powers: [], secrets: [] };

      await Promise.all([tryLoading(own, load), tryLoading(own, load)]);
      await tryLoading(own, load);
      expect(own.generation).toBe(1);
      while (own.isRunning) await wait(10);
      expect(await tryLoading(own, load)).toBeNull();

      expect(own.generation).toBe(2);
      await own.stop();
      expect(own.isRunning).toBe(false);
    }, 300_000);

    it('tries files before this process reads them', async () => {
      const load = { org: 'acme', files: HEAVY_RULES, powers: [], secrets: [] };

      expect(await tryLoading(thread, load)).toBeNull();
      expect(
        await tryLoading(thread, { ...load, files: [{ path: 'b.yaml', text: 'version: 1\norg: acme\nruels: []\n' }] }),
      ).toEqual({
        ok: false,
        problems: expect.arrayContaining([expect.objectContaining({ file: 'b.yaml', line: 3, col: 1 })]),
      });
    }, 300_000);
  });
}
