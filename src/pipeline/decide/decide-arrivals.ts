import { Inject, Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { alert, Alerts } from '../../core/alerts.js';
import { sourceOf, type Arrival } from '../../core/arrival.js';
import { Clock } from '../../core/clock.js';
import { messageOf, StoreUnavailable } from '../../core/errors.js';
import type { ForgeEvent } from '../../core/event.js';
import { Breathing } from '../../core/in-slices.js';
import { Logger } from '../../core/logger.js';
import { SecurityLog } from '../../core/security-log.js';
import { traceOf } from '../../core/trace.js';
import { ConnectedForges } from '../../forge/connected-forges.js';
import { OrgNumbers } from '../../forge/org-numbers.js';
import { Metrics } from '../../observability/metrics.js';
import { RevisionKeeper } from '../../rules/revisions/revision-keeper.js';
import { InboxStore } from '../inbox-store.port.js';
import { WorkQueue } from '../work-queue.port.js';
import { ArrivalDecision, BatchKnowledge } from './batch-knowledge.js';
import { ArrivalDecider, DUPLICATE, type Outcome } from './decide-arrival.js';
import { DecisionRecorder } from './record-decision.js';

/** What became of an arrival. `waits`: it cannot be decided before another, and is brought again. */
export interface DecidedArrival {
  readonly arrival: Arrival;
  readonly outcome: Outcome | 'waits';
}

/** An arrival that waits for others is left alone as long as it has waited so far, within these bounds. */
const LEAST_MS = 1_000;
const MOST_MS = 5_000;
const FAILED_MS = 1_000;

/** Decides about arrivals of one organization, many in one transaction. */
@Injectable()
export class BatchDecider {
  constructor(
    @Inject(ArrivalDecider) private readonly decider: Pick<ArrivalDecider, 'read' | 'decide'>,
    @Inject(DecisionRecorder) private readonly recorder: Pick<DecisionRecorder, 'written'>,
    @Inject(InboxStore) private readonly inbox: Pick<InboxStore, 'inBatch' | 'putOff'>,
    @Inject(WorkQueue) private readonly queue: Pick<WorkQueue, 'ring'>,
    /** Know organizations by their number. */
    @Inject(OrgNumbers) private readonly numbers: Pick<OrgNumbers, 'pinned' | 'pinnedAtHand' | 'isRenamed'>,
    @Inject(ConnectedForges) private readonly forges: Pick<ConnectedForges, 'unguarded'>,
    /** Told of each event that may change rules. */
    @Inject(RevisionKeeper) private readonly keeper: Pick<RevisionKeeper, 'nudge'>,
    @Inject(Metrics) private readonly metrics: Readonly<Record<'events' | 'setAside', Pick<Counter, 'inc'>>>,
    @Inject(Alerts) private readonly alerts: Pick<Alerts, 'raise'>,
    /** Hears of each arrival that names another organization's repository or tells of an act that is too old. */
    private readonly security: SecurityLog,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /**
   * What goes wrong with one of them spoils no other: the batch is repeated in halves, until the one that fails is alone.
   * @returns how many need no further look now
   */
  async decide(ids: readonly string[]): Promise<number> {
    try {
      return (await this.decideOnce(ids)).length;
    } catch (error) {
      // A store that is away is away for each of them.
      if (error instanceof StoreUnavailable) throw error;
      if (ids.length > 1) {
        const half = Math.ceil(ids.length / 2);
        return (await this.decide(ids.slice(0, half))) + (await this.decide(ids.slice(half)));
      }
      this.logger.error({ topic: 'arrivals', id: ids[0], reason: messageOf(error) }, 'turn.work-failed');
      await this.inbox.putOff(ids, FAILED_MS);
      return ids.length;
    }
  }

  /**
   * From arrivals to their events, deduplicated, and to what rules want of them where nobody has to be asked, all in one transaction. Safe to call any
   * number of times: what is not `stored` any more, or is being decided elsewhere, is left alone.
   * @returns those that it took in hand
   */
  async decideOnce(ids: readonly string[]): Promise<readonly DecidedArrival[]> {
    const { decider, inbox, clock } = this;
    const batch = await inbox.inBatch(async (tx) => {
      const arrivals = await tx.claim(ids);
      if (arrivals.length === 0) return { decided: [] };
      // The embedded store has one connection: whoever asked it within the transaction would wait for ever.
      const unnumbered = arrivals.find((arrival) => this.numberAtHand(arrival) === undefined);
      if (unnumbered) return { unnumbered };

      const breathing = new Breathing(() => clock.monotonicMs());
      const all = [];
      for (const arrival of arrivals) {
        all.push(decider.read(arrival, this.numberAtHand(arrival) ?? null));
        await breathing.between();
      }
      const knowledge = await BatchKnowledge.load(tx, arrivals[0]?.org ?? '', all);
      const decided: DecidedArrival[] = [];
      for (const read of all) {
        const decision = new ArrivalDecision(knowledge, read.arrival);
        decided.push({ arrival: read.arrival, outcome: await decider.decide(decision, read) });
        knowledge.keep(decision);
        await breathing.between();
      }
      await knowledge.write();
      return { decided };
    });

    if (batch.unnumbered) {
      await this.numbers.pinned(batch.unnumbered.forge, batch.unnumbered.org);
      return this.decideOnce(ids);
    }
    for (const { arrival, outcome } of batch.decided)
      if (outcome === 'waits') await inbox.putOff([arrival.id], this.waitMsOf(arrival));
      else await this.tell(arrival, outcome);
    return batch.decided;
  }

  /** Of its organization; null = none is known, or none is needed; undefined = the store must be asked. */
  private numberAtHand({ kind, forge, org }: Arrival): string | null | undefined {
    return kind === 'delivery' ? this.numbers.pinnedAtHand(forge, org) : null;
  }

  private waitMsOf(arrival: Arrival): number {
    const since = arrival.kind === 'delivery' ? arrival.receivedAt : arrival.readAt;
    return Math.min(MOST_MS, Math.max(LEAST_MS, this.clock.now().getTime() - since.getTime()));
  }

  /** After the commit: tells people, and rings for those who go on with it. */
  private async tell(arrival: Arrival, outcome: Outcome): Promise<void> {
    const { created, decisions, enriched } = outcome;
    await this.report(arrival, outcome);
    await this.recorder.written(decisions.values(), enriched);
    if (created.some(({ id }) => !decisions.has(id))) this.queue.ring('events', arrival.org);
  }

  private async report(arrival: Arrival, { created, joined, closed, mismatch, oldAct, code }: Outcome): Promise<void> {
    const { metrics, logger, security, alerts } = this;
    const { org, forge } = arrival;
    const source = sourceOf(arrival);
    for (const event of created) {
      metrics.events.inc({ org, kind: event.kind, source });
      if (mayChangeRules(event)) this.keeper.nudge(org, event.repo?.id ?? null);
    }
    const facts = { arrivalId: arrival.id, org, source };
    const by = arrival.kind === 'delivery' ? { hook: arrival.hook, type: arrival.eventType } : {};
    if (arrival.kind === 'delivery' && code !== undefined) metrics.setAside.inc({ org, hook: arrival.hook, code });
    if (code === DUPLICATE) return logger.debug({ ...facts, reason: closed }, 'delivery.duplicate');
    if (closed !== null) metrics.events.inc({ org, kind: 'none', source });
    if (oldAct)
      security.record({
        class: 'act_too_old',
        ...facts,
        ...by,
        kind: oldAct.kind,
        actAt: oldAct.actAt.toISOString(),
      });
    // A body claims anything: that the organization has another name is said by the forge, which raises its own alert.
    if (mismatch && !(mismatch.code === 'tenant_renamed' && (await this.isRenamed(forge, org))))
      security.record({
        class: 'tenant_mismatch',
        ...facts,
        ...by,
        code: mismatch.code,
        place: mismatch.place,
        named: mismatch.named,
      });
    // The security log raises its own.
    if (arrival.kind === 'delivery' && code !== undefined && !oldAct && !mismatch) {
      const { hook, id } = arrival;
      const quarantined = alert('delivery.quarantined', { org, hook, code, id });
      alerts.raise(`delivery.quarantined/${org}/${hook}/${code}`, quarantined, facts);
    }
    if (closed !== null) logger.info({ ...facts, reason: closed }, 'arrival.no-event');
    for (const eventId of joined)
      logger.debug({ ...facts, eventId, ...traceOf(eventId, arrival.id) }, 'arrival.duplicate');
    for (const { id, kind } of created)
      logger.debug({ ...facts, eventId: id, kind, ...traceOf(id, id) }, 'event.stored');
  }

  /** Whether the forge says now that the organization has another name. */
  private async isRenamed(forge: string, org: string): Promise<boolean> {
    const server = this.forges.unguarded(forge, org);
    return server !== null && (await this.numbers.isRenamed(forge, org, server));
  }
}

/** A push, and whatever happens to a repository as a whole. */
function mayChangeRules({ kind }: Pick<ForgeEvent, 'kind'>): boolean {
  return kind === 'push' || kind.startsWith('repository.');
}
