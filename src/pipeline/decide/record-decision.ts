import { Inject, Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { alert, Alerts, type AlertKey } from '../../core/alerts.js';
import { Encryptor } from '../../core/encryptor.js';
import { textOf, type Reason } from '../../core/reason.js';
import { causeId } from '../../core/run.js';
import { isReason, type verdictReason } from '../../core/run-reasons.js';
import { traceOf } from '../../core/trace.js';
import { Logger } from '../../core/logger.js';
import { Metrics } from '../../observability/metrics.js';
import type { Report } from '../../rules/language/revision.js';
import { JournalStore, type DecidedCause } from '../journal-store.port.js';
import { FindingSink } from '../policy-gate.port.js';
import { WorkQueue } from '../work-queue.port.js';
import type { Plan } from './plan-intents.js';
import { sealReads } from './answer-lookups.js';

/** Writes down what was decided, tells people, and rings for those who do it. */
@Injectable()
export class DecisionRecorder {
  /** Alerts of this process that a later decision ends. */
  private readonly raised = new Set<AlertKey>();

  constructor(
    @Inject(JournalStore)
    private readonly journal: Pick<JournalStore, 'recordDecision' | 'decideGathered' | 'run' | 'hastenRuns'>,
    @Inject(WorkQueue) private readonly queue: Pick<WorkQueue, 'ring'>,
    /** Told what the expectations of a policy found, before it is written that they were asked. */
    private readonly findings: FindingSink,
    private readonly encryptor: Encryptor,
    @Inject(Metrics) private readonly metrics: { readonly runs: Pick<Counter, 'inc'> },
    private readonly alerts: Alerts,
    private readonly logger: Logger,
  ) {}

  /** Rings for what is due. What decided is marked as such in the same transaction; with {} it stays due. */
  async record(decided: DecidedCause, plans: readonly Plan[]): Promise<void> {
    for (const plan of plans) if (plan.findings) await this.findings.keep(plan);
    const sealed = plans.map((plan) => sealReads(plan, this.encryptor));
    const due = await this.journal.recordDecision(decided, sealed);
    await this.tell(plans);
    this.ring(plans, due);
  }

  /** Of a run whose window is over. Many processes may decide it: false = another one did. */
  async recordGathered(plan: Plan): Promise<boolean> {
    const due = await this.journal.decideGathered(sealReads(plan, this.encryptor));
    if (!due) return false;
    await this.tell([plan]);
    this.ring([plan], due);
    return true;
  }

  /**
   * Of what the store has already, written with its events.
   * @param enriched events that a later arrival told more of: runs that wait for it are due
   */
  async written(decisions: Iterable<{ readonly runs: readonly Plan[] }>, enriched: readonly string[]): Promise<void> {
    for (const { runs } of decisions) await this.writtenAtOnce(runs);
    if (enriched.length > 0) await this.journal.hastenRuns(enriched);
  }

  private async writtenAtOnce(plans: readonly Plan[]): Promise<void> {
    await this.tell(plans);
    // What waits for consent is not due.
    const planned = plans.flatMap(({ intents }) => intents.filter(({ approval }) => !approval));
    this.ring(
      plans,
      planned.map(({ id }) => id),
    );
  }

  private ring(plans: readonly Plan[], due: readonly string[]): void {
    // All of one decision are of one organization.
    const org = plans[0]?.run.org;
    const background = new Set(
      plans.flatMap(({ intents }) => intents.filter((intent) => intent.background).map(({ id }) => id)),
    );
    if (org === undefined) return;
    if (due.some((id) => !background.has(id))) this.queue.ring('intents', org);
    if (due.some((id) => background.has(id))) this.queue.ring('background', org);
  }

  private async tell(plans: readonly Plan[]): Promise<void> {
    for (const { run: planned, intents, runsPerHour } of plans) {
      // Only a run with a limit may have been written otherwise than it was planned.
      const run = runsPerHour === undefined ? planned : ((await this.journal.run(planned.id)) ?? planned);
      if (run.state !== 'gathering')
        this.metrics.runs.inc({ org: run.org, rule: run.rule, verdict: verdictOf({ run }) });
      const waiting = intents.filter(({ approval }) => approval).length;
      this.logger.info(
        {
          runId: run.id,
          org: run.org,
          rule: run.rule,
          cause: run.cause.kind,
          state: run.state,
          reason: textOf(run.reason),
          code: run.reason.code,
          intents: intents.length,
          waiting,
          ...traceOf(causeId(run.cause), run.id, causeId(run.cause)),
        },
        'run.decided',
      );
      this.warnOfUnknown(run);
      this.warn(run, runsPerHour !== undefined, waiting);
    }
  }

  /** One alert for a rule that needs what is not known, until it decides again. */
  private warnOfUnknown({ id: runId, org, rule, state, reason, cause }: Plan['run']): void {
    const { alerts } = this;
    const key = `rule.unknown/${org}/${rule}` as const;
    const because = state === 'error' ? becauseOf(reason) : null;
    if (because?.code === UNKNOWN_CODE) {
      alerts.raise(key, alert('rule.unknown', { org, rule, because }), { runId });
      this.raised.add(key);
    } else if (cause.kind === 'event' && state !== 'gathering' && this.raised.delete(key)) alerts.resolve(key);
  }

  /** One alert for a rule that its limit holds, until it fires again; and one for what a person should look at. */
  private warn(run: Plan['run'], isLimited: boolean, waiting: number): void {
    const { alerts } = this;
    const { id: runId, org, rule } = run;
    if (isReason(run.reason, 'run.held.limit'))
      alerts.raise(`rule.held/${org}/${rule}`, alert('rule.held', { org, rule, because: run.reason }), { runId });
    else if (isLimited) alerts.resolve(`rule.held/${org}/${rule}`);
    if (waiting > 0)
      alerts.raise(`rule.approval/${org}/${rule}`, alert('rule.approval', { org, rule, run: runId }), {
        runId,
        waiting,
      });
  }
}

const UNKNOWN_CODE = 'verdict.unknown' satisfies ReturnType<typeof verdictReason>['code'];

/** What the rule said when it was evaluated. */
function becauseOf({ params }: Reason): Reason | null {
  const { because } = params as { because?: Reason };
  return because ?? null;
}

export function verdictOf({ run }: Pick<Plan, 'run'>): Report['verdict'] {
  return run.state === 'not-fired' || run.state === 'error' ? run.state : 'fired';
}
