import { describe, expect, it } from '@jest/globals';
import { ForgeError } from '../../core/errors.js';
import type { LookupAnswer } from '../../actions/lookups/lookup-reader.port.js';
import { actionCatalogue } from '../../actions/index.js';
import { lookupCatalogue } from '../../actions/lookups/index.js';
import { ALife, BOT, acmeRevision, aRepository, theRules } from '../../../test/builders/a-life.js';
import { anEvent } from '../../../test/builders/arrivals.js';
import { Backtest } from './backtest.js';
import type { BacktestReport, BacktestRule } from './backtest-report.js';
import { isHeld, verdictReason } from '../../core/run-reasons.js';

const RULES = `
version: 1
org: acme
rules:
  - id: branch
    on: tag.created
    where: {repo: ["acme/app-*"]}
    lookup:
      line: {use: branch.get, with: {branch: "release/\${{ event.tag }}"}, on_missing: none}
    if: {is_release: "event.tag.startsWith('v')", not_there: lookups.line == null}
    do: {branch.create: {new_branch_name: "release/\${{ event.tag }}", old_ref_name: "\${{ event.tag }}"}}
  - id: backlog
    on: [tag.created, push]
    if: {not_two: "repo.name != 'app-2'"}
    do:
      - milestone.ensure: {title: backlog}
      - org_variable.set: {name: LAST, value: "\${{ repo.name }}"}
  - id: strict
    on: tag.created
    if: {never_told: "event.release.id == '1'"}
    do: {milestone.ensure: {title: x}}
  - id: hurried
    on: tag.created
    do: {milestone.ensure: {title: hurried}}
    limits: {effects_per_run: 1, runs_per_hour: 3}
  - id: other-kind
    on: release.published
    do: {milestone.ensure: {title: y}}
`;

/** Tags and pushes in five repositories, some of them the bot's own; every third branch is there, one cannot be read. */
async function aLife(): Promise<ALife> {
  const life = new ALife(RULES, async ({ params }): Promise<LookupAnswer> => {
    const n = Number(String(params['branch']).replace(/\D/g, ''));
    if (n === 7) return { failed: 'no such thing' };
    return n % 3 === 0
      ? { value: { name: params['branch'] ?? null, commit: { id: 9007199254740993n } } }
      : { missing: true };
  });
  for (let n = 1; n <= 40; n += 1) {
    const actor = n % 10 === 0 ? BOT : { id: '3', login: 'ann' };
    const kind = n % 4 === 0 ? ('push' as const) : ('tag.created' as const);
    const data = kind === 'push' ? { ref: 'refs/heads/main' } : { tag: `${n % 5 === 0 ? 'x' : 'v'}${n}` };
    await life.happens(
      anEvent({
        id: `e${String(n).padStart(3, '0')}`,
        kind,
        actor,
        repo: aRepository(n % 5),
        data,
        storedAt: life.clock.now(),
      }),
    );
    life.clock.advance(60_000);
  }
  return life;
}

async function tried(life: ALife, text: string): Promise<BacktestReport> {
  const backtest = new Backtest({
    revision: acmeRevision(text),
    rules: theRules,
    actions: actionCatalogue(),
    lookups: lookupCatalogue(),
  });
  const { events, runs } = await life.history();
  // In two pages, as the store gives them.
  for (const part of [events.slice(0, 25), events.slice(25)])
    backtest.add({ events: part, runs: runs.filter(({ eventId }) => part.some(({ id }) => id === eventId)) }, BOT);
  return backtest.report({ org: 'acme', since: new Date(0), until: new Date(1), notes: [] });
}

const ruleOf = ({ rules }: BacktestReport, id: string): BacktestRule =>
  rules.find(({ rule }) => rule === id) as BacktestRule;

describe('insight/backtest', () => {
  it('agrees with the journal on every decision of a live period', async () => {
    const life = await aLife();

    const report = await tried(life, RULES);

    const runs = (await life.history()).runs;
    const held = runs.filter(isHeld).length;
    expect(held).toBeGreaterThan(0);
    const compared = report.rules.reduce((sum, { agreement }) => sum + agreement.compared, 0);
    expect(compared).toBe(runs.length - held);
    expect(report.rules.map(({ rule, agreement }) => [rule, agreement.compared - agreement.agreed])).toEqual(
      report.rules.map(({ rule }) => [rule, 0]),
    );
    expect(
      report.rules
        .flatMap(({ differences }) => Object.values(differences).map(({ count }) => count))
        .every((count) => count === 0),
    ).toBe(true);
    expect(new Set(runs.map(({ state }) => state))).toEqual(new Set(['open', 'not-fired', 'error']));
  });

  it('holds a rule at its limit of runs per hour as the bot does', async () => {
    const life = await aLife();

    const { would, did } = ruleOf(await tried(life, RULES), 'hurried');

    expect(would.fired).toBe(3);
    expect(did).toMatchObject({ fired: 3, error: would.held });
  });

  it('has one hash for one history and one set of rules', async () => {
    const [one, two] = [await tried(await aLife(), RULES), await tried(await aLife(), RULES)];

    expect(one.hash).toBe(two.hash);
    expect((await tried(await aLife(), RULES.replace('title: backlog', 'title: later'))).hash).not.toBe(one.hash);
  });

  it('says what would fire now, what would not any more, and what would want other things', async () => {
    const life = await aLife();
    const before = ruleOf(await tried(life, RULES), 'backlog');

    const more = ruleOf(await tried(life, RULES.replace("repo.name != 'app-2'", 'true')), 'backlog');
    const fewer = ruleOf(
      await tried(life, RULES.replace("repo.name != 'app-2'", "!(repo.name in ['app-1', 'app-2'])")),
      'backlog',
    );
    const other = ruleOf(await tried(life, RULES.replace('title: backlog', 'title: later')), 'backlog');

    expect(more.differences.firesNow.count).toBe(more.would.fired - before.would.fired);
    expect(more.differences.firesNow.samples[0]).toMatchObject({
      repo: 'acme/app-2',
      would: 'fired',
      did: 'not-fired',
    });
    expect(fewer.differences.firesNoMore.count).toBe(before.would.fired - fewer.would.fired);
    expect(other.differences.otherEffects).toMatchObject({ count: before.would.fired, samples: { length: 5 } });
  });

  it('tells rules that are gone by what they did', async () => {
    const gone = ruleOf(await tried(await aLife(), RULES.replace('id: backlog', 'id: renamed')), 'backlog');

    expect(gone).toMatchObject({ mode: null, would: { fired: 0 } });
    expect(gone.differences.firesNoMore.count).toBe(gone.did.fired);
  });

  it('does not guess an answer that history does not hold', async () => {
    const asksElse = ruleOf(
      await tried(await aLife(), RULES.replace('branch: "release/', 'branch: "stable/')),
      'branch',
    );
    const sameName = ruleOf(
      await tried(
        await aLife(),
        RULES.replace(
          'use: branch.get, with: {branch: "release/${{ event.tag }}"}',
          'use: protection.get, with: {name: main}',
        ),
      ),
      'branch',
    );

    for (const rule of [asksElse, sameName]) {
      expect(rule.would).toMatchObject({ fired: 0, error: 0 });
      expect(rule.would.unknown).toBe(rule.unknownLookups['line']);
      expect(rule.differences.unknown.count).toBeGreaterThan(0);
    }
  });

  it('uses what another rule asked about the same event', async () => {
    const second = RULES.replace('- id: branch', '- id: renamed');
    const life = await aLife();

    expect(ruleOf(await tried(life, second), 'renamed').would).toEqual(
      ruleOf(await tried(life, RULES), 'branch').would,
    );
  });

  it('counts the calls that lookups and effects may make', async () => {
    const { calls, would } = ruleOf(await tried(await aLife(), RULES), 'branch');

    expect(calls['createBranch']).toBe(would.fired);
    expect(calls['getBranch']).toBeGreaterThan(would.fired);
  });

  it('fails a rule at its limit alone, and gives it up after three decisions', async () => {
    const life = await aLife();
    const evaluated: string[] = [];
    const rules: typeof theRules = Object.create(theRules, {
      evaluate: {
        value: (...asked: Parameters<typeof theRules.evaluate>): ReturnType<typeof theRules.evaluate> => {
          const [, { id: rule }] = asked;
          evaluated.push(rule);
          if (rule !== 'backlog') return theRules.evaluate(...asked);
          const reason = verdictReason('verdict.stopped', { what: 'a condition', ms: 200, at: null });
          const trace = { conditions: [], steps: [], failed: {} };
          return { kind: 'decided', report: { rule, verdict: 'error', reason, trace }, steps: [] };
        },
      },
    });
    const backtest = new Backtest({
      revision: acmeRevision(RULES),
      rules,
      actions: actionCatalogue(),
      lookups: lookupCatalogue(),
    });
    backtest.add(await life.history(), BOT);
    const report = backtest.report({ org: 'acme', since: new Date(0), until: new Date(1), notes: [] });
    const alone = await tried(life, RULES);

    expect(evaluated.filter((rule) => rule === 'backlog')).toHaveLength(3);
    expect(ruleOf(report, 'backlog').would).toMatchObject({ fired: 0, error: 36 });
    expect(ruleOf(report, 'branch')).toEqual(ruleOf(alone, 'branch'));
  });

  it('takes no answer that a forge never gave for one', async () => {
    const away = new ForgeError('not-sent', 'connection refused', { operation: 'getBranch' });
    const life = new ALife(RULES, () => Promise.reject(away));
    await life.happens(
      anEvent({ id: 'e1', kind: 'tag.created', repo: aRepository(1), data: { tag: 'v1' }, storedAt: life.clock.now() }),
    );

    expect(ruleOf(await tried(life, RULES), 'branch').would).toMatchObject({ unknown: 1, error: 0 });
  });
});
