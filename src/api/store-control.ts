import type { RuleOrigin } from '../rules/sources/rule-repository.port.js';
import type { EntrySource } from '../core/event.js';
import type { AppConfig, Role } from '../config/app-config.js';
import type { Alerts } from '../core/alerts.js';
import { didYouMean } from '../core/did-you-mean.js';
import { UserError } from '../core/errors.js';
import type { JsonObject } from '../core/json.js';
import { isOperatorName, withIncluded, type ControlCaller, type Operator } from '../core/operators.js';
import type { TwoPeople } from '../core/two-people.js';
import { newId } from '../core/ids.js';
import { INTENT_STATES } from '../core/states.js';
import type { Explanation, ExplainQuery } from '../insight/explanation.js';
import type { HistoryPage, HistoryQuery, HistoryStore, ToldHistory } from '../insight/history-store.port.js';
import { entryKinds } from '../events/pairing-table.js';
import type { Coverage, GapStore } from '../pipeline/gap-store.port.js';
import type { ArrivalSummary, InboxStore } from '../pipeline/inbox-store.port.js';
import type { DoctorReport, InstallOrders } from '../housekeeping/doctor/doctor.js';
import type { HookReport } from '../housekeeping/doctor/install-hook.js';
import type { PoisonMessageStore } from '../pipeline/poison-message-store.port.js';
import type { JournalStore } from '../pipeline/journal-store.port.js';
import type { RolloutRow, RolloutStore } from '../pipeline/rollout-store.port.js';
import type { BotSelf } from '../pipeline/rule-engine.port.js';
import type { RecoveryStore } from '../pipeline/recovery-store.port.js';
import type { Intent, Run, RunState } from '../core/run.js';
import { waitsForApproval } from '../core/state-table.js';
import { compareShadow, ruleIdOf, type ShadowPair } from '../pipeline/decide/shadow.js';
import type { RestoreReport } from '../housekeeping/archive-inbox.js';
import type { JobRun, JobStatus } from '../housekeeping/jobs/job-runner.js';
import type { Metrics } from '../observability/metrics.js';
import type { FindingStore, KeptFinding } from '../policies/finding-store.port.js';
import type { PlanStore } from '../policies/plan-store.port.js';
import type { ApplyReport, KeptPlan, PlanState } from '../policies/policy-plan.js';
import type { Severity } from '../rules/language/revision.js';
import { hashOperatorToken, newOperatorToken } from './operator-token.js';
import type { OperatorStore } from '../core/operator-store.port.js';
import type {
  ControlService,
  GapReport,
  OrgShadow,
  OperatorOrder,
  OrgStatus,
  PlanDecision,
  PlanReport,
  PromoteOrder,
  ReplayReport,
  RunReport,
  StatusReport,
} from './control-service.port.js';
import type { StoreFiles } from './store-files.port.js';

const APPROVALS_SHOWN = 200;
/** Coverage is told over so long. */
const COVERED_MS = 7 * 86_400_000;

/** What control needs of the rest, as small ports. */
export interface StoreControlDeps {
  readonly config: AppConfig;
  readonly version: string;
  readonly inbox: InboxStore;
  readonly journal: JournalStore;
  /** A run with what it read of private repositories in clear, where this process has the key. */
  readonly opened: <Reads extends Pick<Run, 'lookups'>>(run: Reads) => Reads;
  readonly gaps: GapStore;
  readonly recovery: Pick<RecoveryStore, 'resolve'>;
  readonly metrics: Metrics;
  /** Null when this process only serves one command. */
  readonly running: { startedAt: Date; role: Role; queueHealthy: () => Promise<boolean> } | null;
  readonly forges: () => StatusReport['forges'];
  readonly org: (name: string) => Promise<Pick<OrgStatus, 'revision' | 'heldBack' | 'lacking' | 'source'>>;
  /** Where the rules of a revision came from; null where they lie in a folder, or it is not known. */
  readonly originOf: (revisionId: string) => Promise<RuleOrigin | null>;
  /** Ids of the rules and policies of the active revision; null while there is none. */
  readonly ruleIds: (org: string) => Promise<readonly string[] | null>;
  /** Whether the lists of issues or releases are read for what neither deliveries nor the feed tell. */
  readonly readsLists: (org: string, operation: 'listReleases' | 'searchIssues') => boolean;
  readonly cursorAge: (
    forge: string,
    org: string,
    source: EntrySource,
  ) => Promise<{ advancedAt: Date; oldestReadAt: Date | null } | null>;
  readonly replayEvent: (
    eventId: string,
  ) => Promise<ReadonlyArray<{ rule: string; verdict: string; reason: string; intents: number }>>;
  readonly runSchedule: (org: string, schedule: string) => Promise<{ tickId: string; runs: number }>;
  readonly doctor: (org: string | null, operations: boolean) => ReturnType<ControlService['doctor']>;
  readonly installHook: (org: string, orders: InstallOrders) => ReturnType<ControlService['installHook']>;
  readonly jobs: ControlService['jobs'];
  readonly runJob: (job: string, org: string | null, isDryRun: boolean, by: string) => Promise<JobRun[]>;
  readonly restore: (file: string) => Promise<RestoreReport>;
  readonly copyStoreFiles: () => Promise<StoreFiles>;
  readonly plan: ControlService['plan'];
  readonly applyPlan: ControlService['applyPlan'];
  readonly decidePlan: ControlService['decidePlan'];
  readonly plans: PlanStore;
  readonly findings: FindingStore;
  readonly audit: ControlService['audit'];
  readonly operators: OperatorStore;
  readonly twoPeople: Pick<TwoPeople, 'mayApprove'>;
  /** The login of who caused an event; null = nobody is known. */
  readonly actorOf: (eventId: string) => Promise<string | null>;
  readonly explain: ControlService['explain'];
  readonly history: HistoryStore;
  readonly rollouts: Pick<RolloutStore, 'list'>;
  readonly promote: (
    org: string,
    rule: string,
    order: Pick<PromoteOrder, 'to' | 'force'>,
    by: string,
  ) => Promise<RolloutRow>;
  /** Who the bot is on a forge; null while no forge told it. */
  readonly self: (forge: string, org: string) => BotSelf | null;
  /** Orders that change what is done are kept in the log with the caller's name. */
  readonly record: (order: string, by: string, facts: Readonly<Record<string, unknown>>) => void;
  /** What was held back may be due now: look at once, not at the next sweep. */
  readonly nudge: () => void;
  readonly alerts: Pick<Alerts, 'resolve'>;
  readonly now: () => Date;
  readonly poisonMessages: Pick<PoisonMessageStore, 'quarantined' | 'release'>;
}

const QUARANTINED_SHOWN = 20;
const HELD_SHOWN = 20;

/** The control service over the stores; the same for a running bot and for a command that opened the store itself. */
export class StoreControl implements ControlService {
  constructor(private readonly deps: StoreControlDeps) {}

  async status(): Promise<StatusReport> {
    const { config, inbox, journal, metrics, running } = this.deps;
    // In the order of the flow: what moves on meanwhile is counted twice, never missed.
    const backlog = await inbox.backlog();
    for (const [what, count] of Object.entries(backlog)) metrics.backlog.set({ what }, count);
    const intents = await journal.countByState();
    for (const state of INTENT_STATES) metrics.intents.set({ state }, intents[state]);
    return {
      version: this.deps.version,
      deployment: config.store.kind === 'embedded' ? 'embedded' : 'distributed',
      roles: running ? [running.role] : [],
      startedAt: running?.startedAt ?? null,
      queueHealthy: running ? await running.queueHealthy() : null,
      intents,
      backlog,
      quarantined: (await this.deps.poisonMessages.quarantined(QUARANTINED_SHOWN)).map(
        ({ topic, id, deaths, since }) => ({ topic, id, deaths, since }),
      ),
      paused: await journal.paused(),
      held: await journal.heldByBudgets(HELD_SHOWN),
      orgs: await Promise.all(config.orgs.map((org) => this.orgStatus(org.name, org.forge))),
      forges: this.deps.forges(),
    };
  }

  doctor({ org, operations }: { org?: string; operations: boolean }): Promise<DoctorReport> {
    return this.deps.doctor(org === undefined ? null : this.orgName(org), operations);
  }

  async installHook(typed: string, orders: InstallOrders, by: string): Promise<HookReport> {
    const org = this.orgName(typed);
    if (!orders.dryRun) this.deps.record('hook install', by, { org, ...orders });
    return this.deps.installHook(org, orders);
  }

  deliveries(filter: { org?: string; limit: number }): Promise<ArrivalSummary[]> {
    return this.deps.inbox.list({ limit: filter.limit, ...(filter.org ? { org: this.orgName(filter.org) } : {}) });
  }

  async runs(filter: {
    org?: string;
    rule?: string;
    state?: RunState;
    eventId?: string;
    shadow?: boolean;
    limit: number;
  }): Promise<RunReport[]> {
    const runs = await this.deps.journal.runs({ ...filter, ...(filter.org ? { org: this.orgName(filter.org) } : {}) });
    return this.reports(runs);
  }

  async run(id: string): Promise<RunReport | null> {
    const run = await this.deps.journal.run(id);
    const [report] = run ? await this.reports([run]) : [];
    if (!run || !report) return null;
    const origin = await this.deps.originOf(run.revisionId);
    return origin ? { ...report, origin } : report;
  }

  async gaps(filter: { org?: string; limit: number }): Promise<GapReport> {
    const org = filter.org ? { org: this.orgName(filter.org) } : {};
    const since = new Date(this.deps.now().getTime() - COVERED_MS);
    const seenBy = entryKinds();
    const coverage = await this.deps.gaps.coverage({ ...org, since });
    return {
      gaps: await this.deps.gaps.gaps({ ...org, limit: filter.limit }),
      coveredSince: since,
      coverage: coverage
        .map((one) => ({ ...one, visibleIn: this.visibleIn(seenBy.get(one.kind) ?? null, one) }))
        .sort((a, b) => (a.org + a.kind < b.org + b.kind ? -1 : 1)),
    };
  }

  explain(query: ExplainQuery): Promise<Explanation> {
    return this.deps.explain(query);
  }

  async history(query: HistoryQuery): Promise<ToldHistory> {
    const org = this.orgName(query.org);
    return this.told(org, await this.deps.history.page({ ...query, org }));
  }

  async historyOf(id: string): Promise<ToldHistory> {
    const [first] = await this.deps.inbox.eventsOfArrival(id);
    const page = await this.deps.history.ofEvent(first ?? id);
    const [event] = page.events;
    if (!event) throw new UserError('NOT_FOUND', `there is no event or arrival ${id}`);
    return this.told(event.org, page);
  }

  async promote({ org: named, rule, to, force }: PromoteOrder, by: string): Promise<RolloutRow> {
    const [first, second] = this.deps.config.orgs;
    if (named === undefined && second) throw new UserError('WHICH_ORG', 'say with --org whose rule it is');
    const org = this.orgName(named ?? first?.name ?? '');
    this.deps.record('promote', by, { org, rule, to, force });
    return this.deps.promote(org, rule, { to, force }, by);
  }

  private told(org: string, page: HistoryPage): ToldHistory {
    const forge = this.deps.config.orgs.find(({ name }) => name === org)?.forge;
    return {
      ...page,
      runs: page.runs.map((run) => this.deps.opened(run)),
      bot: forge === undefined ? null : this.deps.self(forge, org),
    };
  }

  async replay(arrivalId: string, by: string): Promise<ReplayReport> {
    this.deps.record('replay', by, { arrivalId });
    const arrival = await this.deps.inbox.get(arrivalId);
    if (!arrival) throw new UserError('NOT_FOUND', `there is no arrival ${arrivalId}`);
    const eventIds = await this.deps.inbox.eventsOfArrival(arrivalId);
    const details: JsonObject[] = [];
    let newRuns = 0;
    for (const eventId of eventIds) {
      for (const report of await this.deps.replayEvent(eventId)) {
        if (report.verdict !== 'kept') newRuns += 1;
        details.push({ eventId, ...report });
      }
    }
    return { arrivalId, archivedAt: arrival.archivedAt, eventIds, newRuns, details };
  }

  async retry(intentId: string, by: string): Promise<boolean> {
    this.deps.record('retry', by, { intentId });
    const retried = await this.deps.journal.retry(intentId, by);
    this.deps.nudge();
    return retried;
  }

  async resolve(intentId: string, exists: boolean, by: string): Promise<boolean> {
    this.deps.record('resolve', by, { intentId, exists });
    const said = `${by} says that it ${exists ? 'exists' : 'does not exist'}`;
    const resolved = await this.deps.recovery.resolve(intentId, exists, by, { summary: said, detail: {} });
    this.deps.nudge();
    return resolved;
  }

  async release(id: string, by: string): Promise<boolean> {
    this.deps.record('release', by, { id });
    const released = await this.deps.poisonMessages.release(id);
    if (released) this.deps.alerts.resolve(`work.quarantined/${id}`);
    this.deps.nudge();
    return released;
  }

  approvals(): Promise<Intent[]> {
    return this.deps.journal.waitingForApproval(APPROVALS_SHOWN);
  }

  async approve(intentOrRunId: string, verdict: 'given' | 'denied', by: ControlCaller): Promise<string[]> {
    this.deps.record(verdict === 'given' ? 'approve' : 'deny', by.name, { intentOrRunId });
    // Anybody with the scope may deny: a denial writes nothing.
    const beside = verdict === 'given' ? await this.secondPerson(intentOrRunId, by) : null;
    const decided = await this.deps.journal.decideApproval(intentOrRunId, verdict, by.name, beside);
    const left = await this.deps.journal.waitingForApproval(APPROVALS_SHOWN);
    for (const id of decided) {
      const intent = await this.deps.journal.intent(id);
      if (intent && !left.some(({ org, rule }) => org === intent.org && rule === intent.rule))
        this.deps.alerts.resolve(`rule.approval/${intent.org}/${intent.rule}`);
    }
    this.deps.nudge();
    return decided;
  }

  /** @returns the names of the others; null = it takes one person only. @throws UserError when the caller is no second person */
  private async secondPerson(intentOrRunId: string, by: ControlCaller): Promise<string | null> {
    const { journal, twoPeople, actorOf } = this.deps;
    const runId = (await journal.intent(intentOrRunId))?.runId ?? intentOrRunId;
    const waiting = (await journal.intentsOfRun(runId)).filter(
      (intent) => intent.twoPeople && waitsForApproval(intent) && [runId, intent.id].includes(intentOrRunId),
    );
    const [first] = waiting;
    const run = first && (await journal.run(runId));
    if (!run) return null;
    const { cause } = run;
    const actor = cause.kind === 'event' ? await actorOf(cause.eventId) : null;
    return twoPeople.mayApprove(by, {
      requester: cause.kind === 'apply' ? cause.by : null,
      actor,
      revisionId: first.revisionId,
    });
  }

  async plan(org: string, policy: string | null, by: string): Promise<PlanReport> {
    this.deps.record('plan', by, { org, policy });
    return this.withOrigin(await this.deps.plan(this.orgName(org), policy, by));
  }

  plans(filter: { org?: string; state?: PlanState; limit: number }): Promise<KeptPlan[]> {
    return this.deps.plans.list({ ...filter, ...(filter.org ? { org: this.orgName(filter.org) } : {}) });
  }

  async planOf(hash: string): Promise<PlanReport | null> {
    const plan = await this.deps.plans.find(hash);
    return plan && this.withOrigin(plan);
  }

  private async withOrigin(plan: KeptPlan): Promise<PlanReport> {
    const origin = await this.deps.originOf(plan.revision.id);
    return origin ? { ...plan, origin } : plan;
  }

  async applyPlan(hash: string, by: ControlCaller): Promise<ApplyReport> {
    this.deps.record('apply', by.name, { plan: hash });
    const report = await this.deps.applyPlan(hash, by);
    this.deps.alerts.resolve(`plan.approval/${report.plan.org}/${report.plan.policy ?? ''}`);
    this.deps.nudge();
    return report;
  }

  async decidePlan(hash: string, verdict: 'approved' | 'denied', by: ControlCaller): Promise<PlanDecision> {
    this.deps.record(verdict === 'approved' ? 'approve' : 'deny', by.name, { plan: hash });
    const decision = await this.deps.decidePlan(hash, verdict, by);
    this.deps.alerts.resolve(`plan.approval/${decision.plan.org}/${decision.plan.policy ?? ''}`);
    this.deps.nudge();
    return decision;
  }

  audit(org: string, after: number, limit: number): ReturnType<ControlService['audit']> {
    return this.deps.audit(this.orgName(org), after, limit);
  }

  findings(filter: {
    org?: string;
    policy?: string;
    severity?: Severity;
    ended: boolean;
    limit: number;
  }): Promise<KeptFinding[]> {
    return this.deps.findings.list({ ...filter, ...(filter.org ? { org: this.orgName(filter.org) } : {}) });
  }

  async pause(scope: { org?: string; rule?: string }, by: string): Promise<void> {
    if (scope.rule) await this.checkRule(scope.rule, scope.org);
    this.deps.record('pause', by, scope);
    await this.deps.journal.pause({
      org: scope.org ? this.orgName(scope.org) : null,
      rule: scope.rule ?? null,
      by,
      at: this.deps.now(),
    });
  }

  async resume(scope: { org?: string; rule?: string }, by: string): Promise<boolean> {
    this.deps.record('resume', by, scope);
    const resumed = await this.deps.journal.resume(scope.org ? this.orgName(scope.org) : null, scope.rule ?? null, by);
    this.deps.nudge();
    return resumed;
  }

  async runSchedule(org: string, schedule: string, by: string): Promise<{ tickId: string; runs: number }> {
    const name = this.orgName(org);
    this.deps.record('run-schedule', by, { org: name, schedule });
    return this.deps.runSchedule(name, schedule);
  }

  jobs(): Promise<JobStatus[]> {
    return this.deps.jobs();
  }

  async runJob(
    { job, org, dryRun }: { job: string; org: string | null; dryRun: boolean },
    by: string,
  ): Promise<JobRun[]> {
    const name = org === null ? null : this.orgName(org);
    this.deps.record('run-job', by, { job, org: name, dryRun });
    const runs = await this.deps.runJob(job, name, dryRun, by);
    this.deps.nudge();
    return runs;
  }

  restore(file: string, by: string): Promise<RestoreReport> {
    this.deps.record('restore', by, { file });
    return this.deps.restore(file);
  }

  copyStoreFiles(by: string): Promise<StoreFiles> {
    this.deps.record('backup', by, {});
    return this.deps.copyStoreFiles();
  }

  operatorOf(tokenHash: string): Promise<Operator | null> {
    return this.deps.operators.byTokenHash(tokenHash);
  }

  operators(): Promise<Operator[]> {
    return this.deps.operators.list();
  }

  async addOperator(
    { name, login, scopes, expiresS }: OperatorOrder,
    by: string,
  ): Promise<{ operator: Operator; token: string }> {
    if (!isOperatorName(name))
      throw new UserError(
        'OPERATOR_NAME',
        `"${name}" cannot be the name of an operator: lower case letters, digits, ".", "_" and "-", at most 40, no reserved word`,
      );
    const others = (await this.deps.operators.list()).filter(
      (one) => one.name === name && one.login?.toLowerCase() !== login?.toLowerCase(),
    );
    const [other] = others.filter(({ revokedAt }) => revokedAt === null);
    if (other) {
      const account = other.login === null ? 'no forge account' : `the forge account ${other.login}`;
      throw new UserError(
        'OPERATOR_TAKEN',
        `there is an operator ${name} with ${account}: say the same account, or revoke that one first`,
      );
    }
    const token = newOperatorToken();
    const madeAt = this.deps.now();
    const expiresAt = new Date(madeAt.getTime() + expiresS * 1000);
    const operator: Operator = {
      id: newId(),
      name,
      login,
      scopes: withIncluded(scopes),
      madeBy: by,
      madeAt,
      expiresAt,
      revokedBy: null,
      revokedAt: null,
    };
    this.deps.record('operators add', by, { operator: name, login, scopes: operator.scopes, expiresAt });
    await this.deps.operators.add(operator, hashOperatorToken(token));
    return { operator, token };
  }

  async revokeOperator(nameOrId: string, by: string): Promise<Operator[]> {
    this.deps.record('operators revoke', by, { operator: nameOrId });
    const revoked = await this.deps.operators.revoke(nameOrId, by, this.deps.now());
    if (revoked.length === 0)
      throw new UserError(
        'NOT_FOUND',
        `there is no operator ${nameOrId} whose token could be revoked (see forgehand operators list)`,
      );
    return revoked;
  }

  async shadow({ org }: { org?: string }, limit: number): Promise<OrgShadow[]> {
    const { config, journal } = this.deps;
    const asked = org === undefined ? null : this.orgName(org);
    const orgs = config.orgs.filter(({ name, rules }) => rules.shadow !== null && (asked === null || asked === name));
    return Promise.all(
      orgs.map(async ({ name }) => ({
        org: name,
        rules: compareShadow(
          await this.shadowPairs(
            (await journal.runs({ org: name, shadow: true, limit })).map((run) => this.deps.opened(run)),
          ),
        ),
      })),
    );
  }

  private async shadowPairs(shadows: readonly Run[]): Promise<ShadowPair[]> {
    const { journal } = this.deps;
    const runs: Array<Run | null> = [];
    for (const { org, rule, cause } of shadows) {
      const found =
        cause.kind === 'event'
          ? await journal.runs({ org, rule: ruleIdOf(rule), eventId: cause.eventId, limit: 1 })
          : [];
      runs.push(found[0] ?? null);
    }
    const live = runs.filter((run) => run !== null);
    const work = new Map(
      (await journal.workOfRuns(live.map(({ id }) => id))).map((of, n) => [
        live[n]?.id,
        of.map(({ intent }) => intent),
      ]),
    );
    return shadows.map((shadow, n) => {
      const run = runs[n] ?? null;
      return { shadow, live: run && { run, intents: work.get(run.id) ?? [] } };
    });
  }

  private async reports(runs: readonly Run[]): Promise<RunReport[]> {
    const work = await this.deps.journal.workOfRuns(runs.map(({ id }) => id));
    return runs.map((run, n) => ({
      run: this.deps.opened(run),
      intents: (work[n] ?? []).map(({ intent, attempts }) => ({ ...intent, attempts_made: attempts })),
    }));
  }

  /** Lists tell only where they are read. */
  private visibleIn(source: EntrySource | null, { org, kind }: Coverage): EntrySource | null {
    if (source !== 'lists') return source;
    return this.deps.readsLists(org, kind.startsWith('release.') ? 'listReleases' : 'searchIssues') ? source : null;
  }

  private async orgStatus(name: string, forge: string): Promise<OrgStatus> {
    const { metrics, now } = this.deps;
    const pollers = await Promise.all(
      (['feed', 'tasks', ...(this.deps.readsLists(name, 'searchIssues') ? (['lists'] as const) : [])] as const).map(
        async (source) => {
          const { advancedAt, oldestReadAt } = (await this.deps.cursorAge(forge, name, source)) ?? {
            advancedAt: null,
            oldestReadAt: null,
          };
          if (advancedAt)
            metrics.pollAge.set({ org: name, source }, Math.max(0, (now().getTime() - advancedAt.getTime()) / 1000));
          return { source, advancedAt, oldestReadAt };
        },
      ),
    );
    return { name, forge, ...(await this.deps.org(name)), stages: await this.deps.rollouts.list(name), pollers };
  }

  /** A pause of a rule that nobody has would be taken for one that holds. Rules of earlier revisions may still have work waiting. */
  private async checkRule(rule: string, org: string | undefined): Promise<void> {
    const orgs = org ? [this.orgName(org)] : this.deps.config.orgs.map(({ name }) => name);
    const known = await Promise.all(orgs.map((name) => this.deps.ruleIds(name)));
    if (known.some((ids) => ids === null || ids.includes(rule))) return;
    const earlier = await Promise.all(orgs.map((name) => this.deps.journal.runs({ org: name, rule, limit: 1 })));
    if (earlier.flat().length > 0) return;
    const meant = didYouMean(
      rule,
      known.flatMap((ids) => ids ?? []),
    );
    throw new UserError(
      'NO_SUCH_RULE',
      `there is no rule or policy ${rule} in ${orgs.join(', ')}${meant ? ` (did you mean ${meant}?)` : ''}`,
    );
  }

  /** The name as configured, whatever the case it was typed in. */
  private orgName(typed: string): string {
    const org = this.deps.config.orgs.find((one) => one.name.toLowerCase() === typed.toLowerCase());
    if (!org)
      throw new UserError(
        'NO_SUCH_ORG',
        `the config has no organization ${typed}; it has ${this.deps.config.orgs.map(({ name }) => name).join(', ')}`,
      );
    return org.name;
  }
}
