import { alert } from '../../core/alerts.js';
import { sourceOf, type Arrival } from '../../core/arrival.js';
import { messageOf, StoreUnavailable } from '../../core/errors.js';
import { Breathing } from '../../core/in-slices.js';
import { traceOf } from '../../core/trace.js';
import { ArrivalDecision, BatchKnowledge } from './batch-knowledge.js';
import { decideArrival, DUPLICATE, readArrival, type DecideArrivalDeps, type Outcome } from './decide-arrival.js';

/** What became of an arrival. `waits`: it cannot be decided before another, and is brought again. */
export interface DecidedArrival {
  readonly arrival: Arrival;
  readonly outcome: Outcome | 'waits';
}

/** An arrival that waits for others is left alone as long as it has waited so far, within these bounds. */
const LEAST_MS = 1_000;
const MOST_MS = 5_000;
const FAILED_MS = 1_000;

/**
 * Decides about these arrivals of one organization. What goes wrong with one of them spoils no other: the batch is repeated in halves, until the one that fails is alone.
 * @returns how many need no further look now
 */
export async function decideArrivals(deps: DecideArrivalDeps, ids: readonly string[]): Promise<number> {
  try {
    return (await decideBatch(deps, ids)).length;
  } catch (error) {
    // A store that is away is away for each of them.
    if (error instanceof StoreUnavailable) throw error;
    if (ids.length > 1) {
      const half = Math.ceil(ids.length / 2);
      return (await decideArrivals(deps, ids.slice(0, half))) + (await decideArrivals(deps, ids.slice(half)));
    }
    deps.logger.error({ topic: 'arrivals', id: ids[0], reason: messageOf(error) }, 'turn.work-failed');
    await deps.inbox.putOff(ids, FAILED_MS);
    return ids.length;
  }
}

/**
 * From arrivals to their events, deduplicated, and to what rules want of them where nobody has to be asked, all in one transaction. Safe to call any number of
 * times: what is not `stored` any more, or is being decided elsewhere, is left alone.
 * @returns those that it took in hand
 */
export async function decideBatch(deps: DecideArrivalDeps, ids: readonly string[]): Promise<readonly DecidedArrival[]> {
  const { inbox, orgs } = deps;
  const batch = await inbox.inBatch(async (tx) => {
    const arrivals = await tx.claim(ids);
    if (arrivals.length === 0) return { decided: [] };
    // The embedded store has one connection: whoever asked it within the transaction would wait for ever.
    const unknown = orgs && arrivals.find((one) => one.kind === 'delivery' && numberAtHand(deps, one) === undefined);
    if (unknown) return { unknown };

    const breathing = new Breathing(() => deps.clock.monotonicMs());
    const all = [];
    for (const arrival of arrivals) {
      all.push(readArrival(deps, arrival, numberAtHand(deps, arrival) ?? null));
      await breathing.between();
    }
    const known = await BatchKnowledge.load(tx, arrivals[0]?.org ?? '', all);
    const decided: DecidedArrival[] = [];
    for (const read of all) {
      const decision = new ArrivalDecision(known, read.arrival);
      decided.push({ arrival: read.arrival, outcome: await decideArrival(deps, decision, read) });
      known.keep(decision);
      await breathing.between();
    }
    await known.write();
    return { decided };
  });

  if (batch.unknown) {
    await orgs?.numberOf(batch.unknown.forge, batch.unknown.org);
    return decideBatch(deps, ids);
  }
  for (const { arrival, outcome } of batch.decided)
    if (outcome === 'waits') await inbox.putOff([arrival.id], waitMsOf(deps, arrival));
    else await tell(deps, arrival, outcome);
  return batch.decided;
}

function numberAtHand({ orgs }: DecideArrivalDeps, { kind, forge, org }: Arrival): string | null | undefined {
  return kind === 'delivery' ? orgs?.numberAtHand(forge, org) : null;
}

function waitMsOf({ clock }: DecideArrivalDeps, arrival: Arrival): number {
  const since = arrival.kind === 'delivery' ? arrival.receivedAt : arrival.readAt;
  return Math.min(MOST_MS, Math.max(LEAST_MS, clock.now().getTime() - since.getTime()));
}

/** After the commit: tells people, and rings for those who go on with it. */
async function tell(deps: DecideArrivalDeps, arrival: Arrival, outcome: Outcome): Promise<void> {
  const { atOnce, journal, queue } = deps;
  const { created, decisions, told } = outcome;
  await report(deps, arrival, outcome);
  for (const decision of decisions.values()) await atOnce?.written(decision);
  if (told.length > 0) await journal?.hastenRuns(told);
  if (created.some(({ id }) => !decisions.has(id))) queue.ring('events', arrival.org);
}

async function report(
  deps: DecideArrivalDeps,
  arrival: Arrival,
  { created, joined, closed, mismatch, oldAct, code }: Outcome,
): Promise<void> {
  const source = sourceOf(arrival);
  for (const event of created) deps.counted?.({ org: event.org, kind: event.kind, source }, event);
  const facts = { arrivalId: arrival.id, org: arrival.org, source };
  const by = arrival.kind === 'delivery' ? { hook: arrival.hook, type: arrival.eventType } : {};
  if (arrival.kind === 'delivery' && code !== undefined)
    deps.setAside?.({ org: arrival.org, hook: arrival.hook, code });
  if (code === DUPLICATE) return deps.logger.debug({ ...facts, reason: closed }, 'delivery.duplicate');
  if (closed !== null) deps.counted?.({ org: arrival.org, kind: 'none', source });
  if (oldAct)
    deps.security?.record({
      class: 'act_too_old',
      ...facts,
      ...by,
      kind: oldAct.kind,
      actAt: oldAct.actAt.toISOString(),
    });
  // A body claims anything: that the organization has another name is said by the forge, which raises its own alert.
  const isRenamed =
    mismatch?.code === 'tenant_renamed' && (await deps.orgs?.isRenamed(arrival.forge, arrival.org)) === true;
  if (mismatch && !isRenamed)
    deps.security?.record({
      class: 'tenant_mismatch',
      ...facts,
      ...by,
      code: mismatch.code,
      place: mismatch.place,
      named: mismatch.named,
    });
  // The security log raises its own.
  if (arrival.kind === 'delivery' && code !== undefined && !oldAct && !mismatch) {
    const what = { org: arrival.org, hook: arrival.hook, code };
    deps.alerts?.raise(
      `delivery.quarantined/${what.org}/${what.hook}/${code}`,
      alert('delivery.quarantined', { ...what, id: arrival.id }),
      facts,
    );
  }
  if (closed !== null) deps.logger.info({ ...facts, reason: closed }, 'arrival.no-event');
  for (const eventId of joined)
    deps.logger.debug({ ...facts, eventId, ...traceOf(eventId, arrival.id) }, 'arrival.duplicate');
  for (const { id, kind } of created)
    deps.logger.debug({ ...facts, eventId: id, kind, ...traceOf(id, id) }, 'event.stored');
}
