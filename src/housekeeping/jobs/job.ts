import { z } from 'zod';
import type { Alerts } from '../../core/alerts.js';
import type { Clock } from '../../core/clock.js';
import { UserError } from '../../core/errors.js';
import type { KnownFacts } from '../../core/known-facts.port.js';
import type { Cause } from '../../core/run.js';
import { type Shape, text, texts } from '../../core/schema.js';
import type { ForgeCapabilities } from '../../forge/connected-forges.js';
import type { ForgeClient } from '../../forge/forge-client.js';
import type { ForgeInventory } from '../../forge/forge-inventory.js';
import type { OperationName } from '../../forge/operations.js';
import type { AccountSync } from '../account-sync.js';
import type { ArchiveInbox } from '../archive-inbox.js';
import type { EndedRecordStore } from '../ended-record-store.port.js';
import type { HistoryPruner } from '../history-pruner.js';
import type { AuditSealer } from '../audit/audit-sealer.js';
import { type Check, type DoctorReport, isFinding } from '../doctor/check.js';
import type { DoctorScope } from '../doctor/doctor.js';
import type { Tick } from '../../pipeline/tick-store.port.js';
import type { JournalStore } from '../../pipeline/journal-store.port.js';
import type { TickStore } from '../../pipeline/tick-store.port.js';
import type { ApplyReport, KeptPlan, PolicyPlan } from '../../policies/policy-plan.js';
import type { ScheduleSpec } from '../../rules/language/revision.js';
import type { ActiveRevisions } from '../../rules/revisions/active-revisions.port.js';

const PREFIX = 'job:';

/** The schedule of a tick that is a job's. */
export function scheduleOf({ name }: Pick<Job, 'name'>): string {
  return `${PREFIX}${name}`;
}

export function isJob({ schedule }: Pick<Tick, 'schedule'>): boolean {
  return schedule.startsWith(PREFIX);
}

export interface ScheduledOrg {
  readonly forge: string;
  readonly org: string;
}

/** A schedule that is not in a rule file: one of the bot's own jobs. */
export interface ScheduledJob {
  readonly where: ScheduledOrg;
  readonly id: string;
  readonly schedule: ScheduleSpec;
  /** Whether the organization's freeze windows hold it. */
  readonly isHeldByFreeze: boolean;
}

/** One job of the bot's own: a file of its own, and a line in `index.ts`. */
export interface Job {
  /** `noun.verb`; rules and policies of that name have to be fired by `--org`. */
  readonly name: string;
  readonly summary: string;
  /** Whether it runs for each organization, for each forge, or once. */
  readonly per: 'organization' | 'forge' | 'bot';
  /** Null = something else runs it regularly (`when` says what); it can also be run by hand. */
  readonly schedule: ScheduleSpec | null;
  /** For people. */
  readonly when: string;
  /** True = it reports and changes nothing. It also runs in freeze windows; with `audits: false` it runs only by hand. */
  readonly isAudit: boolean;
  run(turn: JobTurn): Promise<JobReport>;
}

/** Every job, as people see them listed. */
export abstract class Jobs {}
export interface Jobs extends ReadonlyArray<Job> {}

/** `org` is '' for a job per forge; both are '' for one of the bot. */
export interface JobTurn extends ScheduledOrg {
  /** Tell what would be done, and do nothing. */
  readonly isDryRun: boolean;
  /** Of runs that it makes: the tick, or the order of a person. */
  readonly cause: Cause;
  readonly tools: JobTools;
}

export const jobOutcome = z.object({
  /** One sentence. */
  summary: text,
  /** What a person should look at; one sentence each. */
  findings: texts,
  /** What was changed, or would be in a dry run. */
  changes: texts,
  /** What could not be looked at or decided, with the reason; one sentence each. Absent = nothing. */
  missed: texts.exactOptional(),
});
export type JobOutcome = Shape<typeof jobOutcome>;

/** What a job returns: what it leaves out is empty. */
export type JobReport = Pick<JobOutcome, 'summary'> & {
  readonly [list in 'findings' | 'changes' | 'missed']?: readonly string[];
};

interface JobForge {
  readonly client: ForgeClient;
  readonly capabilities: ForgeCapabilities | null;
  offers(name: OperationName): boolean;
}

/** What jobs may use; ports and small functions alone. */
export interface JobTools {
  readonly clock: Clock;
  readonly alerts: Alerts;
  readonly knownFacts: KnownFacts;
  readonly forges: { get(forge: string, org: string | null): JobForge | null };
  readonly inventory: Pick<ForgeInventory, 'read'>;
  readonly revisions: ActiveRevisions;
  readonly journal: Pick<JournalStore, 'intentsInState' | 'reclaimExpired'>;
  /** What the doctor finds about one organization or one forge. */
  readonly examine: (scope: DoctorScope) => Promise<Pick<DoctorReport, 'checks'>>;
  readonly archive: ArchiveInbox;
  readonly ticks: Pick<TickStore, 'prune'>;
  /** Rows of occurrences are kept so long. */
  readonly tickDays: number;
  readonly ended: Pick<EndedRecordStore, 'prune'>;
  /** Records of what has ended are kept so long. */
  readonly historyDays: number;
  /** Acts of people are kept so long; null = for ever. */
  readonly actsDays: number | null;
  readonly sealer: Pick<AuditSealer, 'run' | 'deleteActs'>;
  readonly pruner: Pick<HistoryPruner, 'run' | 'forgetRepeats'>;
  /** An equal delivery is recognized for so long; null = for ever. */
  readonly repeatDays: number | null;
  readonly maintenance: (what: 'checkpoint' | 'vacuum') => Promise<void>;
  readonly plan: (org: string) => Promise<KeptPlan>;
  /** The same, and nothing is kept. */
  readonly planned: (org: string) => Promise<PolicyPlan>;
  readonly applyPlan: (hash: string) => Promise<ApplyReport>;
  /** Reads the rule files again; what is wrong with them, or nothing. */
  readonly reloadRules: (org: string) => Promise<{ hash: string | null; problems: readonly string[] }>;
  readonly wantAccount: AccountSync['want'];
  readonly account: (forge: string) => Readonly<Record<string, string | boolean>> | null;
  readonly staleBranchDays: number;
}

/** Once a night, spread over an hour, so that audits of many organizations do not meet. */
export function nightly(hour: number): ScheduleSpec {
  return { cron: `0 ${hour} * * *`, tz: 'UTC', jitterS: 3_600 };
}

/** What checks of the doctor say, in the words of a job. */
export function summaryOf(checks: readonly Check[]): { summary: string; findings: string[] } {
  const findings = checks.filter(isFinding).map(({ check, said }) => `${check}: ${said}`);
  const notes = checks.filter(({ state }) => state === 'note').map(({ said }) => said);
  const looked = `${checks.length} ${checks.length === 1 ? 'thing' : 'things'} looked at`;
  return {
    summary: [looked, ...notes, ...(findings.length > 0 ? ['forgehand doctor says what to do'] : [])].join('; '),
    findings,
  };
}

/** The forge of a turn. @throws UserError while it was not reached */
export function forgeOf({ forge, org, tools }: JobTurn): JobForge {
  const access = tools.forges.get(forge, org === '' ? null : org);
  if (!access?.capabilities)
    throw new UserError('NOT_CONNECTED', `the bot has not reached forge ${forge} yet: run forgehand doctor`);
  return access;
}
