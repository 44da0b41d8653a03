import { aConfig } from '../../builders/a-config.js';
import { NO_JOBS } from '../../builders/no-jobs.js';
import { aRevision } from '../../builders/rule-environment.js';
import { countStatements } from '../../services/count-statements.js';
import { openTestStores, type TestStores } from '../../services/test-stores.js';
import { OPERATIONS, type OperationName } from '../../../src/api/operations/index.js';
import type { AnyOperation } from '../../../src/api/operations/operation.js';
import { RecentDeliveries } from '../../../src/api/operations/recent-deliveries.js';
import { Ids, Orgs } from '../../../src/api/operations/shared.js';
import type { Clock } from '../../../src/core/clock.js';
import { firstIdAt } from '../../../src/core/ids.js';
import { silentLogger } from '../../../src/core/logger.js';
import type { ControlCaller } from '../../../src/core/operators.js';
import { JobRunner } from '../../../src/housekeeping/jobs/job-runner.js';
import type { JobTools } from '../../../src/housekeeping/jobs/job.js';
import { jobs } from '../../../src/housekeeping/jobs/index.js';
import { Scheduler } from '../../../src/housekeeping/scheduler.js';
import { CoverageCounter } from '../../../src/insight/coverage.js';
import { RuleCounter } from '../../../src/insight/rule-counts.js';
import { RuleVerdicts } from '../../../src/rules/sources/rule-verdicts.js';

const RULES = `version: 1
org: acme
rules:
  - { id: labels, on: repository.created, do: { label.ensure: { name: bug, color: "#d73a4a" } } }
  - id: nightly
    schedule: "0 3 * * *"
    where: { repo: "*" }
    limits: { effects_per_run: 20 }
    do: { label.ensure: { name: night, color: "#d73a4a" } }
`;
export const SOCKET: ControlCaller = {
  kind: 'socket',
  name: 'socket:forgehand',
  login: null,
  scopes: ['read', 'operate', 'approve'],
  grants: null,
};
const RESULT = { by: 'schedule', error: null, summary: 'nothing to change', findings: [], changes: [] };
const FAILED = { ...RESULT, error: 'the forge did not answer', summary: null };
const AT = '2026-11-28T03:00:00.000Z';

/** Of ids of the day that is looked at. */
function newestIdPrefix(): string {
  return firstIdAt(new Date(AT)).slice(0, 24).padEnd(24, '0');
}

/** Many organizations with the same two rules over one store, and the operations that show them. No bot runs. */
export class ManyOrgs {
  private constructor(
    readonly orgs: readonly string[],
    private readonly store: TestStores,
    private readonly needs: object,
  ) {}

  /** @param troubled these need somebody: the writes of a rule are paused, and a job failed */
  static async of(
    kind: 'embedded' | 'postgres',
    orgs: readonly string[],
    troubled: readonly string[],
  ): Promise<ManyOrgs> {
    const store = await openTestStores(kind);
    const { stores } = store;
    const clock = { now: () => new Date('2026-11-28T12:00:00Z'), monotonicMs: () => performance.now() } as Clock;
    const config = aConfig({
      store: { kind: 'postgres' },
      forges: [{ id: 'main' }],
      orgs: orgs.map((name) => ({
        ...{ name, forge: 'main', hooks: [{ id: name }], freeze: [], lists: { everyS: 0 } },
        rules: { shadow: null },
      })),
      housekeeping: { audits: true },
    });
    const active = { id: 'rev', revision: aRevision(RULES), loadedAt: new Date('2026-11-28T04:00:00Z') };
    const keeper = { active: async () => active, heldBack: () => [] };
    const forges = { get: () => null, list: () => [] };
    const checks = orgs.flatMap((org) =>
      ['hook.there', 'hook.events', 'rules.files', 'look.rights', 'org.number'].map((check) => ({
        ...{
          check,
          code: `${check}.ok`,
          forge: 'main',
          org,
          ageS: 60,
          fix: [],
          said: `it is as it should be in ${org}`,
        },
        state: troubled.includes(org) && check === 'hook.there' ? 'problem' : 'ok',
      })),
    );
    const nothing = { lacking: () => [], lackingNow: () => [], heldRules: () => [] };
    const { dataSource } = stores;
    await dataSource.query(
      `INSERT INTO known_facts (forge, subject, kind, fact)
       SELECT 'main', o, 'job.' || j, CASE WHEN j = 'hooks.audit' AND o = ANY ($2) THEN $4 ELSE $3 END
       FROM unnest($1::text[]) AS o, unnest($5::text[]) AS j`,
      [
        orgs,
        troubled,
        ...[RESULT, FAILED].map((result) => JSON.stringify({ ...result, at: AT })),
        jobs.filter(({ per }) => per === 'organization').map(({ name }) => name),
      ],
    );
    await dataSource.query(
      `INSERT INTO cursors (forge, org, source, position, advanced_at)
       SELECT 'main', o, s, 'null', now() FROM unnest($1::text[]) AS o, unnest(ARRAY['feed', 'tasks']) AS s`,
      [orgs],
    );
    await dataSource.query(
      `INSERT INTO ticks (id, forge, org, schedule, occurrence, state)
       SELECT 'tick-' || o, 'main', o, 'nightly', '${AT}', 'decided' FROM unnest($1::text[]) AS o`,
      [orgs],
    );
    await dataSource.query(
      `INSERT INTO runs (id, forge, org, rule, kind, revision_id, cause, run_key, mode, state, trace, lookups, decided_at, reason_code, reason_params)
       SELECT '01accc00-0000-7000-8000-' || md5(o), 'main', o, 'nightly', 'rule', 'rev', '{"kind":"tick","tickId":"tick-' || o || '","subject":"1"}', o, 'live', 'done',
              '[]', '{}', '${AT}', 'run.fired', '{}'
       FROM unnest($1::text[]) AS o`,
      [orgs],
    );
    // The row of a troubled one has no delivery beside it: its bit is that of the feed.
    await dataSource.query(
      `INSERT INTO events (id, forge, org, kind, fact_key, fact_hash, source, actor, repo, data, stored_at, decided_at, reported_by)
       SELECT $3 || substr(md5(o), 1, 12), 'main', o, 'push', o, decode(md5(o), 'hex'), 'webhook', 'null', 'null', '{}', now(), now(), CASE WHEN o = ANY ($2) THEN 2 ELSE 1 END
       FROM unnest($1::text[]) AS o`,
      [orgs, troubled, newestIdPrefix()],
    );
    for (const org of troubled)
      await stores.journal.pause({ org, rule: 'nightly', by: 'ann', at: new Date(AT), reason: 'too many' });
    return new ManyOrgs(orgs, store, {
      ...stores,
      config,
      clock,
      keeper,
      forges,
      running: null,
      orders: { connected: async () => undefined },
      doctor: { examine: async () => ({ checks, forges: [], findings: troubled.length }) },
      offers: nothing,
      openAlerts: { all: async () => [] },
      orgs: new Orgs(config, forges as never),
      ids: new Ids(stores.ids),
      verdicts: new RuleVerdicts(stores.knownFacts, forges as never, {} as never, silentLogger),
      recentDeliveries: new RecentDeliveries(stores.gaps, clock),
      ruleCounter: new RuleCounter(stores.activity, clock),
      coverage: new CoverageCounter(stores.gaps, clock),
      scheduler: new Scheduler(
        config,
        keeper,
        NO_JOBS,
        stores.ticks,
        stores.knownFacts,
        { decideTick: async () => ({ runs: 0, undecided: [] }) },
        clock,
        silentLogger,
      ),
      runner: new JobRunner(
        jobs,
        config,
        { knownFacts: stores.knownFacts, clock } as unknown as JobTools,
        silentLogger,
      ),
    });
  }

  /** What an operation answers, and the statements that it took. */
  async ask<Answer>(name: OperationName, sent: object = {}): Promise<{ answer: Answer; statements: string[] }> {
    const { input, handle } = OPERATIONS[name] as AnyOperation;
    return countStatements(
      async () => (await handle(this.needs as never, input.parse(sent) as never, SOCKET, null)) as Answer,
    );
  }

  close(): Promise<void> {
    return this.store.close();
  }
}
