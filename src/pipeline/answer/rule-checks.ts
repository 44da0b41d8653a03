import { Inject, Injectable } from '@nestjs/common';
import { callerOf, callingAs } from '../../core/caller.js';
import type { ForgeEvent } from '../../core/event.js';
import { numberOf } from '../../core/event-subject.js';
import { CHECK_RULE } from '../../core/own-rules.js';
import { Logger } from '../../core/logger.js';
import { runReason } from '../../core/run-reasons.js';
import type { Run } from '../../core/run.js';
import type { ActiveRevision } from '../../rules/revisions/active-revisions.port.js';
import { Proposals } from '../../rules/revisions/proposals.js';
import { CrashLoopGuard } from '../decide/crash-loop-guard.js';
import type { Plan } from '../decide/plan-intents.js';
import { JournalStore } from '../journal-store.port.js';
import { OwnRuns } from './own-runs.js';

/** Deliveries of one push come close together: one check is enough for them. */
const WINDOW_MS = 1_000;
/** Another process takes up a check whose process died after this time. */
const TAKEN_MS = 10_000;
const PROBLEMS_KEPT = 20;

/**
 * A pull request in the repository of the rules is told on its head, before it is merged, what would become of them. The check is a run of its own
 * beside the runs of the event, written in the same transaction; it waits as a run that gathers, and the commit status that it wants is an intent as any
 * other. Reading, checking and comparing with history take long, and change nothing: after a crash they are done again.
 */
@Injectable()
export class RuleChecks {
  /** One at a time: what is due meanwhile is taken by another process, or at a later sweep. */
  private current: Promise<void> | null = null;
  private isStopped = false;

  constructor(
    @Inject(Proposals) private readonly proposals: Pick<Proposals, 'commitOf' | 'judge'>,
    @Inject(JournalStore) private readonly journal: Pick<JournalStore, 'putOffRun'>,
    @Inject(CrashLoopGuard) private readonly watch: Pick<CrashLoopGuard, 'run'>,
    private readonly runs: OwnRuns,
    private readonly logger: Logger,
  ) {}

  /**
   * The check that will be made, of an event that is decided; none where it proposes no rules. Of several of one pull request the last is made.
   * @param active null = there are no rules yet: the first ones may be those that are proposed
   */
  async planned(active: ActiveRevision | null, event: ForgeEvent): Promise<Plan[]> {
    const commit = await this.proposals.commitOf(event);
    if (commit === null) return [];
    const { id, repo, data } = event;
    const pull = numberOf(data['number']) ?? id;
    const waiting = {
      ...{ rule: CHECK_RULE, part: '', reason: runReason('run.check.waits'), trace: { check: { commit } } },
      mode: writesNothing(active) ? ('dry-run' as const) : ('live' as const),
      revisionId: active?.id ?? '',
      gathering: { key: `${repo?.id ?? ''} ${pull}`, windowMs: WINDOW_MS },
    };
    return [this.runs.waiting(event, waiting)];
  }

  /** Do the work on a run that is due, unless another one is in hand; returns at once. */
  begin({ id, org, cause }: Pick<Run, 'id' | 'org' | 'cause'>, work: () => Promise<void>): void {
    if (this.current || this.isStopped) return;
    const eventId = cause.kind === 'event' ? cause.eventId : id;
    this.current = this.watch
      .run('event', eventId, () => callingAs(callerOf('event', org), () => this.holding(id, work)))
      .catch((error: unknown) => this.logger.warn({ runId: id, error }, 'check.failed'))
      .finally(() => (this.current = null));
  }

  /** @throws BotError `transient` while the files cannot be read */
  async decide(run: Run, event: ForgeEvent): Promise<Plan> {
    const commit = await this.proposals.commitOf(event);
    const judged = commit === null ? null : await this.proposals.judge(event, commit);
    if (commit === null || !judged) return this.runs.silent(run, runReason('run.check.none'));
    const { isTried, problems, history, status } = judged;
    const params = { sha: commit, ...status };
    const outcome = {
      reason: isTried ? runReason('run.check', { problems: problems.length }) : runReason('run.check.untried'),
      trace: { check: { commit, problems: problems.slice(0, PROBLEMS_KEPT), history } },
      steps: [{ stepId: 'status', stepNo: 0, action: 'status.set', items: [{ itemKey: status.context, params }] }],
      actor: null,
    };
    return this.runs.decided(run, event, outcome);
  }

  /** Waits for the one in hand. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.current;
  }

  /** Put off again and again while it lasts, so that no other process does the same. */
  private async holding(runId: string, work: () => Promise<void>): Promise<void> {
    const { journal } = this;
    await journal.putOffRun(runId, TAKEN_MS);
    const timer = setInterval(() => void journal.putOffRun(runId, TAKEN_MS).catch(() => undefined), TAKEN_MS / 3);
    timer.unref();
    try {
      await work();
    } finally {
      clearInterval(timer);
    }
  }
}

/** There are rules, and none of them is live: the operator only watches. */
function writesNothing(active: ActiveRevision | null): boolean {
  const all = active ? [...active.revision.rules, ...active.revision.policies] : [];
  return all.length > 0 && all.every(({ mode }) => mode !== 'live');
}
