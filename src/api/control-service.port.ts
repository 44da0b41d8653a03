import type { StoreFiles } from './store-files.port.js';
import type { RuleOrigin } from '../rules/sources/rule-repository.port.js';
import type { EntrySource } from '../core/event.js';
import type { Coverage, Gap } from '../pipeline/gap-store.port.js';
import type { ArrivalSummary } from '../pipeline/inbox-store.port.js';
import type { Explanation, ExplainQuery } from '../insight/explanation.js';
import type { HistoryQuery, ToldHistory } from '../insight/history-store.port.js';
import type { DoctorReport, InstallOrders } from '../housekeeping/doctor/doctor.js';
import type { HookReport } from '../housekeeping/doctor/install-hook.js';
import type { RestoreReport } from '../housekeeping/archive-inbox.js';
import type { JobRun, JobStatus } from '../housekeeping/jobs/job-runner.js';
import type { ToldVerdict } from '../rules/sources/rule-verdicts.js';
import type { IntentState } from '../core/states.js';
import type { JsonObject } from '../core/json.js';
import type { ControlCaller, Operator, OperatorScope } from '../core/operators.js';
import type { HeldByBudget } from '../core/budgets.js';
import type { AuditPage } from '../housekeeping/audit/audit-check.js';
import type { RolloutRow } from '../pipeline/rollout-store.port.js';
import type { KeptFinding } from '../policies/finding-store.port.js';
import type { ApplyReport, KeptPlan, PlanState } from '../policies/policy-plan.js';
import type { Severity } from '../rules/language/revision.js';
import type { ShadowComparison } from '../pipeline/decide/shadow.js';
import type { Attempt, Intent, Run, RunState } from '../core/run.js';

export type { Check, CheckState } from '../housekeeping/doctor/check.js';
export type { DoctorReport, HookReport, InstallOrders };
export type { JobRun, JobStatus, RestoreReport };

/** What the operator can ask and order; the commands use it over the control API or, when no bot runs, on the store itself. */
export interface ControlService {
  status(): Promise<StatusReport>;
  /** Look at the forge, the token, the webhook and the rules of one organization or all; `operations`: ask about every operation. */
  doctor(filter: { org?: string; operations: boolean }): Promise<DoctorReport>;
  /** Make or repair the webhook of an organization. @throws UserError where that cannot be done */
  installHook(org: string, orders: InstallOrders, by: string): Promise<HookReport>;
  deliveries(filter: { org?: string; limit: number }): Promise<ArrivalSummary[]>;
  /** What polling found and no delivery told, newest first, and how much of each kind of event both sources told. */
  gaps(filter: { org?: string; limit: number }): Promise<GapReport>;
  runs(filter: {
    org?: string;
    rule?: string;
    state?: RunState;
    eventId?: string;
    shadow?: boolean;
    limit: number;
  }): Promise<RunReport[]>;
  /** The newest decisions of shadow revisions beside those of the live ones, by rule. */
  shadow(filter: { org?: string }, limit: number): Promise<OrgShadow[]>;
  run(id: string): Promise<RunReport | null>;
  /** Why a run, an intent, an event or one rule about it ended as it did; from the stores alone. */
  explain(query: ExplainQuery): Promise<Explanation>;
  /** Stored events with their runs, page by page; for trying rules on what happened. */
  history(query: HistoryQuery): Promise<ToldHistory>;
  /** One event (or the first one of an arrival) with its runs. @throws UserError when there is none */
  historyOf(eventId: string): Promise<ToldHistory>;
  /** Let a rule that is in shadow or canary do more, on the evidence of its decisions. @throws UserError when there is too little of it */
  promote(order: PromoteOrder, by: string): Promise<RolloutRow>;
  /** Evaluate a stored arrival's events again: no second effect for what has ended. */
  replay(arrivalId: string, by: string): Promise<ReplayReport>;
  /** Intents that wait for a person's consent, oldest first. */
  approvals(): Promise<Intent[]>;
  /** Approve or deny what waits for it: an intent, or all of a run. Answers the ids of the intents it decided about. */
  approve(intentOrRunId: string, verdict: 'given' | 'denied', by: ControlCaller): Promise<string[]>;
  /** What the policies of an organization would change now; kept under its hash. */
  plan(org: string, policy: string | null, by: string): Promise<PlanReport>;
  plans(filter: { org?: string; state?: PlanState; limit: number }): Promise<KeptPlan[]>;
  planOf(hash: string): Promise<PlanReport | null>;
  /** Write what a plan says, unless something about it changed since. */
  applyPlan(hash: string, by: ControlCaller): Promise<ApplyReport>;
  decidePlan(hash: string, verdict: 'approved' | 'denied', by: ControlCaller): Promise<PlanDecision>;
  /** Expectations of policies that do not hold. */
  findings(filter: {
    org?: string;
    policy?: string;
    severity?: Severity;
    ended: boolean;
    limit: number;
  }): Promise<KeptFinding[]>;
  /** Check the chain of finished runs of an organization behind link `after` (0 = from the first), at most so many links. */
  audit(org: string, after: number, limit: number): Promise<AuditPage>;
  /** Revive a dead or refused intent. */
  retry(intentId: string, by: string): Promise<boolean>;
  /** Say whether the object of a waiting (or unknown) intent is there: it is done, or planned again. False when it is in another state. */
  resolve(intentId: string, exists: boolean, by: string): Promise<boolean>;
  /** Release a quarantined arrival or event and decide it again, by the same rules: what still belongs to another organization is quarantined again, and an act that was too old passes. */
  release(id: string, by: string): Promise<boolean>;
  pause(scope: { org?: string; rule?: string }, by: string): Promise<void>;
  resume(scope: { org?: string; rule?: string }, by: string): Promise<boolean>;
  /** Fire a schedule (rule or policy id) once, now. */
  runSchedule(org: string, schedule: string, by: string): Promise<{ tickId: string; runs: number }>;
  /** The bot's own jobs, and what came out of their newest turns. */
  jobs(): Promise<JobStatus[]>;
  /** One turn of a job, now: for one organization, or for all that it is done for. @throws UserError when there is no such job */
  runJob(order: { job: string; org: string | null; dryRun: boolean }, by: string): Promise<JobRun[]>;
  /** Bring back arrivals out of an archive file that lies where the bot runs. @throws UserError when it is none */
  restore(file: string, by: string): Promise<RestoreReport>;
  /** Copy the files of the embedded store, for a backup to read and to remove. @throws UserError on another store, or where there is no room */
  copyStoreFiles(by: string): Promise<StoreFiles>;
  /** Whose token this is, whatever its state; null = nobody's. */
  operatorOf(tokenHash: string): Promise<Operator | null>;
  operators(): Promise<Operator[]>;
  /** Make a token. The answer is the only place where it is told. @throws UserError when the name cannot be taken */
  addOperator(order: OperatorOrder, by: string): Promise<{ operator: Operator; token: string }>;
  /** Revoke every token of a name, or the one of an id. @throws UserError when there is none */
  revokeOperator(nameOrId: string, by: string): Promise<Operator[]>;
}

export interface OperatorOrder {
  readonly name: string;
  readonly login: string | null;
  readonly scopes: readonly OperatorScope[];
  readonly expiresS: number;
}

export interface PlanDecision {
  plan: KeptPlan;
  /** False when it had been decided or applied before. */
  decided: boolean;
  /** Of a plan that a schedule made, and that was applied with the yes. */
  applied: ApplyReport | null;
}

export interface StatusReport {
  version: string;
  deployment: 'embedded' | 'distributed';
  roles: string[];
  /** Null when the answer comes from the store, without a running bot. */
  startedAt: Date | null;
  queueHealthy: boolean | null;
  intents: Record<IntentState, number>;
  /** What is stored and not decided yet. */
  backlog: { arrivals: number; events: number };
  /** Arrivals and events that ended processes and are left alone; at most 20. */
  quarantined: Array<{ topic: 'arrival' | 'event'; id: string; deaths: number; since: Date }>;
  paused: Array<{ org: string | null; rule: string | null; by: string; at: Date }>;
  /** Budgets that are spent and hold effects, the one that holds most first; at most 20. A rule that has spent its own budget is paused instead. */
  held: HeldByBudget[];
  orgs: OrgStatus[];
  forges: Array<{
    id: string;
    product: string | null;
    version: string | null;
    self: string | null;
    reachable: boolean | null;
  }>;
}

export interface PromoteOrder {
  readonly org?: string | undefined;
  readonly rule: string;
  /** Percent of the repositories, or all of them. */
  readonly to: number | 'live';
  /** In spite of too few decisions, or of errors; recorded. */
  readonly force: boolean;
}

export interface OrgStatus {
  name: string;
  forge: string;
  /** Counts are null where another process loaded it and this one (role web) loads none. */
  revision: { hash: string; rules: number | null; policies: number | null; loadedAt: Date } | null;
  /** Problems of a newer revision that was not taken. */
  heldBack: string[];
  /** Where its rules come from and what was said about their newest commit; null where they lie in a folder, or nothing was read yet. */
  source: (ToldVerdict & { learnedAt: Date }) | null;
  /** What its rules need and the forge or the token does not offer, as far as it was asked. */
  lacking: string[];
  /** Rules that are tried before they write everywhere: the newest stage of each. */
  stages: RolloutRow[];
  /** `oldestReadAt`: when the repository that waits longest was read last; null where it is not known. */
  pollers: Array<{ source: EntrySource; advancedAt: Date | null; oldestReadAt: Date | null }>;
}

export interface OrgShadow {
  readonly org: string;
  readonly rules: readonly ShadowComparison[];
}

/** A plan with what its revision tells. */
export interface PlanReport extends KeptPlan {
  /** Where its policies came from, when they came from a repository. */
  readonly origin?: RuleOrigin;
}

export interface RunReport {
  run: Run;
  /** Where the rules of its revision came from, when they came from a repository. */
  origin?: RuleOrigin;
  intents: Array<Intent & { attempts_made: Attempt[] }>;
}

export interface GapReport {
  gaps: Gap[];
  /** Coverage counts events stored since. */
  coveredSince: Date;
  /** By organization and kind; `visibleIn`: which rows can tell the kind, null = none can: what a delivery loses there stays lost. */
  coverage: Array<Coverage & { visibleIn: EntrySource | null }>;
}

export interface ReplayReport {
  arrivalId: string;
  /** When its body was given up (retention); its events were evaluated all the same. Null = it is still there. */
  archivedAt: Date | null;
  eventIds: string[];
  /** Runs that the replay made (those that existed stay as they are). */
  newRuns: number;
  details: JsonObject[];
}
