import { decideBy } from '../builders/decide-all.js';
import { StoredRevisions } from '../../src/insight/revisions.js';
import { AN_ENCRYPTOR } from '../builders/an-encryptor.js';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { actionCatalogue } from '../../src/actions/index.js';
import { lookupCatalogue } from '../../src/actions/lookups/index.js';
import type { ForgeEvent } from '../../src/core/event.js';
import { stringifyJson } from '../../src/core/json.js';
import { Explainer } from '../../src/insight/explainer.js';
import { PureRuleEngine } from '../../src/policies/pure-rule-engine.js';
import { CelEngine } from '../../src/rules/language/expressions/cel-engine.js';
import { loadRules } from '../../src/rules/language/load/load-rules.js';
import { evaluateRule } from '../../src/rules/language/propose/evaluate-rule.js';
import type { LoadResult, Revision, RuleFile } from '../../src/rules/language/revision.js';
import { aDelivery, anEvent } from '../builders/arrivals.js';
import { anIntent, aRun } from '../builders/journal.js';
import { given } from '../builders/given.js';
import { describeOnPostgres, openTestStores } from '../services/test-stores.js';
import type { TestStores } from '../services/test-stores.js';
import { aLoadEnvironment } from '../builders/rule-environment.js';

const RUNS = 10_000;
const RULES = 200;
/** A few for each rule; a statement that reads all runs reads ten times as many. */
const MOST_ROWS = 5 * RULES;
const BOT = { id: '99', login: 'forgehand' };

/** Rules as an organization writes them; each run below is of one of them. */
const FILES: RuleFile[] = Array.from({ length: RULES / 50 }, (_, file) => ({
  path: `rules/${file}.yaml`,
  text: `version: 1\norg: acme\nrules:\n${Array.from({ length: 50 }, (_rule, index) => ruleText(file * 50 + index)).join('')}`,
}));

function ruleText(index: number): string {
  return `  - id: rule-${index}
    on: release.published
    where: {repo: "acme/*", tag: "v*"}
    if:
      by_the_team: event.actor.login in ["ann", "ben", "cleo"]
      final: "!event.release.draft && !event.release.prerelease"
      labelled: event.labels.exists(l, l.name == "area/${index}" && l.color != "")
    do: {milestone.ensure: {title: "\${{ next_minor(event.tag) }}"}}
`;
}

const EVENT = anEvent({
  kind: 'release.published',
  repo: { id: '7', owner: 'acme', name: 'app', full_name: 'acme/app', private: false },
  data: {
    tag: 'v1.4.0',
    release: { draft: false, prerelease: false },
    labels: [
      { name: 'area/7', color: '00aa00' },
      { name: 'bug', color: 'ee0701' },
    ],
  },
});

function suite(kind: 'embedded' | 'postgres'): void {
  const engine = new CelEngine();
  let held: TestStores;
  let explainer: Explainer;

  beforeAll(async () => {
    held = await openTestStores(kind);
    const { stores } = held;
    const load = (files: readonly RuleFile[]): LoadResult =>
      loadRules(files, aLoadEnvironment({ actions: actionCatalogue(), lookups: lookupCatalogue(), engine }));
    const loaded = load(FILES);
    if (!loaded.ok) throw new Error(stringifyJson(loaded.problems));
    await stores.revisions.save({
      id: 'rev',
      org: 'acme',
      hash: loaded.revision.hash,
      files: FILES,
      state: 'active',
      problems: [],
      loadedAt: new Date('2026-01-01'),
    });
    await fill(held, loaded.revision, engine);
    explainer = new Explainer(
      stores.journal,
      stores.inbox,
      // A bot, and a command that opened the store, have it at hand.
      new StoredRevisions(
        stores.revisions,
        { active: async () => ({ id: 'rev', revision: loaded.revision }) },
        { load: (_org, files) => load(files) },
      ),
      engine,
      new PureRuleEngine(engine),
      { of: async () => null },
      AN_ENCRYPTOR,
      { now: () => new Date('2026-11-20T12:00:00Z') },
      { waiting: async () => [] },
      { of: () => BOT },
    );
  });

  afterAll(() => held.close());

  it.each([
    ['a run', { id: 'run-7777' }, { about: 'run', look: { file: 'rules/3.yaml', line: 4 + 8 * 27 + 6 } }],
    ['an effect', { id: 'intent-1' }, { about: 'run', intentId: 'intent-1' }],
    [
      'a rule and an event, with its run',
      { id: EVENT.id, rule: 'rule-8' },
      { about: 'decision', verdict: 'not-fired', runs: [{ id: 'run-8' }] },
    ],
    [
      'a rule and an event, without a run',
      { id: 'event-1', rule: 'rule-7' },
      { about: 'decision', verdict: 'fired', runs: [] },
    ],
    [`an event and all ${RULES} rules`, { id: EVENT.id }, { about: 'event' }],
  ])('explains %s', async (_what, query, expected) => {
    for (let turn = 0; turn < 3; turn += 1) {
      const before = await rowsRead(held);
      expect(await explainer.explain(query)).toMatchObject(expected);
      expect((await rowsRead(held)) - before).toBeLessThan(MOST_ROWS);
    }
  });
}

/** Rows that statements have read so far, of the tables that grow. */
async function rowsRead({ stores }: TestStores): Promise<number> {
  await stores.dataSource.query('SELECT pg_stat_force_next_flush()');
  const sql = `SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) AS rows FROM pg_stat_user_tables`;
  return Number(((await stores.dataSource.query(sql)) as Array<{ rows: string }>)[0]?.rows);
}

/** Decisions with their traces, by statements of many rows: as fast as the store takes them. */
async function fill({ stores }: TestStores, revision: Revision, engine: CelEngine): Promise<void> {
  for (const event of [EVENT, { ...EVENT, id: 'event-1', factKey: 'other' }]) await keep(stores, event);
  const traces = revision.rules.map((rule) => {
    const evaluation = evaluateRule(
      rule,
      { org: 'acme', event: EVENT, now: EVENT.storedAt, bot: BOT, lookups: {} },
      engine,
    );
    return evaluation.kind === 'decided'
      ? {
          state: evaluation.report.verdict === 'fired' ? 'done' : evaluation.report.verdict,
          code: evaluation.report.verdict === 'fired' ? 'run.fired' : 'run.not-fired',
          params: stringifyJson({ because: evaluation.report.reason }),
          trace: stringifyJson(evaluation.report.trace),
        }
      : null;
  });
  await stores.journal.recordDecision({}, [
    {
      run: aRun({ id: 'run-effect', rule: 'rule-7', revisionId: 'rev', cause: { kind: 'event', eventId: EVENT.id } }),
      intents: [anIntent({ id: 'intent-1', runId: 'run-effect' })],
    },
  ]);
  const sql = `
    INSERT INTO runs (id, forge, org, rule, kind, revision_id, cause, event_id, run_key, mode, state, reason_code, reason_params, trace, lookups, decided_at, ended_at)
    SELECT 'run-' || n, 'main', 'acme', 'rule-' || (n % $1::int), 'rule', 'rev',
      '{"kind":"event","eventId":"' || e.id || '"}', e.id, 'key-' || n, 'live', t.state, t.code, t.params, t.trace, '{}', now(), now()
    FROM generate_series($2::int, $3::int) AS n
    JOIN unnest($4::text[], $5::text[], $6::text[], $8::text[]) WITH ORDINALITY AS t (state, code, trace, params, no) ON t.no = n % $1::int + 1
    CROSS JOIN LATERAL (SELECT CASE WHEN n < $1::int THEN $7::text ELSE 'event-of-' || (n / $1::int) END AS id) AS e`;
  const columns = [
    traces.map((one) => given(one).state),
    traces.map((one) => given(one).code),
    traces.map((one) => given(one).trace),
  ];
  const params = traces.map((one) => given(one).params);
  const STEP = 5_000;
  for (let from = 0; from < RUNS; from += STEP)
    await stores.dataSource.query(sql, [RULES, from, from + STEP - 1, ...columns, EVENT.id, params]);
  const [{ count }] = (await stores.dataSource.query('SELECT count(*)::int AS count FROM runs')) as [{ count: number }];
  expect(count).toBe(RUNS + 1);
}

async function keep(stores: TestStores['stores'], event: ForgeEvent): Promise<void> {
  const delivery = aDelivery();
  await stores.inbox.storeDeliveries([delivery]);
  await decideBy(stores.inbox, delivery.id, async (tx) => {
    tx.insertEvent(event);
    tx.join(event.id);
  });
}

describe('integration/explain on the embedded store', () => suite('embedded'));
describeOnPostgres('integration/explain on PostgreSQL', () => suite('postgres'));
