import { describe, expect, it } from '@jest/globals';
import { anEvent } from '../../test/builders/arrivals.js';
import { given } from '../../test/builders/given.js';
import { aConfig } from '../../test/builders/a-config.js';
import { sourcesOf } from '../rules/language/load/revision-sources.js';
import type { LoadResult, Revision, RuleFile } from '../rules/language/revision.js';
import type { Outcome } from './thread/rule-thread.js';
import { CelEngine } from '../rules/language/expressions/cel-engine.js';
import { PureRuleEngine } from './pure-rule-engine.js';
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

  describe('organizations that extend one shared file', () => {
    const BASE = `version: 1
rules:
  - id: greet
    on: push
    if: event.ref == vars.ref
    do: [{label.ensure: {name: pushed, color: '#d73a4a'}}]
policies:
  - {id: labels, subjects: {repos: ["*"]}, labels: [{name: bug, color: "#d73a4a"}]}
`;
    const NAMES = Array.from({ length: 12 }, (_, n) => `org-${n}`);
    const loader = makeRuleLoader(
      new CelEngine(),
      aConfig({ orgs: NAMES.map((name) => ({ name, powers: [], limits: {} })) }),
      { list: async () => [] },
      { now: () => new Date(), monotonicMs: () => 0 },
      null,
    );
    const filesOf = (org: string, base: string, ref = 'main'): RuleFile[] => [
      { path: `rules/${org}/r.yaml`, text: `version: 1\norg: ${org}\nvars: {ref: ${ref}}\nextends: base.yaml\n` },
      { path: 'shared/base.yaml', name: 'extends:base.yaml', shared: 'base.yaml', text: base },
    ];
    const revisionOf = async (org: string, base = BASE, ref = 'main'): Promise<Revision> => {
      const result = await loader.load(org, filesOf(org, base, ref), true);
      if (!result.ok) throw new Error(JSON.stringify(result.problems));
      return result.revision;
    };
    const programs = (revisions: readonly Revision[]): number =>
      new Set(revisions.flatMap(({ rules, policies }) => [...rules, ...policies])).size;

    it('hold one compiled program, whatever their number, and are revisions of their own', async () => {
      const revisions: Revision[] = [];
      for (const name of NAMES) revisions.push(await revisionOf(name));

      expect(programs(revisions)).toBe(2);
      expect(new Set(revisions.map(({ hash }) => hash)).size).toBe(NAMES.length);
      expect(revisions.map(({ org }) => org)).toEqual(NAMES);
      const kept = revisions.map((revision) => sourcesOf(revision)?.files.find(({ shared }) => shared));
      expect(new Set(kept).size).toBe(1);
    });

    it('are told their own name by the program that they share', async () => {
      const base = BASE.replace('name: pushed', 'name: "of ${{ org.name }}"');
      const event = anEvent({ data: { ref: 'main' } });
      const facts = { org: 'acme', event, repo: event.repo, bot: null, now: event.storedAt };
      const rules = new PureRuleEngine(new CelEngine());
      const names: unknown[] = [];
      for (const org of ['org-1', 'org-2', 'org-1']) {
        const revision = await revisionOf(org, base);
        const decided = rules.evaluate(revision, given(rules.find(revision, 'greet')), facts, {});
        names.push(decided.kind === 'decided' && decided.steps[0]?.items[0]?.params['name']);
      }

      expect(names).toEqual(['of org-1', 'of org-2', 'of org-1']);
    });

    it('hold programs of their own where constants differ, or the file names one of them', async () => {
      const named = BASE.replace('repos: ["*"]', 'repos: ["org-1*"]');
      const [one, other] = [await revisionOf('org-1'), await revisionOf('org-2', BASE, 'dev')];
      const namesOne = [await revisionOf('org-1', named), await revisionOf('org-2', named)];

      expect([programs([one, other]), programs(namesOne)]).toEqual([4, 4]);
    });

    it('are each told what is wrong for them alone, and each warning', async () => {
      const foreign = BASE.replace('repos: ["*"]', 'repos: ["org-3/*"]');
      const warned = BASE.replace('event.ref == vars.ref', 'event.ref == vars.ref || true');
      const told = async (org: string, base: string): Promise<unknown> => {
        const result = await loader.load(org, filesOf(org, base), true);
        return { ok: result.ok, problems: result.ok ? 0 : result.problems.length, warnings: result.warnings?.length };
      };

      expect([await told('org-3', foreign), await told('org-4', foreign)]).toMatchObject([
        { ok: true },
        { ok: false, problems: 1 },
      ]);
      const both = [await told('org-5', warned), await told('org-6', warned)];
      expect(both[0]).toMatchObject({ ok: true });
      expect(both[1]).toEqual(both[0]);
    });

    it('are refused by the limits of a file, compiled already or not', async () => {
      const rules = Array.from(
        { length: 80 },
        (_, n) =>
          `  - {id: r-${n}, on: push, if: "event.ref == '${'x'.repeat(3_900)}'", do: {label.ensure: {name: a, color: "#d73a4a"}}}\n`,
      );
      const large = `version: 1\nrules:\n${rules.join('')}`;
      const [first, second] = [
        await loader.load('org-7', filesOf('org-7', large), true),
        await loader.load('org-8', filesOf('org-8', large), true),
      ];

      const problemsOf = (result: LoadResult): unknown => (result.ok ? [] : result.problems);
      expect(problemsOf(first)).toHaveLength(1);
      expect(problemsOf(second)).toEqual(problemsOf(first));
    });
  });

  it('begins no thread for the files of the active revision', async () => {
    const { tried, loader } = aLoader();

    expect(await loader.load('acme', GOOD, true)).toMatchObject({ ok: true });
    expect(tried).toEqual([]);
  });
});
